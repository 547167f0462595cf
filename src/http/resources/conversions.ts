/** Conversions: asking for one, following it, listing them. */
import { createHmac } from 'node:crypto';
import {
  CONVERSION_STATUSES,
  type ConversionRow,
  conversionQueries,
} from '../../../projections/conversions.ts';
import { storedBlobQueries } from '../../../projections/stored-blobs.ts';
import { UnencryptedText } from '../../blob-store/encryption.ts';
import { BudgetExceeded } from '../../budgets.ts';
import { isoTime } from '../../clock.ts';
import { checkConversionRequest } from '../../conversion-request/validate.ts';
import type { EventType } from '../../domain/events.ts';
import { ServiceError } from '../../errors.ts';
import type { RecordedEvent } from '../../event-store/port.ts';
import type { ProjectionRunner } from '../../read-model/runner.ts';
import { consistentQuery } from '../../use-cases/consistent-query.ts';
import { requestConversion } from '../../use-cases/request-conversion.ts';
import { ValidationIssues } from '../../validation.ts';
import {
  callerOf,
  commandContext,
  disconnection,
  type HttpContext,
  type HttpMiddleware,
  pathParameter,
} from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { pageOf, sendPage } from '../pagination.ts';

/** Documents go at the end of their retention: seldom within a minute, and some each hour. */
const ROOM_RETRY_SECONDS = 300;

/**
 * Judges before the body is read, by the read model, which is a moment behind. So an account may pass the
 * limit by the bodies that it sends at once, and by the PDFs of what was accepted before.
 * @throws {BudgetExceeded}
 */
function assertRoom(ctx: HttpContext, { budgets, config, readModel }: RouteDependencies): void {
  const budget = budgets.get('maxAccountStoredBytes');
  const stored = readModel.query(storedBlobQueries).bytesOf(callerOf(ctx).accountId);
  const declared = Number(ctx.get('Content-Length') || config.maxBodyBytes);
  if (stored + Math.min(declared, config.maxBodyBytes) <= budget.limit) return;
  budget.refuse();
  throw new BudgetExceeded(
    'client',
    `The account's documents take ${stored} of the ${budget.limit} bytes that it may store. ` +
      'Wait until the retention of older ones has ended, or ask the operator for more.',
    ROOM_RETRY_SECONDS,
  );
}

/** Reads all that the body and its headers ask for; strings are let go in favour of what is to be stored. */
function parseRequest(ctx: HttpContext, deps: RouteDependencies, body: object) {
  const issues = new ValidationIssues();
  const { document, ...request } = checkConversionRequest(body, issues, deps.config);
  const key = idempotencyKeyOf(ctx, issues);
  issues.throwIfAny();
  const { accountId } = callerOf(ctx);
  return {
    accountId,
    ...request,
    document: new UnencryptedText(JSON.stringify(document)),
    ...(key === undefined
      ? {}
      : { idempotencyKey: idempotencyKeyHash(deps.idempotencySecret, accountId, key) }),
  };
}

export function createConversion(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    assertRoom(ctx, deps);
    const { conversionId, requestedAt, replayed } = await deps.bodies.read(
      ctx,
      deps.config.maxBodyBytes,
      (body) => parseRequest(ctx, deps, body),
      async (request) =>
        requestConversion(deps, request, await commandContext(ctx, deps, callerOf(ctx))),
      { forms: true },
    );
    if (replayed) ctx.set('Idempotent-Replayed', 'true');
    ctx.status = 202;
    // Derived from the first acceptance alone: a replay gives the same bytes.
    ctx.body = { id: conversionId, status: 'pending', created_at: isoTime(requestedAt) };
  };
}

const hasEnded = ({ status }: ConversionRow): boolean =>
  status === 'completed' || status === 'failed';

async function ownConversion(
  ctx: HttpContext,
  deps: RouteDependencies,
  asOf?: bigint,
): Promise<ConversionRow> {
  const { accountId } = callerOf(ctx);
  const queries = await consistentQuery(deps, conversionQueries, asOf);
  const row = queries.byId(pathParameter(ctx, 'id'));
  if (row?.accountId !== accountId) {
    throw new ServiceError('not_found', 'There is no such conversion.');
  }
  return row;
}

/** Resolves when the conversion has ended, `seconds` have passed or nobody waits any longer. */
function untilEnded(
  ctx: HttpContext,
  { readModel, closing }: RouteDependencies,
  waiters: CompletionWaiters,
  id: string,
  seconds: number,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const over = AbortSignal.any([AbortSignal.timeout(seconds * 1000), disconnection(ctx), closing]);
  over.addEventListener('abort', () => resolve());
  const endListening = waiters.onEnd(id, resolve);
  // It may have ended since it was read.
  const row = readModel.query(conversionQueries).byId(id);
  if (over.aborted || row === undefined || hasEnded(row)) resolve();
  return promise.finally(endListening);
}

export function getConversion(deps: RouteDependencies): HttpMiddleware {
  const waiters = new CompletionWaiters(deps.runner);
  return async (ctx) => {
    let row = await ownConversion(ctx, deps, ctx.state.asOf);
    const wait = preferredWait(ctx.get('Prefer'));
    if (wait !== undefined) {
      ctx.set('Preference-Applied', `wait=${wait}`);
      if (wait > 0 && !hasEnded(row)) {
        await untilEnded(ctx, deps, waiters, row.id, wait);
        row = await ownConversion(ctx, deps);
      }
    }
    ctx.body = await conversionRecord(deps, row);
  };
}

export function listConversions(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { accountId } = callerOf(ctx);
    const issues = new ValidationIssues();
    const page = pageOf(ctx, issues, ['status']);
    const status = CONVERSION_STATUSES.find((each) => each === ctx.query['status']);
    if (status === undefined && ctx.query['status'] !== undefined) {
      issues.add('status', `Must be one of ${CONVERSION_STATUSES.join(', ')}.`);
    }
    issues.throwIfAny();
    const queries = await consistentQuery(deps, conversionQueries, ctx.state.asOf);
    const filter = status === undefined ? {} : { status };
    const { rows, total } = queries.page(accountId, { ...page, ...filter });
    const records = await Promise.all(rows.map((row) => conversionRecord(deps, row)));
    sendPage(ctx, deps.publicUrl, page, total, records);
  };
}

/**
 * The Conversion resource as the interface shapes it, with a fresh link where there is a file.
 * @throws {KeyErased}
 */
async function conversionRecord(deps: RouteDependencies, row: ConversionRow): Promise<object> {
  const { id, accountId, status, createdAt, completedAt, errorMessage } = row;
  const record = { id, status, created_at: isoTime(createdAt) };
  if (status === 'failed' && errorMessage !== undefined) {
    return { ...record, error_message: await deps.vault.unseal(accountId, errorMessage) };
  }
  if (status !== 'completed' || completedAt === undefined) return record;
  const token = deps.fileTokens.mint(id, deps.config.fileUrlTtlSeconds);
  return {
    ...record,
    file_url: `${deps.publicUrl}/files/${id}.pdf?token=${token}`,
    completed_at: isoTime(completedAt),
  };
}

const ENDS: ReadonlySet<string> = new Set<EventType>(['ConversionCompleted', 'ConversionFailed']);

/** Wakes those who wait for a conversion to end, with one look at each commit for all of them. */
class CompletionWaiters {
  readonly #runner: Pick<ProjectionRunner, 'onCommit'>;
  /** Listeners by the conversion's id. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #endListening = (): void => {};

  constructor(runner: Pick<ProjectionRunner, 'onCommit'>) {
    this.#runner = runner;
  }

  /** Calls `listener` when the read model has come to know that it ended; returns how to end that. */
  onEnd(conversionId: string, listener: () => void): () => void {
    if (this.#waiting.size === 0) {
      this.#endListening = this.#runner.onCommit((events) => this.#look(events));
    }
    const listeners = this.#waiting.get(conversionId) ?? new Set();
    this.#waiting.set(conversionId, listeners.add(listener));
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return;
      this.#waiting.delete(conversionId);
      if (this.#waiting.size === 0) this.#endListening();
    };
  }

  #look(events: readonly RecordedEvent[]): void {
    for (const { type, data } of events) {
      if (!ENDS.has(type) || !('conversionId' in data)) continue;
      for (const listener of this.#waiting.get(String(data.conversionId)) ?? []) listener();
    }
  }
}

const HEADER = 'Idempotency-Key';
const PRINTABLE = /^[\x20-\x7e]{1,255}$/;

/** The client's key as the log keeps it: a keyed hash, of use for this account alone. */
function idempotencyKeyHash(secret: Buffer, accountId: string, key: string): string {
  return createHmac('sha256', secret).update(`${accountId}\0${key}`, 'utf8').digest('hex');
}

/** The request's `Idempotency-Key`, where it has one. */
function idempotencyKeyOf(ctx: HttpContext, issues: ValidationIssues): string | undefined {
  const key = ctx.req.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && PRINTABLE.test(key)) return key;
  issues.add(HEADER, 'Must be 1 to 255 printable ASCII characters.');
  return undefined;
}

export const MAX_WAIT_SECONDS = 30;

/**
 * The seconds that `Prefer: wait=N` (RFC 7240) asks for, at most 30; undefined without a usable one.
 * The first mention of a preference counts; what is not understood is passed over.
 */
function preferredWait(header: string): number | undefined {
  for (const preference of header.split(',')) {
    const [name = '', value = ''] = (preference.split(';')[0] ?? '').split('=');
    if (name.trim().toLowerCase() !== 'wait') continue;
    const seconds = /^"?(\d{1,9})"?$/.exec(value.trim())?.[1];
    return seconds === undefined ? undefined : Math.min(Number(seconds), MAX_WAIT_SECONDS);
  }
  return undefined;
}
