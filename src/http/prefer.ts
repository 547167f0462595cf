export const MAX_WAIT_SECONDS = 30;

/**
 * The seconds that `Prefer: wait=N` (RFC 7240) asks for, at most 30; undefined without a usable one.
 * The first mention of a preference counts; what is not understood is passed over.
 */
export function preferredWait(header: string): number | undefined {
  for (const preference of header.split(',')) {
    const [name = '', value = ''] = (preference.split(';')[0] ?? '').split('=');
    if (name.trim().toLowerCase() !== 'wait') continue;
    const seconds = /^"?(\d{1,9})"?$/.exec(value.trim())?.[1];
    return seconds === undefined ? undefined : Math.min(Number(seconds), MAX_WAIT_SECONDS);
  }
  return undefined;
}
