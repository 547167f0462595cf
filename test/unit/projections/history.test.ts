import Database from 'better-sqlite3';
import { test } from 'tap';
import { type HistoryFilter, history, historyQueries } from '../../../projections/history.ts';
import type { EventType } from '../../../src/domain/events.ts';
import type { RecordedEvent } from '../../../src/event-store/port.ts';
import { install } from '../../../src/read-model/schema.ts';
import { accountId, conversionId, keyId, NOW } from '../../support/samples.ts';

const TYPES: readonly EventType[] = ['ConversionRequested', 'ConversionCompleted', 'KeyUsed'];
const ACTORS = [
  { kind: 'key', id: keyId(1) },
  { kind: 'key', id: keyId(2) },
  { kind: 'renderer', id: 'key' },
  { kind: 'anonymous' },
] as const;

/** Each type with each actor, of two accounts and a few conversions. */
const EVENTS = Array.from({ length: 240 }, (_, n) => {
  const type = TYPES[n % 3] ?? 'KeyUsed';
  const actor = ACTORS[Math.floor(n / 3) % 4] ?? { kind: 'anonymous' };
  const conversion = type === 'KeyUsed' ? undefined : conversionId(Math.floor(n / 40));
  return { n, type, actor, conversion, account: accountId(1 + (Math.floor(n / 12) % 2)) };
});

const textOf = (actor: (typeof EVENTS)[number]['actor']): string =>
  'id' in actor ? `${actor.kind}:${actor.id}` : actor.kind;

function passes(event: (typeof EVENTS)[number], filter: HistoryFilter): boolean {
  const { type, actor, conversionId: conversion, from = 0, to = Number.MAX_VALUE } = filter;
  return (
    (type === undefined || type === event.type) &&
    (actor === undefined || actor === event.actor.kind || actor === textOf(event.actor)) &&
    (conversion === undefined || conversion === event.conversion) &&
    NOW + event.n >= from &&
    NOW + event.n < to
  );
}

const some = <T>(...values: readonly T[]): readonly (T | undefined)[] => [undefined, ...values];

void test('each filter, and all of them together, finds what it should', (t) => {
  const db = new Database(':memory:');
  t.teardown(() => db.close());
  install(db, [history]);
  const handlers = history.handlers(db);
  for (const { n, type, actor, conversion, account } of EVENTS) {
    const data = { accountId: account, ...(conversion && { conversionId: conversion }) };
    const metadata = { actor, time: NOW + n, correlationId: conversion ?? 'cmd_1' };
    handlers[type]?.({
      position: BigInt(n),
      stream: 's',
      revision: n,
      type,
      data,
      metadata,
    } as unknown as RecordedEvent);
  }
  const queries = historyQueries(db);
  const wrong: object[] = [];
  for (const type of some(...TYPES))
    for (const actor of some('key', `key:${keyId(2)}`, 'anonymous', 'service', 'ke'))
      for (const conversion of some(conversionId(0), conversionId(3), conversionId(99)))
        for (const [from, to] of [[], [NOW + 31, NOW + 180]])
          for (const order of ['newest first', 'oldest first'] as const)
            for (const offset of [0, 4, 1e9]) {
              const filter: HistoryFilter = {
                ...(type && { type }),
                ...(actor !== undefined && { actor }),
                ...(conversion !== undefined && { conversionId: conversion }),
                ...(from !== undefined && to !== undefined && { from, to }),
              };
              const expected = EVENTS.filter(
                (each) => each.account === accountId(1) && passes(each, filter),
              ).map(({ n }) => n);
              if (order === 'newest first') expected.reverse();
              const found = queries.page(accountId(1), filter, { order, offset, limit: 5 });
              const revisions = found.places.map(({ revision }) => revision);
              const right =
                found.total === expected.length &&
                revisions.join() === expected.slice(offset, offset + 5).join();
              if (!right) wrong.push({ filter, order, offset, revisions, total: found.total });
            }
  t.strictSame(wrong, []);
  t.end();
});
