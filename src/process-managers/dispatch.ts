/** Offers each accepted, unfinished conversion of the log to the queue: each account's in order, again after a loss. */
import { setImmediate as turn } from 'node:timers/promises';
import { conversionQueries } from '../../projections/conversions.ts';
import {
  type Priority,
  type UnfinishedRow,
  unfinishedQueries,
} from '../../projections/unfinished-conversions.ts';
import { unlessErased } from '../documents/keys/vault.ts';
import { accountAggregate } from '../domain/account.ts';
import { signerName } from '../domain/signature.ts';
import type { Documents, Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import type { RenderJob } from '../render-queue/messages.ts';
import type { RenderQueue } from '../render-queue/port.ts';
import type { Identity } from '../signing/identity.ts';
import { startBackgroundLoop } from './background-loop.ts';

/** Places in the queue; other jobs wait in the log. An account that has none of them gets one more. */
const MAX_WAITING = 20_000;
/** The places that an account leaves free for each that it takes: others need some, and so do jobs that pass low ones. */
const LEAVES_FREE = { normal: 1, low: 2 };
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
  maxWaiting = MAX_WAITING,
  queue,
  readModel,
  runner,
  seal,
  store,
  vault,
}: Log &
  Documents & {
    readonly logger: Logger;
    readonly maxWaiting?: number;
    readonly queue: Pick<RenderQueue, 'has' | 'offer' | 'retain' | 'waiting' | 'waitingOf'>;
    /** The certificate of the service, if it has one. */
    readonly seal?: Pick<Identity, 'subject'> | undefined;
  }): Dispatch {
  /** The position up to which jobs are in the queue, except those of the accounts in `left`. */
  let cursor = 0n;
  /** Accounts whose later jobs are still to be offered, with the position up to which they were. */
  const left = { normal: new Map<string, bigint>(), low: new Map<string, bigint>() };
  /** What was accepted by then may have been begun, and have ended the process before its start was in the log. */
  const before = store.head().catch(() => 0n);
  // The first round too: a read model that is being rebuilt still shows what has long ended.
  let sweepDue = true;

  const retain = async (): Promise<void> => {
    try {
      // Queried anew for each job: the read models may be replaced while the queue goes through its jobs.
      await queue.retain((id) => readModel.query(unfinishedQueries).has(id));
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
      cursor = 0n;
      left.normal.clear();
      left.low.clear();
    }
    await look();
    await offer('normal', stopping);
    await offer('low', stopping);
  };

  /** Finds the accounts with jobs that the queue does not have. */
  const look = async (): Promise<void> => {
    for (;;) {
      const found = readModel.query(unfinishedQueries).after(cursor, PAGE);
      for (const { position, conversionId, accountId, priority } of found) {
        const accounts = left[priority];
        if (!accounts.has(accountId) && !queue.has(conversionId)) accounts.set(accountId, cursor);
        cursor = position;
      }
      if (found.length < PAGE) return;
      await turn();
    }
  };

  /**
   * The number of jobs that the account may add to `waiting` ones. With none in the queue it may always add one. Low jobs
   * take no place from its normal ones, which pass them.
   */
  const roomOf = (accountId: string, priority: Priority, waiting: number): number => {
    const own = queue.waitingOf(accountId, priority === 'normal' ? priority : undefined);
    const leaves = LEAVES_FREE[priority];
    const room = Math.floor((maxWaiting - waiting - own * leaves) / (1 + leaves));
    return Math.min(Math.max(room, own === 0 ? 1 : 0), PAGE);
  };

  /** Offers a page of each account's jobs in turn, until no account has more or room for more. */
  const offer = async (priority: Priority, stopping: AbortSignal): Promise<void> => {
    const accounts = left[priority];
    // A queue that has shrunk since then has room at the next run.
    let waiting = queue.waiting();
    let sinceTurn = 0;
    for (const [accountId, position] of accounts) {
      const room = roomOf(accountId, priority, waiting);
      if (room === 0) continue;
      const rows = readModel
        .query(unfinishedQueries)
        .ofAccount(accountId, priority, position, room);
      for (const row of rows) {
        if (stopping.aborted) return;
        const job = queue.has(row.conversionId) ? undefined : await jobOf(row);
        if (job === undefined) continue;
        await queue.offer(job);
        waiting += 1;
      }
      // Behind the others: this loop comes to it again.
      accounts.delete(accountId);
      const last = rows.at(-1);
      if (last !== undefined && rows.length === room) accounts.set(accountId, last.position);
      // Deriving the keys of a page takes some milliseconds: others' requests go between two pages.
      sinceTurn += rows.length;
      if (sinceTurn < PAGE) continue;
      sinceTurn = 0;
      await turn();
    }
  };

  /** Undefined if the account's key is erased. */
  const jobOf = async (row: UnfinishedRow): Promise<RenderJob | undefined> => {
    const { conversionId, accountId, request, options } = row;
    const key = await unlessErased(vault.contentKey(accountId, conversionId));
    if (key === undefined) return undefined;
    const contentKey = key.toString('base64url');
    const retry = row.attempts > 0 || row.position <= (await before);
    const job = { conversionId, accountId, request, contentKey, options, retry };
    const order = {
      ...(row.priority === 'low' && { priority: row.priority }),
      ...(row.isTest && { isTest: true as const }),
    };
    const [original, signer] = [await originalOf(row), await signerOf(row)];
    return { ...job, ...order, ...original, ...signer, ...(await traceOf(row)) };
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
    if (left.normal.size + left.low.size > 0) loop.wake();
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
