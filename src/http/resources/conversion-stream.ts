/** Sends an account each change of its conversions as it happens, as server-sent events. */
import { Readable } from 'node:stream';
import { conversionQueries } from '../../../projections/conversions.ts';
import { historyQueries } from '../../../projections/history.ts';
import { KeyErased } from '../../documents/keys/port.ts';
import type { EventType } from '../../domain/events.ts';
import type { RecordedEvent } from '../../event-store/port.ts';
import { BudgetExceeded } from '../../limits/budgets.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import type { ProjectionRunner } from '../../read-model/runner.ts';
import { ValidationIssues } from '../../requests/validation.ts';
import { callerOf, disconnection, type HttpContext, mayShow, releaseAtEnd } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { type Endpoint, inHeader, wrongField } from '../openapi/operation.ts';
import { checkQuery } from '../pagination.ts';
import { listedRecordOf } from './conversions.ts';

/** Keeps proxies from closing a quiet stream, and is shorter than the server's own limit on quiet connections. */
const PING_MS = 15_000;
/** The time that clients are told to wait before they connect again. */
const RECONNECT_MS = 2_000;
const RETRY_SECONDS = 5;
/** Events of an account that are looked through at once. */
const SLICE = 1_000;
/** A client that missed more of the account's events than these reads the list again instead. */
export const MAX_MISSED = 10_000;

const CHANGES: readonly EventType[] = [
  'ConversionRequested',
  'ConversionStarted',
  'ConversionRequeued',
  'ConversionCompleted',
  'ConversionFailed',
];
/** Events after which a credential of the account may not hold any more, or lets its holder see less. */
const ENDS: ReadonlySet<string> = new Set<EventType>([
  'KeyRevoked',
  'SessionRevoked',
  'SessionsEnded',
  'MemberChanged',
  'MemberRemoved',
  'AccountSuspended',
]);
/** The same for the credentials of a person in all of their accounts, of which the event names one at most. */
const ENDS_EVERYWHERE: ReadonlySet<string> = new Set<EventType>([
  'PasswordChanged',
  'PersonPasswordChanged',
  'PersonAddressProven',
  'EmailChanged',
  'PersonEmailChanged',
  'PersonErased',
  'AccountErased',
]);

interface Listener {
  /** @param mayEnd a credential of the account may have ended */
  (mayEnd: boolean): void;
}

/** Tells streams of events of their account, with one look at each commit for all of them. */
class AccountNews {
  readonly #runner: Pick<ProjectionRunner, 'onCommit'>;
  readonly #listeners = new Map<string, Set<Listener>>();
  #endListening = (): void => {};

  constructor(runner: Pick<ProjectionRunner, 'onCommit'>) {
    this.#runner = runner;
  }

  /** Returns how to end that. */
  listen(accountId: string, listener: Listener): () => void {
    if (this.#listeners.size === 0) {
      this.#endListening = this.#runner.onCommit((events) => this.#look(events));
    }
    const listeners = this.#listeners.get(accountId) ?? new Set();
    this.#listeners.set(accountId, listeners.add(listener));
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return;
      this.#listeners.delete(accountId);
      if (this.#listeners.size === 0) this.#endListening();
    };
  }

  #look(events: readonly RecordedEvent[]): void {
    const mayEnd = new Map<string, boolean>();
    if (events.some(({ type }) => ENDS_EVERYWHERE.has(type))) {
      for (const accountId of this.#listeners.keys()) mayEnd.set(accountId, true);
    }
    for (const { type, data } of events) {
      const accountId = 'accountId' in data ? String(data.accountId) : '';
      mayEnd.set(accountId, mayEnd.get(accountId) === true || ENDS.has(type));
    }
    for (const [accountId, ends] of mayEnd) {
      for (const listener of this.#listeners.get(accountId) ?? []) listener(ends);
    }
  }
}

/** The account's last event that the client knows of. */
interface Place {
  readonly number: number;
  readonly position: bigint;
  /** The client missed so much that it is not sent. */
  readonly isReset: boolean;
}

/** The position that the client has seen all changes up to; undefined where it has seen none. */
function lastEventOf(ctx: HttpContext, issues: ValidationIssues): bigint | undefined {
  const text = ctx.get('Last-Event-ID');
  if (text === '') return undefined;
  if (/^\d{1,18}$/.test(text)) return BigInt(text);
  issues.add('Last-Event-ID', 'Must be the id of an event of this stream.');
  return undefined;
}

async function startOf(
  ctx: HttpContext,
  deps: RouteDependencies,
  accountId: string,
  seen: bigint | undefined,
): Promise<Place> {
  const history = await consistentQuery(deps, historyQueries, ctx.state.asOf);
  const total = history.countUpTo(accountId);
  const last = history.position(accountId, total) ?? 0n;
  const present = { number: total, position: last };
  if (seen === undefined) return { ...present, isReset: false };
  const number = history.countUpTo(accountId, { position: seen });
  // No log has positions beyond its end: the client knows another one.
  const isBeyond = seen > (ctx.state.asOf ?? last);
  if (isBeyond || total - number > MAX_MISSED) return { ...present, isReset: true };
  return { number, position: seen, isReset: false };
}

/** Changes after a number up to another, with the records that the same moment has of them. */
function changesBetween({ readModel }: RouteDependencies, accountId: string, after: number) {
  const history = readModel.query(historyQueries);
  const upTo = Math.min(history.countUpTo(accountId), after + SLICE);
  const conversions = readModel.query(conversionQueries);
  const changes = history.changes(accountId, after, upTo, CHANGES).flatMap((change) => {
    const row = conversions.byId(change.conversionId);
    return row === undefined ? [] : [{ position: change.position, row }];
  });
  // The read model may be behind for a moment after a rebuild.
  return { changes, upTo: Math.max(after, upTo) };
}

const eventText = (name: string, position: bigint, data: object): string =>
  `event: ${name}\nid: ${position}\ndata: ${JSON.stringify(data)}\n\n`;

/**
 * The text of the stream. What is sent is read when the client takes it, so that a slow one costs no memory:
 * it gets fewer events, as several changes of a conversion become one.
 */
async function* follow(
  ctx: HttpContext,
  deps: RouteDependencies,
  news: AccountNews,
  { number, position, isReset }: Place,
): AsyncGenerator<string, void> {
  const { accountId } = callerOf(ctx);
  const over = AbortSignal.any([disconnection(ctx), deps.closing]);
  let woken = Promise.withResolvers<void>();
  const wake = (): void => woken.resolve();
  let isDue = false;
  let dueAt = performance.now() + PING_MS;
  const endListening = news.listen(accountId, (mayEnd) => {
    isDue ||= mayEnd;
    wake();
  });
  const credentialHolds = async (): Promise<boolean> => {
    if (!isDue && performance.now() < dueAt) return true;
    isDue = false;
    dueAt = performance.now() + PING_MS;
    const caller = await deps.findCaller(ctx);
    // What they may see is not what it was when the stream began.
    ctx.state.caller = caller;
    return caller?.accountId === accountId;
  };
  over.addEventListener('abort', wake);
  try {
    yield `retry: ${RECONNECT_MS}\nid: ${position}\n\n`;
    if (isReset) yield eventText('reset', position, {});
    let pingAt = performance.now() + PING_MS;
    for (let after = number; !over.aborted; ) {
      woken = Promise.withResolvers<void>();
      if (!(await credentialHolds())) return;
      const { changes, upTo } = changesBetween(deps, accountId, after);
      for (const change of changes) {
        if (over.aborted || !(await credentialHolds())) return;
        if (!mayShow(ctx, change.row)) continue;
        yield eventText('conversion', change.position, await listedRecordOf(ctx, deps, change.row));
      }
      if (upTo > after) {
        after = upTo;
        continue;
      }
      const timer = setTimeout(wake, Math.max(0, pingAt - performance.now()));
      if (!over.aborted) await woken.promise;
      clearTimeout(timer);
      if (performance.now() < pingAt) continue;
      pingAt = performance.now() + PING_MS;
      isDue = true;
      yield ': ping\n\n';
    }
  } catch (err) {
    // The client connects again, and then gets the error.
    if (!(err instanceof KeyErased)) ctx.state.log.warn({ err }, 'A stream was cut off.');
  } finally {
    over.removeEventListener('abort', wake);
    endListening();
  }
}

/** @throws {BudgetExceeded} */
function countStream(ctx: HttpContext, { budgets }: RouteDependencies, accountId: string): void {
  const ofAccount = budgets.get('maxAccountStreams').take(1, accountId);
  if (ofAccount === undefined) {
    const message = 'Too many streams of the account are open. Close some of them.';
    throw new BudgetExceeded('client', message, RETRY_SECONDS);
  }
  const ofAll = budgets.get('maxStreams').take();
  if (ofAll === undefined) {
    ofAccount();
    throw new BudgetExceeded('service', 'Too many streams are open.', RETRY_SECONDS);
  }
  releaseAtEnd(ctx, () => {
    ofAccount();
    ofAll();
  });
}

export const streamConversions: Endpoint = {
  doc: {
    id: 'streamConversions',
    tag: 'Conversions',
    summary: 'Follow conversions',
    description:
      'Server-sent events, for as long as the client stays connected: an event `conversion` for each change of a conversion of the account. Its data is the conversion as it is then, and its id a position of the log. Changes that follow each other quickly may come as one event. Send the last id as `Last-Event-ID` to go on after a lost connection, with all that has changed since. An event `reset` says that too much has changed: list the conversions again. A line `: ping` comes every 15 seconds. The stream ends when the credential ends; with an access token, connect again with a new one.',
    parameters: [
      inHeader(
        'Last-Event-ID',
        'The id of the last event that the client has received. Without it, the stream begins with the next change.',
      ),
    ],
    answers: { 200: { description: 'The events.', media: 'text/event-stream' } },
    errors: {
      validation_error: wrongField(
        'Last-Event-ID',
        'Must be the id of an event of this stream.',
        'The Last-Event-ID is not the id of an event, or a query parameter was sent.',
      ),
      rate_limit_exceeded:
        'More requests than a minute allows, or too many streams of the account are open.',
    },
  },
  handler: (deps) => {
    const news = new AccountNews(deps.runner);
    return async (ctx) => {
      const { accountId } = callerOf(ctx);
      const issues = new ValidationIssues();
      checkQuery(ctx, issues, []);
      const seen = lastEventOf(ctx, issues);
      issues.throwIfAny();
      const isFollowed = ctx.method !== 'HEAD';
      if (isFollowed) countStream(ctx, deps, accountId);
      const start = await startOf(ctx, deps, accountId, seen);
      ctx.status = 200;
      ctx.type = 'text/event-stream';
      // nginx would hold back what is sent.
      ctx.set('X-Accel-Buffering', 'no');
      if (isFollowed)
        ctx.body = Readable.from(follow(ctx, deps, news, start), { objectMode: false });
    };
  },
};
