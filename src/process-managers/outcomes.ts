/** Records what renderers report as events of their conversions, once, however often it is reported. */
import { type ConversionRow, conversionQueries } from '../../projections/conversions.ts';
import { storedBlobQueries } from '../../projections/stored-blobs.ts';
import { unfinishedQueries } from '../../projections/unfinished-conversions.ts';
import { hasContentOfLength } from '../documents/decryption.ts';
import { UnencryptedText } from '../documents/encryption.ts';
import { KeyringUnavailable } from '../documents/keys/port.ts';
import { UNREADABLE, unlessErased, type Vault } from '../documents/keys/vault.ts';
import { type BlobStore, BlobStoreUnavailable, type StagedBlob } from '../documents/port.ts';
import { accountAggregate } from '../domain/account.ts';
import {
  type ConversionCommand,
  type ConversionState,
  conversionAggregate,
  isEnd,
  isOpen,
  MAX_ATTEMPTS,
} from '../domain/conversion.ts';
import type { Rerender } from '../domain/event-fields.ts';
import type { Actor } from '../domain/event-metadata.ts';
import { MAX_MANIFEST_BYTES } from '../domain/render-manifest.ts';
import { isSameSignature } from '../domain/signature.ts';
import { errorReason } from '../errors/error-message.ts';
import { ServiceError } from '../errors/errors.ts';
import { EventStoreUnavailable } from '../event-store/port.ts';
import type { Budgets } from '../limits/budgets.ts';
import type { Documents, Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import { LogThrottle } from '../observe/log-throttle.ts';
import { isTold } from '../observe/outage.ts';
import type { CompletedOutcome, FailedOutcome, RenderReport } from '../render-queue/messages.ts';
import type { Consumer, RenderQueue } from '../render-queue/port.ts';

type Seals = Pick<Vault, 'seal' | 'contentKey'>;

/**
 * The most that a renderer's clock may differ from ours. A time further off is replaced by ours: it says
 * when a document is deleted, and a renderer may be taken over. Reports that waited longer get our time, too.
 */
const MAX_CLOCK_DIFFERENCE_MS = 5 * 60 * 1000;

const clampTime = (time: number, now: number): number =>
  Math.abs(time - now) > MAX_CLOCK_DIFFERENCE_MS ? now : time;

/** Seals where that is possible: else the report would come again for ever. */
const sealed = async (vault: Seals, accountId: string, message: string): Promise<string> =>
  (await unlessErased(vault.seal(accountId, message))) ?? UNREADABLE;

interface Recording {
  readonly command: ConversionCommand;
  /** Stored with the command's event. */
  readonly blobs: readonly StagedBlob[];
}

/** Makes the failure that ends a try in place of what was reported. A failed conversion's blobs are deleted. */
const failedInstead = (
  {
    conversionId,
    accountId,
    renderer,
    delivery,
    attempt,
    at,
  }: Omit<CompletedOutcome | FailedOutcome, 'kind'>,
  code: FailedOutcome['code'],
  message: string,
): FailedOutcome => ({
  kind: 'failed',
  conversionId,
  accountId,
  renderer,
  delivery,
  attempt,
  at,
  code,
  message,
  retryable: false,
});

const TOO_MUCH = 'The renderer reported more than can be recorded.';
const CONTRADICTION = 'The renderer stored another document than it reported.';
const UNSIGNED = 'The renderer did not have the PDF signed as its request asks.';
/** Each of its renderers went down with it before it could report an outcome. */
const BROKEN_OFF = `The renderer broke off on each of ${MAX_ATTEMPTS} tries.`;

/**
 * Room was there when the conversion was accepted. Others that waited at the same time may have taken it:
 * nobody knew the size of their PDFs. The read model is a moment behind, by one PDF of each slot at most.
 */
function withinRoom(report: RenderReport, { budgets, readModel }: Recorder) {
  if (report.kind !== 'completed') return report;
  const budget = budgets.get('maxAccountStoredBytes');
  const stored = readModel.query(storedBlobQueries).lastingBytesOf(report.accountId);
  const { bytes } = report.document;
  if (stored + bytes <= budget.limit) return report;
  budget.refuse();
  const message =
    `The PDF has ${bytes} bytes, and the account's documents take ${stored} of the ${budget.limit} ` +
    'that it may store. Wait until the retention of older ones has ended, or ask the operator for more.';
  return failedInstead(report, 'too_large', message);
}

/** Compares the PDF with the one that it was to be compared with. The hashes are the log's, the pages the renderer's word. */
function comparedWith(
  original: ConversionRow | undefined,
  { pdf, differingPages }: CompletedOutcome,
): { readonly rerender?: Rerender } {
  if (original?.pdf === undefined) return {};
  if (original.pdf.sha256 === pdf.sha256) return { rerender: { equal: true } };
  return { rerender: { equal: false, ...(differingPages && { pages: differingPages }) } };
}

/** A PDF that is to be signed is never taken unsigned. Its signature is one that the service made for this try. */
function asSigned(report: RenderReport, state: ConversionState, { readModel }: Recorder) {
  if (report.kind !== 'completed') return report;
  const { conversionId, delivery, signature } = report;
  const isAsked = readModel.query(unfinishedQueries).byId(conversionId)?.signedBy !== undefined;
  const isMade = state.signatures.some(
    (made) => signature && made.delivery === delivery && isSameSignature(made, signature),
  );
  const isRight = signature === undefined ? !isAsked : isAsked && isMade;
  return isRight ? report : failedInstead(report, 'not_signed', UNSIGNED);
}

async function recordingOf(
  report: RenderReport,
  blobs: BlobStore,
  vault: Seals,
  original?: ConversionRow,
): Promise<Recording> {
  switch (report.kind) {
    case 'started':
      return { command: { ...report, type: 'StartConversion' }, blobs: [] };
    case 'requeued':
      return { command: { ...report, type: 'RequeueConversion' }, blobs: [] };
    case 'completed': {
      const refused = (why: string) =>
        recordingOf(failedInstead(report, 'renderer_failed', why), blobs, vault);
      const { accountId, conversionId, document, pdf } = report;
      const content = new UnencryptedText(report.manifest);
      // No renderer of ours makes such reports.
      if (content.bytes > MAX_MANIFEST_BYTES) return refused(TOO_MUCH);
      if (!hasContentOfLength(document, pdf.bytes)) return refused(CONTRADICTION);
      const contentKey = await unlessErased(vault.contentKey(accountId, conversionId));
      if (contentKey === undefined) {
        // Nothing of an erased account is kept, so this needs no look at what events name.
        await blobs.deleteAll(conversionId);
        return recordingOf(failedInstead(report, 'account_erased', UNREADABLE), blobs, vault);
      }
      const staged = content.stage(blobs, { conversionId, contentKey }, 'manifest');
      const { manifest: _, warnings, title, differingPages: _pages, ...outcome } = report;
      const told = warnings && (await sealed(vault, accountId, JSON.stringify(warnings)));
      const named = title && (await sealed(vault, accountId, title));
      const command = {
        ...outcome,
        type: 'CompleteConversion',
        manifest: staged.ref,
        ...(told && { warnings: told }),
        ...(named && { title: named }),
        ...comparedWith(original, report),
      } as const;
      return { command, blobs: [staged] };
    }
    case 'failed': {
      const { picture, ...failure } = report;
      const { accountId, conversionId } = failure;
      const message = await sealed(vault, accountId, failure.message);
      const failed = { ...failure, message, type: 'FailConversion' } as const;
      if (picture === undefined) return { command: failed, blobs: [] };
      if ((await unlessErased(vault.contentKey(accountId, conversionId))) !== undefined) {
        return { command: { ...failed, picture }, blobs: [] };
      }
      // Nothing of an erased account is kept.
      await blobs.deleteAll(conversionId);
      return { command: failed, blobs: [] };
    }
  }
}

/** True if the same report may be recorded at another time. */
function mayPass(error: unknown): boolean {
  return (
    error instanceof EventStoreUnavailable ||
    error instanceof BlobStoreUnavailable ||
    error instanceof KeyringUnavailable ||
    (error instanceof ServiceError && error.code === 'service_unavailable')
  );
}

type Recorder = Log &
  Documents & {
    readonly budgets: Budgets;
    readonly logger: Logger;
    readonly queue: Pick<RenderQueue, 'onReport'>;
    readonly sign?: Parameters<RenderQueue['onReport']>[1];
  };

/**
 * Handles reports. The handler rejects where the same report may be recorded later; one that never can be
 * is logged and dropped. What it was about is still unfinished in the log, so it is rendered again.
 */
export function startOutcomes(deps: Recorder): Consumer {
  const { clock, logger, queue, sign } = deps;
  const unknownConversions = new LogThrottle();
  const putOff = new LogThrottle();
  // One line reports an outage. Each report comes again and again while it lasts.
  const logPutOff = (about: object, error: unknown, message: string): void => {
    if (isTold(error)) return;
    putOff.log((suppressed) =>
      logger.warn({ ...about, reason: errorReason(error), suppressed }, message),
    );
  };
  const isErased = async (accountId: string): Promise<boolean> =>
    (await deps.actors.read(accountAggregate, accountId)).state.status === 'erased';
  return queue.onReport(async (report) => {
    const { conversionId, renderer, delivery, kind } = report;
    const about = { conversionId, renderer, delivery, kind };
    let accepted: Accepted | undefined;
    try {
      accepted = await acceptedOf(conversionId, deps);
    } catch (error) {
      logPutOff(about, error, 'cannot look up the account of the conversion; will retry');
      throw error;
    }
    if (accepted === undefined) {
      unknownConversions.log((suppressed) =>
        logger.error(
          { ...about, suppressed },
          'a render report of a conversion that was never accepted: dropped',
        ),
      );
      return { ended: true, attempt: 0 };
    }
    try {
      const at = clampTime(report.at, clock.now());
      const { accountId } = accepted;
      if (kind === 'started' && (await isErased(accountId))) return { ended: true, attempt: 0 };
      const state = await record({ ...report, accountId, at }, accepted, deps);
      logger.debug({ ...about, status: state.status }, 'render report');
      return { ended: !isOpen(state), attempt: state.tries.indexOf(delivery) + 1 };
    } catch (error) {
      if (!mayPass(error)) {
        logger.error({ ...about, err: error }, 'a render report can never be recorded: dropped');
        // A try that is not counted must not go on.
        return { ended: kind === 'started', attempt: 0 };
      }
      logPutOff(about, error, 'a render report could not be recorded yet');
      throw error;
    }
  }, sign);
}

type Accepted = Pick<ConversionRow, 'accountId' | 'createdAt' | 'rerenderOf'>;

/**
 * The account that a conversion was accepted from, and when, by the log: a renderer's word for it would let
 * it fail conversions that never were and have their credits given back to anyone.
 */
async function acceptedOf(
  conversionId: string,
  { readModel, runner, store }: Recorder,
): Promise<Accepted | undefined> {
  const find = (): Accepted | undefined => readModel.query(conversionQueries).byId(conversionId);
  const found = find();
  if (found !== undefined) return found;
  await runner.waitFor(await store.head());
  return find();
}

/** @returns the conversion after it */
async function record(
  report: RenderReport,
  { createdAt, rerenderOf }: Accepted,
  deps: Recorder,
): Promise<ConversionState> {
  const { actors, blobs, vault } = deps;
  const { conversionId, renderer, delivery, at } = report;
  const before = (await actors.read(conversionAggregate, conversionId)).state;
  const late = !isOpen(before);
  // A report that comes again would find its own PDF in the room.
  const judged = late ? report : withinRoom(asSigned(report, before, deps), deps);
  const send = async (
    { command, blobs: staged }: Recording,
    commandId: string,
    actor: Actor,
  ): Promise<ConversionState> => {
    const outcome = await actors.send(conversionAggregate, conversionId, command, {
      commandId,
      // A report that comes after the end stores no blobs: retention would have to find them again.
      blobs: late ? [] : staged,
      metadata: { correlationId: conversionId, causationId: commandId, actor, time: at },
    });
    if (!outcome.accepted) throw new Error(`${command.type} was refused.`);
    const ended = outcome.events.some(({ type }) => isEnd(type));
    if (ended) logEnd(command, createdAt, deps.logger);
    return outcome.state;
  };
  const commandId = `${conversionId}/${renderer}/${delivery}/${judged.kind}`;
  const actor = { kind: 'renderer', id: renderer } as const;
  const original = rerenderOf && deps.readModel.query(conversionQueries).byId(rerenderOf);
  const recording = await recordingOf(judged, blobs, vault, original || undefined);
  const state = await send(recording, commandId, actor);
  const isRefused = report.kind === 'started' && !state.tries.includes(delivery) && isOpen(state);
  if (!isRefused) return state;
  const last = { ...report, renderer: 'service', attempt: MAX_ATTEMPTS };
  const brokenOff = failedInstead(last, 'renderer_failed', BROKEN_OFF);
  return await send(await recordingOf(brokenOff, blobs, vault), `${conversionId}/broken-off`, {
    kind: 'service',
  });
}

/** Says how a conversion ended, why, and where its time went, in milliseconds. */
function logEnd(command: ConversionCommand, createdAt: number, logger: Logger): void {
  if (command.type !== 'CompleteConversion' && command.type !== 'FailConversion') return;
  const { conversionId, accountId, renderer, attempt, at } = command;
  const totalMs = Math.max(0, at - createdAt);
  const about = { conversionId, accountId, renderer, attempt, totalMs };
  if (command.type === 'FailConversion') {
    const { code } = command;
    // Its message may quote the page: it is for its client alone.
    logger.info({ ...about, code }, `${conversionId} failed`);
    return;
  }
  const { pages, pdf, timings } = command;
  const renderMs = Math.round(timings.queued + timings.load + timings.ready + timings.print);
  const storeMs = Math.round(timings.store);
  const queuedMs = Math.max(0, totalMs - renderMs - storeMs);
  const facts = { ...about, pages, bytes: pdf.bytes, queuedMs, renderMs, storeMs };
  logger.info(facts, `${conversionId} completed`);
}
