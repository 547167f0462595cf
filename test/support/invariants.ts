/**
 * The numbered invariants of a log: they hold after any fault, and are computed from nothing but its events.
 */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { MAX_ATTEMPTS } from '../../src/domain/conversion.ts';
import type { EventOf, EventType } from '../../src/domain/events.ts';
import { decodeEvent, encodeEvent } from '../../src/event-store/codec.ts';
import { DAY_MS } from './samples.ts';

export interface LogEvent {
  readonly position: number;
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

type Placed<T extends EventType = EventType> = EventOf<T> &
  Pick<LogEvent, 'position' | 'stream' | 'revision' | 'metadata'>;

/** All events of a data directory, read without the product's own code. */
export function readLog(dataDir: string): LogEvent[] {
  const db = new Sqlite(join(dataDir, 'pressledger.db'), { readonly: true });
  try {
    return db.prepare<[], LogEvent>('SELECT * FROM events ORDER BY position').all();
  } finally {
    db.close();
  }
}

function isOf<T extends EventType>(...types: readonly T[]) {
  return (event: Placed): event is Placed<T> & Placed => types.some((type) => type === event.type);
}

/** 8: positions and revisions without gaps, ids once, every event of its schema. */
function brokenOrder(log: readonly LogEvent[]): string[] {
  const broken: string[] = [];
  const revisions = new Map<string, number>();
  const ids = new Set<string>();
  log.forEach(({ position, stream, revision, id }, index) => {
    if (position !== index + 1) broken.push(`position ${position} is at place ${index + 1}`);
    const expected = (revisions.get(stream) ?? -1) + 1;
    if (revision !== expected) broken.push(`${stream}: revision ${revision}, not ${expected}`);
    revisions.set(stream, revision);
    if (ids.has(id)) broken.push(`event id ${id} is there twice`);
    ids.add(id);
  });
  return broken;
}

function decodeAll(log: readonly LogEvent[], broken: string[]): Placed[] {
  return log.flatMap(({ position, stream, revision, id, type, data, metadata }) => {
    const recorded = {
      id,
      type,
      data: JSON.parse(data) as object,
      metadata: JSON.parse(metadata) as object,
      stream,
      revision,
      position: BigInt(position),
    };
    try {
      const event = decodeEvent(recorded);
      encodeEvent(id, event, recorded.metadata as Parameters<typeof encodeEvent>[2]);
      return [{ ...event, position, stream, revision, metadata }];
    } catch (error) {
      broken.push(`position ${position}: ${String(error)}`);
      return [];
    }
  });
}

const CREDIT_SIGN: Readonly<Record<string, number>> = {
  CreditGranted: 1,
  CreditRefunded: 1,
  CreditDebited: -1,
};

/** 3: the balance at every version of the stream. */
function brokenBalance(stream: string, events: readonly Placed[]): string[] {
  let balance = 0;
  return events.flatMap(({ type, data, revision }) => {
    balance += 'amount' in data ? (CREDIT_SIGN[type] ?? 0) * data.amount : 0;
    return balance < 0 ? [`${stream}@${revision}: the balance is ${balance}`] : [];
  });
}

/** 4: each debit and its request lie one behind the other, of one command. What costs nothing has none. */
function brokenPairs(stream: string, events: readonly Placed[]): string[] {
  return events.flatMap((event, index) => {
    const [debit, request] =
      event.type === 'CreditDebited' ? [event, events[index + 1]] : [events[index - 1], event];
    if (event.type !== 'CreditDebited' && event.type !== 'ConversionRequested') return [];
    const isUnpaid = event.type === 'ConversionRequested' && event.data.unpaid === true;
    if (isUnpaid && debit?.type !== 'CreditDebited') return [];
    const together =
      debit?.type === 'CreditDebited' &&
      request?.type === 'ConversionRequested' &&
      request.data.unpaid === undefined &&
      request.data.conversionId === debit.data.conversionId &&
      request.position === debit.position + 1 &&
      request.metadata === debit.metadata;
    return together ? [] : [`${stream}@${event.revision}: ${event.type} without its pair`];
  });
}

/** 4: the requests of a batch lie behind it, of one command, and as many as it says. */
function brokenBatches(stream: string, events: readonly Placed[]): string[] {
  return events.filter(isOf('BatchRequested')).flatMap(({ data, revision, position }) => {
    const { batchId, total, unpaid } = data;
    const own = events
      .filter(isOf('ConversionRequested'))
      .filter((each) => each.data.batchId === batchId);
    const last = own.at(-1)?.position ?? 0;
    const isWhole = own.length === total && last === position + (unpaid === true ? 1 : 2) * total;
    return isWhole ? [] : [`${stream}@${revision}: ${own.length} requests of ${total}`];
  });
}

/** 5: one key, one conversion or batch in 24 hours. */
function brokenIdempotency(stream: string, events: readonly Placed[]): string[] {
  const last = new Map<string, number>();
  return events
    .filter(isOf('ConversionRequested', 'BatchRequested'))
    .flatMap(({ data, revision }) => {
      const { idempotencyKey: key, requestedAt } = data;
      if (key === undefined) return [];
      const before = last.get(key);
      last.set(key, requestedAt);
      return before !== undefined && requestedAt - before < DAY_MS
        ? [`${stream}@${revision}: a key was accepted twice in 24 hours`]
        : [];
    });
}

const isTerminal = isOf('ConversionCompleted', 'ConversionFailed');

/** 2, 4, 7: one conversion's life, its tries and its refund. */
function brokenConversion(
  request: Placed<'ConversionRequested'>,
  life: readonly Placed[],
  refunds: readonly Placed<'CreditRefunded'>[],
  { settled, erased }: { settled: boolean; erased: ReadonlySet<string> },
): string[] {
  const { conversionId: id, accountId } = request.data;
  const broken: string[] = [];
  const ends = life.filter(isTerminal);
  if (ends.length > 1) broken.push(`${id} ended ${ends.length} times`);
  if (settled && ends.length === 0) broken.push(`${id} has not ended`);
  const [end] = ends;
  const stray = life.find(({ data }) => 'accountId' in data && data.accountId !== accountId);
  if (stray) broken.push(`${id}: ${stray.type} names another account`);
  const late = life.find(
    (event) => end && event.type === 'ConversionStarted' && event.position > end.position,
  );
  if (late) broken.push(`${id} started after its end`);
  const early = life.find(
    (event) =>
      (event.type === 'ConversionDeleted' ||
        event.type === 'ConversionExpired' ||
        event.type === 'ConversionOutcomeIgnored') &&
      !(end && end.position < event.position),
  );
  if (early) broken.push(`${id}: ${early.type} before its end`);
  let tries = 0;
  for (const { type } of life) {
    if (type === 'ConversionStarted') tries += 1;
    if (type === 'ConversionRequeued') tries -= 1;
    if (tries > MAX_ATTEMPTS) broken.push(`${id} was tried ${tries} times`);
  }
  const [refund, ...more] = refunds;
  if (more.length > 0) broken.push(`${id} was refunded ${refunds.length} times`);
  if (refund && end?.type !== 'ConversionFailed') broken.push(`${id} was refunded and not failed`);
  if (refund && refund.data.failedAt !== `${end?.position}`) {
    broken.push(`${id}: its refund answers ${refund.data.failedAt}, not ${end?.position}`);
  }
  const { unpaid } = request.data;
  if (refund && unpaid) broken.push(`${id} was refunded and not paid`);
  const isDue = end?.type === 'ConversionFailed' && !erased.has(accountId) && !unpaid;
  if (settled && !refund && isDue) broken.push(`${id} was not refunded`);
  return broken;
}

/** 9: nothing is done with a key after it was revoked. */
function brokenKeys(streams: ReadonlyMap<string, readonly Placed[]>): string[] {
  return [...streams].flatMap(([stream, events]) => {
    const revoked = events.findIndex(({ type }) => type === 'KeyRevoked');
    return revoked >= 0 && revoked < events.length - 1 ? [`${stream} lives on after its end`] : [];
  });
}

/**
 * Everything that is wrong with the log; nothing is what a test wants.
 * @param settled whether all work is over, so that every conversion has ended and every refund is given
 */
export function violations(log: readonly LogEvent[], { settled }: { settled: boolean }): string[] {
  const broken = brokenOrder(log);
  const events = decodeAll(log, broken);
  const streams = Map.groupBy(events, ({ stream }) => stream);
  for (const [stream, ofStream] of streams) {
    for (const check of [brokenBalance, brokenPairs, brokenBatches, brokenIdempotency]) {
      broken.push(...check(stream, ofStream));
    }
  }
  broken.push(...brokenKeys(streams));
  const refunds = Map.groupBy(
    events.filter(isOf('CreditRefunded')),
    (each) => each.data.conversionId,
  );
  // Nobody is left to give a credit to.
  const erased = new Set(events.filter(isOf('AccountErased')).map(({ data }) => data.accountId));
  const requested = new Set<string>();
  for (const request of events.filter(isOf('ConversionRequested'))) {
    const { conversionId } = request.data;
    if (requested.has(conversionId)) broken.push(`${conversionId} was requested twice`);
    requested.add(conversionId);
    const life = streams.get(`conversion-${conversionId}`) ?? [];
    const given = refunds.get(conversionId) ?? [];
    broken.push(...brokenConversion(request, life, given, { settled, erased }));
  }
  for (const stream of streams.keys()) {
    const [, id] = /^conversion-(.*)$/.exec(stream) ?? [];
    if (id !== undefined && !requested.has(id)) broken.push(`${id} lives without a request`);
  }
  return broken;
}

/** granted − debited + refunded of an account, from the log alone. */
export function balanceOf(log: readonly LogEvent[], accountId: string): number {
  return log
    .filter(({ stream }) => stream === `account-${accountId}`)
    .reduce((balance, { type, data }) => {
      const { amount } = JSON.parse(data) as { amount?: number };
      return balance + (CREDIT_SIGN[type] ?? 0) * (amount ?? 0);
    }, 0);
}
