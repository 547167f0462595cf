/** The downloads of a conversion's PDF that are recorded: few enough that a link's holders cannot grow the log. */

import type { EventOf } from './events.ts';

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

export interface RecordDownload {
  readonly type: 'RecordDownload';
  /** SHA-256 of the link's token, hex. */
  readonly link?: string;
  /** HMAC of the client's network, hex. */
  readonly network: string;
}

interface DownloadOf extends RecordDownload {
  readonly accountId: string;
  readonly conversionId: string;
  readonly at: number;
}

export function recordDownload(
  { accountId, conversionId, link, network, at }: DownloadOf,
  state: Downloads,
): readonly EventOf<'DocumentDownloaded'>[] {
  const due = recordable(state, network, at);
  if (due === undefined) return [];
  return [
    {
      type: 'DocumentDownloaded',
      data: {
        accountId,
        conversionId,
        ...(link === undefined ? {} : { link }),
        network,
        downloadedAt: at,
        ...(due === 'last' ? { isLast: true } : {}),
      },
    },
  ];
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
