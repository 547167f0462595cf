/** Offers each accepted, unfinished conversion to the queue: from the log, in order, again after a loss. */
import { setImmediate as turn } from 'node:timers/promises';
import { conversionQueries } from '../../projections/conversions.ts';
import { type UnfinishedRow, unfinishedQueries } from '../../projections/unfinished-conversions.ts';
import { unlessErased } from '../documents/keys/vault.ts';
import { accountAggregate } from '../domain/account.ts';
import { signerName } from '../domain/signature.ts';
import type { Documents, Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import type { RenderJob } from '../render-queue/messages.ts';
import type { RenderQueue } from '../render-queue/port.ts';
import type { Identity } from '../signing/identity.ts';
import { startBackgroundLoop } from './background-loop.ts';

/** Jobs kept waiting in the queue; the rest wait in the log. Those of low priority leave room for the others. */
const MAX_WAITING = { normal: 20_000, low: 10_000 };
const PAGE = 500;
/** The pause between two offers of everything unfinished, in case the queue lost it. */
const SWEEP_MS = 30_000;

/** Events after which fewer jobs may wait. */
const LEAVE_THE_QUEUE = ['ConversionStarted', 'ConversionCompleted', 'ConversionFailed'] as const;

export interface Dispatch {
  /** Offers everything unfinished again; what the queue still has is not queued twice. */
  sweep(): void;
  stop(): Promise<void>;
}

export function startDispatch({
  actors,
  logger,
  queue,
  readModel,
  runner,
  seal,
  store,
  vault,
}: Log &
  Documents & {
    readonly logger: Logger;
    readonly queue: Pick<RenderQueue, 'offer' | 'retain' | 'waiting'>;
    /** The certificate of the service, if it has one. */
    readonly seal?: Pick<Identity, 'subject'> | undefined;
  }): Dispatch {
  const cursors = { normal: 0n, low: 0n };
  /** What was accepted by then may have been begun, and have ended the process before its start was in the log. */
  const before = store.head().catch(() => 0n);
  // The first round too: a read model that is being rebuilt still shows what has long ended.
  let sweepDue = true;
  /** The queue took no more: the rest is offered as soon as it does. */
  let isFull = false;

  const retain = async (): Promise<void> => {
    try {
      const unfinished = readModel.query(unfinishedQueries);
      await queue.retain((conversionId) => unfinished.byId(conversionId) !== undefined);
    } catch (error) {
      // A later sweep takes out jobs that have ended. Unfinished ones must be offered now.
      logger.warn({ err: error }, 'the render queue keeps jobs that have ended');
    }
  };

  const traceOf = async ({ accountId, trace }: UnfinishedRow): Promise<{ trace?: string }> => {
    if (trace === undefined) return {};
    // It may be lost: the conversion is not.
    const unsealed = await vault.unsealExactly(accountId, trace).catch(() => undefined);
    return unsealed === undefined ? {} : { trace: unsealed };
  };

  /** The PDF that a conversion is to be compared with. Its renderer may read that one too, as long as it is kept. */
  const originalOf = async ({
    accountId,
    rerenderOf,
  }: UnfinishedRow): Promise<Pick<RenderJob, 'original'>> => {
    const row = rerenderOf && readModel.query(conversionQueries).byId(rerenderOf);
    if (!row || row.pdf === undefined) return {};
    const original = { conversionId: row.id, sha256: row.pdf.sha256 };
    const key = await unlessErased(vault.contentKey(accountId, row.id));
    if (row.expired || row.document === undefined || key === undefined) return { original };
    const { document } = row;
    return { original: { ...original, document, contentKey: key.toString('base64url') } };
  };

  /** The name in the certificate that is to sign. Without a certificate nothing is signed, and the signer says why. */
  const signerOf = async ({
    accountId,
    signedBy,
  }: UnfinishedRow): Promise<Pick<RenderJob, 'signer'>> => {
    if (signedBy === undefined) return {};
    if (signedBy === 'service')
      return seal === undefined ? {} : { signer: signerName(seal.subject) };
    const { state } = await actors.read(accountAggregate, accountId);
    const sealed = state.signature?.subject;
    const subject = sealed && (await unlessErased(vault.unsealExactly(accountId, sealed)));
    return subject === undefined ? {} : { signer: signerName(subject) };
  };

  const step = async (stopping: AbortSignal): Promise<void> => {
    if (sweepDue) {
      // Rows of conversions that have ended must be gone before the rest is offered.
      await runner.waitFor(await store.head());
      sweepDue = false;
      await retain();
      cursors.normal = 0n;
      cursors.low = 0n;
    }
    isFull = false;
    await offer('normal', stopping);
    await offer('low', stopping);
  };

  const offer = async (priority: UnfinishedRow['priority'], stopping: AbortSignal) => {
    for (;;) {
      if (queue.waiting() >= MAX_WAITING[priority]) {
        isFull = true;
        return;
      }
      const rows = readModel.query(unfinishedQueries).after(priority, cursors[priority], PAGE);
      for (const row of rows) {
        if (stopping.aborted) return;
        const { conversionId, accountId, request, options } = row;
        const key = await unlessErased(vault.contentKey(accountId, conversionId));
        if (key !== undefined) {
          const contentKey = key.toString('base64url');
          const retry = row.attempts > 0 || row.position <= (await before);
          const job = { conversionId, accountId, request, contentKey, options, retry };
          const order = {
            ...(priority === 'low' && { priority }),
            ...(row.isTest && { isTest: true as const }),
          };
          const [original, signer] = [await originalOf(row), await signerOf(row)];
          await queue.offer({ ...job, ...order, ...original, ...signer, ...(await traceOf(row)) });
        }
        cursors[priority] = row.position;
      }
      if (rows.length < PAGE) return;
      // Deriving the keys of a page takes some milliseconds: others' requests go between two pages.
      await turn();
    }
  };

  const loop = startBackgroundLoop('dispatch', step, logger, {
    after: { runner, types: ['ConversionRequested'] },
  });
  const sweep = (): void => {
    sweepDue = true;
    loop.wake();
  };
  // Jobs of an erased account are to leave the queue.
  const unsubscribe = runner.onCommit(sweep, ['AccountErased']);
  const roomMade = runner.onCommit(() => {
    if (isFull) loop.wake();
  }, LEAVE_THE_QUEUE);
  const timer = setInterval(sweep, SWEEP_MS);
  return {
    sweep,
    stop: async () => {
      unsubscribe();
      roomMade();
      clearInterval(timer);
      await loop.stop();
    },
  };
}
