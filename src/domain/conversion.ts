/** The life of one accepted conversion. Its request lies in its account's stream. */
import type { AggregateType, Decider } from './decider.ts';
import type {
  BlobRef,
  ConversionFailureCode,
  EventOf,
  PdfDigest,
  RenderTimings,
} from './events.ts';

export const conversionStream = (conversionId: string): string => `conversion-${conversionId}`;

export type ConversionEvent = EventOf<
  | 'ConversionStarted'
  | 'ConversionRequeued'
  | 'ConversionCompleted'
  | 'ConversionFailed'
  | 'ConversionOutcomeIgnored'
  | 'ConversionExpired'
  | 'DocumentDownloaded'
>;

/** Renderers that may take up one conversion before it is given up: a page that kills its host ends. */
export const MAX_ATTEMPTS = 3;
/** Whoever gets a job for the next time fails it without rendering. There is no higher attempt. */
export const LAST_ATTEMPT = MAX_ATTEMPTS + 1;
/** Late outcomes recorded per conversion, so that a stuttering renderer cannot grow the log. */
const MAX_IGNORED = 10;
/** Downloads recorded per conversion, so that whoever holds a link cannot grow the log. */
const MAX_DOWNLOADS = 100;
const MINUTE_MS = 60_000;

/** One renderer's outcome of one attempt. */
interface Outcome {
  readonly renderer: string;
  readonly attempt: number;
  readonly outcome: 'completed' | 'failed';
}

export interface ConversionState {
  readonly status: 'pending' | 'processing' | 'completed' | 'failed';
  /** Tries that count: starts less those given back. */
  readonly attempts: number;
  /** The renderer of the latest try that counts. */
  readonly startedBy: string | undefined;
  /** The outcome that counted and those recorded as ignored: a repeated report changes nothing. */
  readonly ended: Outcome | undefined;
  readonly ignored: readonly Outcome[];
  /** Its blobs were deleted: after a failure soon, else at the end of their retention. */
  readonly expired: boolean;
  /** Downloads that are recorded. */
  readonly downloads: number;
  /** The latest minute of a recorded download, and the networks recorded in it. */
  readonly lastDownloads: { readonly minute: number; readonly networks: readonly string[] };
}

const initialState: ConversionState = {
  status: 'pending',
  attempts: 0,
  startedBy: undefined,
  ended: undefined,
  ignored: [],
  expired: false,
  downloads: 0,
  lastDownloads: { minute: 0, networks: [] },
};

interface OutcomeOf {
  readonly accountId: string;
  readonly conversionId: string;
  readonly renderer: string;
  readonly attempt: number;
  readonly at: number;
}

/** An attempt that ended, and the time when it began. The start may not have been reported by itself. */
interface EndOf extends OutcomeOf {
  readonly startedAt?: number;
}

export type ConversionCommand =
  | ({ readonly type: 'StartConversion' } & OutcomeOf)
  | ({ readonly type: 'RequeueConversion' } & OutcomeOf)
  | ({
      readonly type: 'CompleteConversion';
      readonly document: BlobRef;
      readonly pdf: PdfDigest;
      readonly pages: number;
      readonly timings: RenderTimings;
      readonly chrome: string;
      readonly manifest: BlobRef;
      /** Sealed. */
      readonly warnings?: string;
    } & EndOf)
  | ({
      readonly type: 'FailConversion';
      readonly code: ConversionFailureCode;
      /** Sealed. */
      readonly message: string;
    } & EndOf)
  | {
      readonly type: 'ExpireConversion';
      readonly accountId: string;
      readonly conversionId: string;
      readonly at: number;
    }
  | ({ readonly type: 'RecordDownload' } & Download);

export interface Download {
  readonly accountId: string;
  readonly conversionId: string;
  /** SHA-256 of the link's token, hex. */
  readonly link?: string;
  /** HMAC of the client's network, hex. */
  readonly network: string;
  readonly at: number;
}

const outcomeOf = (
  { renderer, attempt }: { readonly renderer: string; readonly attempt: number },
  outcome: Outcome['outcome'],
): Outcome => ({ renderer, attempt, outcome });

function evolve(state: ConversionState, event: ConversionEvent): ConversionState {
  switch (event.type) {
    case 'ConversionStarted': {
      const { attempt, renderer } = event.data;
      if (attempt < state.attempts) return { ...state, status: 'processing' };
      return { ...state, status: 'processing', attempts: attempt, startedBy: renderer };
    }
    case 'ConversionRequeued':
      return {
        ...state,
        status: 'pending',
        attempts: event.data.attempt - 1,
        startedBy: undefined,
      };
    case 'ConversionCompleted':
      return {
        ...state,
        status: 'completed',
        ended: outcomeOf(event.data, 'completed'),
      };
    case 'ConversionFailed':
      return {
        ...state,
        status: 'failed',
        ended: outcomeOf(event.data, 'failed'),
      };
    case 'ConversionOutcomeIgnored':
      return { ...state, ignored: [...state.ignored, outcomeOf(event.data, event.data.outcome)] };
    case 'ConversionExpired':
      return { ...state, expired: true };
    case 'DocumentDownloaded': {
      const { network, downloadedAt } = event.data;
      const minute = Math.floor(downloadedAt / MINUTE_MS);
      const { lastDownloads: last } = state;
      const lastDownloads =
        minute > last.minute
          ? { minute, networks: [network] }
          : { minute: last.minute, networks: [...last.networks, network] };
      return { ...state, downloads: state.downloads + 1, lastDownloads };
    }
  }
}

function ignore(
  command: OutcomeOf,
  outcome: Outcome['outcome'],
  state: ConversionState,
): readonly ConversionEvent[] {
  const { accountId, conversionId, renderer, attempt } = command;
  const recorded = [state.ended, ...state.ignored].some(
    (known) =>
      known?.renderer === renderer && known.attempt === attempt && known.outcome === outcome,
  );
  if (recorded || state.ignored.length >= MAX_IGNORED) return [];
  return [
    {
      type: 'ConversionOutcomeIgnored',
      data: { accountId, conversionId, renderer, attempt, outcome },
    },
  ];
}

function start(
  { accountId, conversionId, renderer, attempt }: OutcomeOf,
  startedAt: number,
  { attempts }: ConversionState,
): readonly ConversionEvent[] {
  if (attempt <= attempts) return [];
  return [
    {
      type: 'ConversionStarted',
      data: { accountId, conversionId, renderer, attempt, startedAt },
    },
  ];
}

/** Takes back the latest try, where it is that renderer's. */
function requeue(
  { accountId, conversionId, renderer, attempt, at }: OutcomeOf,
  { attempts, startedBy }: ConversionState,
): readonly ConversionEvent[] {
  if (attempt !== attempts || renderer !== startedBy) return [];
  return [
    {
      type: 'ConversionRequeued',
      data: { accountId, conversionId, renderer, attempt, requeuedAt: at },
    },
  ];
}

function download(command: Download, state: ConversionState): readonly ConversionEvent[] {
  const { accountId, conversionId, link, network, at } = command;
  const { downloads, lastDownloads } = state;
  const isRecorded =
    Math.floor(at / MINUTE_MS) <= lastDownloads.minute && lastDownloads.networks.includes(network);
  if (state.status !== 'completed' || isRecorded || downloads >= MAX_DOWNLOADS) return [];
  return [
    {
      type: 'DocumentDownloaded',
      data: {
        accountId,
        conversionId,
        ...(link === undefined ? {} : { link }),
        network,
        downloadedAt: at,
        ...(downloads + 1 === MAX_DOWNLOADS ? { isLast: true } : {}),
      },
    },
  ];
}

const unreportedStart = (command: EndOf, state: ConversionState): readonly ConversionEvent[] =>
  command.startedAt === undefined ? [] : start(command, command.startedAt, state);

const decide: Decider<ConversionState, ConversionCommand, ConversionEvent>['decide'] = (
  command,
  state,
) => {
  const open = state.status === 'pending' || state.status === 'processing';
  const { accountId, conversionId, at } = command;
  switch (command.type) {
    case 'StartConversion':
      return open ? start(command, at, state) : [];
    case 'RequeueConversion':
      return open ? requeue(command, state) : [];
    case 'CompleteConversion': {
      const { renderer, attempt, document, pdf, pages, timings, chrome } = command;
      const { manifest, warnings } = command;
      if (!open) return ignore(command, 'completed', state);
      return [
        ...unreportedStart(command, state),
        {
          type: 'ConversionCompleted',
          data: {
            accountId,
            conversionId,
            renderer,
            attempt,
            document,
            pdf,
            pages,
            timings,
            chrome,
            manifest,
            ...(warnings === undefined ? {} : { warnings }),
            completedAt: at,
          },
        },
      ];
    }
    case 'FailConversion':
      if (!open) return ignore(command, 'failed', state);
      return [
        ...unreportedStart(command, state),
        {
          type: 'ConversionFailed',
          data: {
            accountId,
            conversionId,
            code: command.code,
            message: command.message,
            renderer: command.renderer,
            attempt: command.attempt,
            failedAt: at,
          },
        },
      ];
    case 'ExpireConversion':
      if (open || state.expired) return [];
      return [{ type: 'ConversionExpired', data: { accountId, conversionId, expiredAt: at } }];
    case 'RecordDownload':
      return download(command, state);
  }
};

export const conversion: Decider<ConversionState, ConversionCommand, ConversionEvent> = {
  initialState,
  evolve,
  decide,
};

export const conversionAggregate: AggregateType<
  ConversionState,
  ConversionCommand,
  ConversionEvent
> = {
  name: 'conversion',
  stream: conversionStream,
  decider: conversion,
  snapshot: {
    version: 3,
    encode: (state) => state,
    decode: (json) => json as ConversionState,
  },
};
