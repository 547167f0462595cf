/** Data directories of a service that has been in use for long: made once, and kept in a folder to be measured. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileKeyring } from '../../src/documents/keys/file-records.ts';
import { loadMasterKey } from '../../src/documents/keys/master-key.ts';
import { createVault } from '../../src/documents/keys/vault.ts';
import type { DomainEvent } from '../../src/domain/events.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import {
  completion,
  expiry,
  failure,
  opening,
  refund,
  request,
  type Step,
  start,
} from '../../test/support/history.ts';
import { LAUNCHER, type Place } from '../../test/support/place.ts';
import { accountId, blobRef, conversionId, sha256 } from '../../test/support/samples.ts';
import { letter } from '../documents.ts';
import { appendSteps } from '../made-up-log.ts';
import { benchPlace, startService, untilCompleted } from '../running-service.ts';
import { MadeUpCheckpoints } from './checkpoints.ts';

/** One conversion of so many is the large account's. */
const LARGE_SHARE = 10;
const PER_ACCOUNT = 500;
/** Conversions of each hundred of an account that fail, and those whose retention has ended. */
const FAILED = 5;
const EXPIRED = 20;
/** Events from one checkpoint to the next: a minute of a service with twelve conversions a minute. */
const CHECKPOINT_EVENTS = 60;
/** Others' conversions are rendered meanwhile. */
const AT_ONCE = 8;
const DOCUMENTS = 20;
/** Each stored request is a row; a short one, so that a store of a million is made in minutes. */
const STORED_BYTES = 200;
const [REQUEST_BYTES, PDF_BYTES, MANIFEST_BYTES] = [2_000, 20_000, 3_000];

/** Nothing is deleted while it is measured, however long ago it was made. */
export const SETTINGS = {
  RETENTION_SECONDS: '3153600000',
  MAX_ACCOUNT_STORED_BYTES: String(2 ** 50),
};

export interface MadeStore {
  /** For `startService`. */
  readonly directory: string;
  readonly conversions: number;
  /** The large account's. */
  readonly apiKey: string;
  readonly accountId: string;
  /** How an operator signs in. */
  readonly operator: { readonly email: string; readonly password: string };
  /** Its conversions that Chrome has printed: their PDFs are there. */
  readonly printed: readonly string[];
}

export interface StoreOptions {
  /** No document is left but those that Chrome has printed: the retention of all others has ended. */
  readonly allExpired?: boolean;
}

/** Ids of completed conversions of the large account that are still stored, from the oldest to the newest. */
export function completedOf({ conversions }: MadeStore): readonly string[] {
  const ids: string[] = [];
  for (let n = LARGE_SHARE; n <= conversions; n += LARGE_SHARE) {
    if (fateOf(n) === 'kept') ids.push(conversionId(n));
  }
  return ids;
}

function fateOf(n: number, { allExpired = false }: StoreOptions = {}) {
  const share = Math.floor(n / LARGE_SHARE) % 100;
  if (share < FAILED) return 'failed';
  return share < 100 - EXPIRED && !allExpired ? 'kept' : 'expired';
}

function* lifeOf(n: number, account: number, options: StoreOptions): Generator<Step> {
  const fate = fateOf(n, options);
  yield start(n, account);
  if (fate === 'failed') {
    yield failure(n, account);
    yield refund(n, account);
  } else yield completion(n, account);
  if (fate !== 'kept') yield expiry(n, account);
}

const othersOf = (conversions: number): number =>
  Math.max(1, Math.round(conversions / PER_ACCOUNT));

/** Every conversion has ended. The first account is the large one, which is open already. */
function* stepsOf(conversions: number, options: StoreOptions): Generator<Step> {
  const others = othersOf(conversions);
  for (let n = 0; n < others; n += 1) yield opening(2 + n, conversions);
  const unended: Iterable<Step>[] = [];
  for (let n = 1; n <= conversions; n += 1) {
    const account = n % LARGE_SHARE === 0 ? 1 : 2 + (n % others);
    yield request(n, account);
    unended.push(lifeOf(n, account, options));
    if (unended.length > AT_ONCE) yield* unended.shift() ?? [];
  }
  for (const life of unended) yield* life;
}

/** What the service would have sealed. */
interface SealedTexts {
  readonly failure: string;
  readonly addresses: ReadonlyMap<string, string>;
}

/** The event with sizes, hashes and sealed texts as the service would have written them. */
function lifelike(event: DomainEvent, sealed: SealedTexts): DomainEvent {
  if (event.type === 'AccountOpened') {
    const email = sealed.addresses.get(event.data.accountId) ?? event.data.email;
    return { ...event, data: { ...event.data, email } };
  }
  if (event.type === 'ConversionRequested') {
    const blob = { ...event.data.request, bytes: REQUEST_BYTES };
    return { ...event, data: { ...event.data, request: blob } };
  }
  if (event.type === 'ConversionCompleted') {
    const { document, manifest, conversionId: id } = event.data;
    const stored = {
      document: { ...document, bytes: PDF_BYTES },
      manifest: { ...manifest, bytes: MANIFEST_BYTES },
      // No two documents are the same.
      pdf: { sha256: sha256(Number(id.slice('conv_'.length))), bytes: PDF_BYTES },
    };
    return { ...event, data: { ...event.data, ...stored } };
  }
  if (event.type !== 'ConversionFailed') return event;
  return { ...event, data: { ...event.data, message: sealed.failure } };
}

function ownedBy(event: DomainEvent, large: string): DomainEvent {
  if (!('accountId' in event.data) || event.data.accountId !== accountId(1)) return event;
  return { ...event, data: { ...event.data, accountId: large } } as DomainEvent;
}

async function appendPast(
  directory: string,
  conversions: number,
  large: string,
  options: StoreOptions,
): Promise<void> {
  const data = join(directory, 'data');
  const masterKey = loadMasterKey(data, undefined);
  const keyring = fileKeyring(join(data, 'keyring'), masterKey);
  const vault = createVault(keyring);
  await vault.makeKey(large);
  const addresses = new Map<string, string>();
  for (let n = 2; n < 2 + othersOf(conversions); n += 1) {
    await vault.makeKey(accountId(n));
    addresses.set(accountId(n), await vault.seal(accountId(n), `account-${n}@example.com`));
  }
  const sealed = {
    failure: await vault.seal(large, 'The page took longer than 30 s.'),
    addresses,
  };
  const database = openEmbeddedDatabase(join(data, 'pressledger.db'));
  const store = new SqliteEventStore(database);
  function* steps(): Generator<Step> {
    for (const { stream, events, ...step } of stepsOf(conversions, options)) {
      yield {
        ...step,
        stream: stream.replace(accountId(1), large),
        events: (position) =>
          events(position).map((event) => ownedBy(lifelike(event, sealed), large)),
      };
    }
  }
  const checkpoints = await MadeUpCheckpoints.after(store, masterKey, CHECKPOINT_EVENTS);
  appendSteps(database, checkpoints.between(steps()), (event) => checkpoints.take(event));
  const keepRequest = database.db.prepare('INSERT INTO blobs VALUES (?, ?)');
  database.db.transaction(() => {
    for (let n = 1; n <= conversions; n += 1) {
      if (fateOf(n, options) === 'kept')
        keepRequest.run(blobRef('request', n).key, Buffer.alloc(STORED_BYTES));
    }
  })();
  await store.close();
  database.close();
}

/** Ends conversions that were accepted and are not to be rendered, while no service runs on the store. */
export async function endAll({ directory, accountId: owner }: MadeStore, ids: readonly string[]) {
  const database = openEmbeddedDatabase(join(directory, 'data/pressledger.db'));
  const store = new SqliteEventStore(database);
  const ended = ids.map((id, index): Step => {
    const n = LARGE_SHARE * (index + 1);
    const stream = `conversion-${id}`;
    const events = [...start(n, 1).events(0n), ...completion(n, 1).events(0n)].map((event) => {
      const { data } = ownedBy(lifelike(event, { failure: '', addresses: new Map() }), owner);
      return { ...event, data: { ...data, conversionId: id } } as DomainEvent;
    });
    return { stream, events: () => events };
  });
  appendSteps(database, ended);
  await store.close();
  database.close();
}

function makeOperator(env: Place['env']): MadeStore['operator'] {
  const email = 'operator@example.com';
  const made = execFileSync(LAUNCHER, ['account', 'create', email, '--json'], { env });
  execFileSync(LAUNCHER, ['account', 'operator', email, '--grant'], { env });
  return { email, password: (JSON.parse(made.toString()) as { password: string }).password };
}

/** Makes the store in the folder, unless it is there from an earlier run. */
export async function makeStore(
  folder: string,
  conversions: number,
  options: StoreOptions = {},
): Promise<MadeStore> {
  const directory = join(folder, String(conversions));
  const made = join(directory, 'made.json');
  if (existsSync(made)) return JSON.parse(readFileSync(made, 'utf8')) as MadeStore;
  rmSync(directory, { recursive: true, force: true });
  const first = await startService(directory, SETTINGS);
  const { id: large } = await first.client.account();
  await first.stop();
  const { env } = benchPlace(directory, SETTINGS);
  const operator = makeOperator(env);
  await appendPast(directory, conversions, large, options);
  execFileSync(LAUNCHER, ['projections', 'rebuild'], { env });
  // The end of a service's life so far: it leaves documents, snapshots and a checkpoint.
  const { apiKey } = first;
  const service = await startService(directory, SETTINGS, 'start', apiKey);
  const printed: string[] = [];
  for (let number = 0; number < DOCUMENTS; number += 1) {
    const { id } = await service.client.create({ html: letter(number) });
    await untilCompleted(service.client, id);
    printed.push(id);
  }
  await service.stop();
  const store: MadeStore = { directory, conversions, apiKey, accountId: large, operator, printed };
  writeFileSync(made, JSON.stringify(store));
  return store;
}
