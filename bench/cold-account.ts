/**
 * How long a cold account takes to answer: nothing of it in memory, the node's snapshots on disk.
 * A long account beside one with 100 events, then one with 100,000 live idempotency keys.
 *
 *   node bench/cold-account.ts [events of the long account]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_LIMITS } from '../src/actors/command.ts';
import { type SnapshotCache, SqliteSnapshots } from '../src/actors/snapshots.ts';
import { ActorSystem } from '../src/actors/system.ts';
import { accountAggregate } from '../src/domain/account.ts';
import type { DomainEvent } from '../src/domain/events.ts';
import { encodeEvent } from '../src/event-store/codec.ts';
import type { NewEvent } from '../src/event-store/port.ts';
import { SqliteEventStore } from '../src/event-store/sqlite/store.ts';
import { openEmbeddedDatabase } from '../src/sqlite/database.ts';
import { eventId } from '../src/time/ids.ts';
import { noSnapshots, OPEN, request, sentBy } from '../test/support/actors.ts';
import {
  accountId,
  blobRef,
  conversionId,
  HOUR_MS,
  NOW,
  OPTIONS,
  REQUEST_HMAC,
  sha256,
} from '../test/support/samples.ts';

const ROUNDS = 31;
const WARM_UP = 5;
const APPEND = 2_000;
const LIVE_KEYS = 100_000;
const longest = Number(process.argv[2] ?? 1_000_000);

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const ms = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const dir = mkdtempSync(join(tmpdir(), 'pressledger-bench-'));
const database = openEmbeddedDatabase(join(dir, 'store.db'));
const store = new SqliteEventStore(database);
const snapshots = new SqliteSnapshots(join(dir, 'snapshots.db'));

/** An account's events: opened, granted, then a debit and a request each `everyMs` until NOW. */
function eventAt(n: number, count: number, everyMs: number): DomainEvent {
  if (n === 0) {
    const { email, passwordHash, plan } = OPEN;
    return { type: 'AccountOpened', data: { accountId: accountId(), email, passwordHash, plan } };
  }
  if (n === 1) {
    return { type: 'CreditGranted', data: { accountId: accountId(), amount: 1_000_000_000 } };
  }
  const of = { accountId: accountId(), conversionId: conversionId(n - (n % 2)) };
  if (n % 2 === 0) return { type: 'CreditDebited', data: { ...of, amount: 1 } };
  return {
    type: 'ConversionRequested',
    data: {
      ...of,
      source: 'html',
      request: blobRef('request', n),
      requestHmac: REQUEST_HMAC,
      options: OPTIONS,
      requestedAt: NOW - Math.floor(((count - n) / 2) * everyMs),
      idempotencyKey: sha256(n),
    },
  };
}

/** Appends an account's events from the `from`th up to the `count`th, straight to the store. */
async function build(id: string, from: number, count: number, everyMs: number): Promise<void> {
  const stream = accountAggregate.stream(id);
  for (let n = from; n < count; n += APPEND) {
    const events: NewEvent[] = [];
    for (let m = n; m < Math.min(n + APPEND, count); m += 1) {
      const event = eventAt(m, count, everyMs);
      events.push(encodeEvent(eventId(`${id}/${m}`), event, sentBy(`${id}/${m}`).metadata));
    }
    await store.append(stream, events, n === 0 ? 'no-stream' : n - 1);
  }
}

/** Milliseconds until a new actor system answers; what it read is then kept, where there is a cache. */
async function cold(id: string, cache: SnapshotCache): Promise<number> {
  const began = performance.now();
  const system = new ActorSystem({ store, snapshots: cache });
  await system.read(accountAggregate, id);
  const took = performance.now() - began;
  await system.close();
  return took;
}

/** Milliseconds for each of 6,400 requests that 64 clients send. */
async function perRequest(system: ActorSystem, id: string, round: number): Promise<number> {
  let sent = 0;
  const client = async (): Promise<void> => {
    while (sent < 6_400) {
      sent += 1;
      const n = 10_000_000 + round * 10_000 + sent;
      await system.send(accountAggregate, id, request(n, sha256(n)), sentBy(`${id}/${n}`));
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: 64 }, client));
  return (performance.now() - began) / 6_400;
}

/** Both accept 49 conversions a day, so that only the length of their history differs. */
const EVERY_MS = (24 * HOUR_MS) / 49;

/** What a killed process left: nothing is kept while it is measured. */
const asLeft: SnapshotCache = {
  get: (stream, version) => snapshots.get(stream, version),
  put: () => {},
  close: () => {},
};

async function compare(what: string, cacheOfShort: SnapshotCache): Promise<void> {
  const rounds = [];
  for (let round = 0; round < ROUNDS + WARM_UP; round += 1) {
    const one = { long: await cold('long', asLeft), short: await cold('short', cacheOfShort) };
    if (round >= WARM_UP) rounds.push(one);
  }
  const long = median(rounds.map((round) => round.long));
  const short = median(rounds.map((round) => round.short));
  say(`  ${what}  long ${ms(long)}, short ${ms(short)}, ratio ${(long / short).toFixed(2)}`);
}

async function longAccount(): Promise<void> {
  say(`building an account with ${longest.toLocaleString('en')} events, and one with 100…`);
  await build('long', 0, longest, EVERY_MS);
  await build('short', 0, 100, EVERY_MS);
  const uncached = await cold('long', noSnapshots);
  await cold('long', snapshots);
  await cold('short', snapshots);
  await compare('stopped in order         ', asLeft);
  // Fewer events than bring the next snapshot; the short account never had one.
  const behind = DEFAULT_LIMITS.snapshotEvery - 2;
  await build('long', longest, longest + behind, EVERY_MS);
  await compare(`killed ${behind} events after one`, noSnapshots);
  say(`  without a snapshot         long ${ms(uncached)}`);
}

async function manyKeys(): Promise<void> {
  say(`building an account with ${LIVE_KEYS.toLocaleString('en')} live idempotency keys…`);
  await build('keys', 0, 2 * LIVE_KEYS, (23 * HOUR_MS) / LIVE_KEYS);
  await build('few', 0, 22, HOUR_MS);
  const uncached = await cold('keys', noSnapshots);
  await cold('keys', snapshots);
  const cached = [];
  for (let round = 0; round < 5; round += 1) cached.push(await cold('keys', snapshots));
  say(`  cold ${ms(median(cached))}, without a snapshot ${ms(uncached)}`);
  const system = new ActorSystem({ store, snapshots });
  const rounds = [];
  for (let round = 0; round <= 5; round += 1) {
    const one = {
      many: await perRequest(system, 'keys', round),
      few: await perRequest(system, 'few', round),
    };
    if (round > 0) rounds.push(one);
  }
  await system.close();
  const ratio = median(rounds.map(({ many, few }) => many / few));
  say(
    `  per request ${ms(median(rounds.map(({ many }) => many)))}, with ten keys at first ` +
      `${ms(median(rounds.map(({ few }) => few)))}, ratio ${ratio.toFixed(2)}`,
  );
}

try {
  await longAccount();
  await manyKeys();
} finally {
  snapshots.close();
  await store.close();
  database.close();
  rmSync(dir, { recursive: true });
}
