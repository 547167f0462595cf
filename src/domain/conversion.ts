/** The life of one accepted conversion. Its request lies in its account's stream. */

import type { ConversionFailureCode } from './choices.ts';
import type { AggregateType, Decider } from './decider.ts';
import {
  type Downloads,
  noDownloads,
  type RecordDownload,
  recordDownload,
  withDownload,
} from './downloads.ts';
import type { BlobRef, PdfDigest, PdfFacts, RenderTimings } from './event-fields.ts';
import type { EventOf } from './events.ts';
import { isNews, noOutcomes, type Outcome, type Outcomes, outcomeOf } from './late-outcomes.ts';
import {
  type MadeSignature,
  madeSignature,
  type RecordSignature,
  recordSignature,
} from './signature.ts';
import {
  type CreateLink,
  createLink,
  noLinks,
  type RevokeLink,
  revokeLink,
  type ShareLinks,
  withLink,
  withoutLink,
} from './share-links.ts';

export const conversionStream = (conversionId: string): string => `conversion-${conversionId}`;

export type ConversionEvent = EventOf<
  | 'ConversionStarted'
  | 'ConversionRequeued'
  | 'SignatureMade'
  | 'ConversionCompleted'
  | 'ConversionFailed'
  | 'ConversionOutcomeIgnored'
  | 'ConversionDeleted'
  | 'ConversionExpired'
  | 'DocumentDownloaded'
  | 'LinkCreated'
  | 'LinkRevoked'
>;

/** Tries that count before a conversion is given up: a page that kills its host is not tried for ever. */
export const MAX_ATTEMPTS = 3;
/** Tries taken back per conversion, so that a renderer that was taken over cannot grow the log. */
const MAX_REQUEUES = 100;

export interface ConversionState extends Outcomes, Downloads, ShareLinks {
  readonly status: 'pending' | 'processing' | 'completed' | 'failed';
  /** The deliveries of the tries that count, in order: those that were started and not requeued. */
  readonly tries: readonly string[];
  /** Tries that were taken back. */
  readonly requeues: number;
  /** Those that the service made for its tries, also for those that were taken back. */
  readonly signatures: readonly MadeSignature[];
  /** Its account asked for the deletion of its blobs, which may still be under way. */
  readonly deleted: boolean;
  /** Its blobs were deleted: as its account asked, or at the end of their retention. */
  readonly expired: boolean;
}

const initialState: ConversionState = {
  status: 'pending',
  tries: [],
  requeues: 0,
  signatures: [],
  ...noOutcomes,
  deleted: false,
  expired: false,
  ...noDownloads,
  ...noLinks,
};

interface CommandOf {
  readonly accountId: string;
  readonly conversionId: string;
  readonly at: number;
}

interface DeliveryOf extends CommandOf {
  readonly renderer: string;
  /** Names one delivery of the job: each is one try. */
  readonly delivery: string;
}

interface OutcomeOf extends CommandOf {
  readonly renderer: string;
  readonly attempt: number;
}

export type ConversionCommand =
  | ({ readonly type: 'StartConversion' } & DeliveryOf)
  | ({ readonly type: 'RequeueConversion' } & DeliveryOf)
  | (RecordSignature & CommandOf)
  | ({
      readonly type: 'CompleteConversion';
      readonly document: BlobRef;
      readonly pdf: PdfDigest;
      readonly pages: number;
      readonly timings: RenderTimings;
      readonly chrome: string;
      readonly manifest: BlobRef;
    } & PdfFacts &
      OutcomeOf)
  | ({
      readonly type: 'FailConversion';
      readonly code: ConversionFailureCode;
      /** Sealed. */
      readonly message: string;
      /** The picture of the page. */
      readonly picture?: BlobRef;
      /** True where another try may succeed: then only the last one fails the conversion. */
      readonly retryable: boolean;
    } & OutcomeOf)
  | ({
      readonly type: 'AbandonConversion';
      readonly code: 'account_erased' | 'cancelled';
      /** Sealed; of an erased account, what stands in place of it. */
      readonly message: string;
    } & CommandOf)
  | ({
      readonly type: 'DeleteConversion';
      /** The PDF was downloaded, and the request asked for its deletion then. */
      readonly afterDownload?: true;
    } & CommandOf)
  | ({ readonly type: 'ExpireConversion' } & CommandOf)
  | (RecordDownload & CommandOf)
  | CreateLink
  | RevokeLink;

/** True of the events that end a conversion. */
export const isEnd = (type: string): boolean =>
  type === 'ConversionCompleted' || type === 'ConversionFailed';

export const isOpen = ({ status }: ConversionState): boolean =>
  status === 'pending' || status === 'processing';

function evolve(state: ConversionState, event: ConversionEvent): ConversionState {
  switch (event.type) {
    case 'ConversionStarted':
      return { ...state, status: 'processing', tries: [...state.tries, event.data.delivery] };
    case 'ConversionRequeued':
      return {
        ...state,
        status: 'pending',
        tries: state.tries.slice(0, -1),
        requeues: state.requeues + 1,
      };
    case 'SignatureMade':
      return { ...state, signatures: [...state.signatures, madeSignature(event.data)] };
    case 'ConversionCompleted':
      return { ...state, status: 'completed', ended: outcomeOf(event.data, 'completed') };
    case 'ConversionFailed':
      return { ...state, status: 'failed', ended: outcomeOf(event.data, 'failed') };
    case 'ConversionOutcomeIgnored':
      return { ...state, ignored: [...state.ignored, outcomeOf(event.data, event.data.outcome)] };
    case 'ConversionDeleted':
      return { ...state, deleted: true };
    case 'ConversionExpired':
      return { ...state, expired: true };
    case 'DocumentDownloaded':
      return { ...state, ...withDownload(state, event.data) };
    case 'LinkCreated':
      return { ...state, ...withLink(state, event.data) };
    case 'LinkRevoked':
      return { ...state, ...withoutLink(state, event.data) };
  }
}

function ignore(
  command: OutcomeOf,
  outcome: Outcome['outcome'],
  state: ConversionState,
): readonly ConversionEvent[] {
  const { accountId, conversionId } = command;
  const late = outcomeOf(command, outcome);
  if (!isNews(state, late)) return [];
  return [{ type: 'ConversionOutcomeIgnored', data: { accountId, conversionId, ...late } }];
}

/** Counts a try, once for each delivery. Where there may be no more, nothing happens. */
function start(
  { accountId, conversionId, renderer, delivery, at }: DeliveryOf,
  { tries }: ConversionState,
): readonly ConversionEvent[] {
  if (tries.includes(delivery) || tries.length >= MAX_ATTEMPTS) return [];
  const attempt = tries.length + 1;
  const data = { accountId, conversionId, renderer, delivery, attempt, startedAt: at };
  return [{ type: 'ConversionStarted', data }];
}

/** Takes back the latest try if it is of this delivery, at most `MAX_REQUEUES` times. */
function requeue(
  { accountId, conversionId, renderer, delivery, at }: DeliveryOf,
  { tries, requeues }: ConversionState,
): readonly ConversionEvent[] {
  if (tries.at(-1) !== delivery || requeues >= MAX_REQUEUES) return [];
  const data = { accountId, conversionId, renderer, attempt: tries.length, requeuedAt: at };
  return [{ type: 'ConversionRequeued', data }];
}

const decide: Decider<ConversionState, ConversionCommand, ConversionEvent>['decide'] = (
  command,
  state,
) => {
  const open = isOpen(state);
  const { accountId, conversionId, at } = command;
  switch (command.type) {
    case 'StartConversion':
      return open ? start(command, state) : [];
    case 'RequeueConversion':
      return open ? requeue(command, state) : [];
    case 'RecordSignature':
      return open ? recordSignature(command, state) : { rejected: 'forbidden' };
    case 'CompleteConversion': {
      const { renderer, attempt, document, pdf, pages, timings, chrome } = command;
      const { manifest, warnings, title, conformance, rerender, signature } = command;
      if (!open) return ignore(command, 'completed', state);
      return [
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
            ...(warnings && { warnings }),
            ...(title && { title }),
            ...(conformance && { conformance }),
            ...(signature && { signature }),
            ...(rerender && { rerender }),
            completedAt: at,
          },
        },
      ];
    }
    case 'FailConversion':
      if (!open) return ignore(command, 'failed', state);
      if (command.retryable && command.attempt < MAX_ATTEMPTS) return [];
      return [
        {
          type: 'ConversionFailed',
          data: {
            accountId,
            conversionId,
            code: command.code,
            message: command.message,
            ...(command.picture === undefined ? {} : { picture: command.picture }),
            renderer: command.renderer,
            attempt: command.attempt,
            failedAt: at,
          },
        },
      ];
    case 'AbandonConversion':
      if (!open) return [];
      return [
        {
          type: 'ConversionFailed',
          data: {
            accountId,
            conversionId,
            code: command.code,
            message: command.message,
            renderer: 'service',
            attempt: Math.max(1, state.tries.length),
            failedAt: at,
          },
        },
      ];
    case 'DeleteConversion':
      if (open) return { rejected: 'not_ready' };
      if (state.deleted || state.expired) return [];
      return [
        {
          type: 'ConversionDeleted',
          data: {
            accountId,
            conversionId,
            deletedAt: at,
            ...(command.afterDownload && { afterDownload: true }),
          },
        },
      ];
    case 'ExpireConversion':
      if (open || state.expired) return [];
      return [{ type: 'ConversionExpired', data: { accountId, conversionId, expiredAt: at } }];
    case 'RecordDownload':
      return state.status === 'completed' ? recordDownload(command, state) : [];
    case 'CreateLink':
      return createLink(command, state);
    case 'RevokeLink':
      return revokeLink(command, state);
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
    version: 8,
    encode: (state) => state,
    decode: (json) => json as ConversionState,
  },
};
