const UNITS = [
  ['MiB', 1024 ** 2],
  ['KiB', 1024],
] as const;

/** 10485760 → 10 MiB. A size that is not a whole number of KiB is told in bytes. */
export function sizeText(bytes: number): string {
  const unit = UNITS.find(([, size]) => bytes >= size && bytes % size === 0);
  return unit === undefined ? `${bytes} bytes` : `${bytes / unit[1]} ${unit[0]}`;
}
