/** The downloads of a conversion's PDF that are recorded: few enough that a link's holders cannot grow the log. */

const MAX_DOWNLOADS = 100;
const MINUTE_MS = 60_000;

export interface Downloads {
  /** Downloads that are recorded. */
  readonly downloads: number;
  /** The latest minute of a recorded download, and the networks recorded in it. */
  readonly lastDownloads: { readonly minute: number; readonly networks: readonly string[] };
}

export const noDownloads: Downloads = {
  downloads: 0,
  lastDownloads: { minute: 0, networks: [] },
};

const minuteOf = (time: number): number => Math.floor(time / MINUTE_MS);

export function withDownload(
  { downloads, lastDownloads: last }: Downloads,
  { network, downloadedAt }: { readonly network: string; readonly downloadedAt: number },
): Downloads {
  const minute = minuteOf(downloadedAt);
  const lastDownloads =
    minute > last.minute
      ? { minute, networks: [network] }
      : { minute: last.minute, networks: [...last.networks, network] };
  return { downloads: downloads + 1, lastDownloads };
}

/** @returns `last`: no further one is recorded; undefined: this one is not */
export function recordable(
  { downloads, lastDownloads }: Downloads,
  network: string,
  at: number,
): 'one of many' | 'last' | undefined {
  const isRecorded =
    minuteOf(at) <= lastDownloads.minute && lastDownloads.networks.includes(network);
  if (isRecorded || downloads >= MAX_DOWNLOADS) return undefined;
  return downloads + 1 === MAX_DOWNLOADS ? 'last' : 'one of many';
}
