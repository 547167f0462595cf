/** One deployment that is moved from place to place, with kills on the way and writes between the passes. */
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { cliJson, runCli } from './cli.ts';
import { emptyLogUrl, serverPlace } from './event-store-server.ts';
import {
  bytesBelow,
  KEPT,
  killedMove,
  makeMovable,
  rebuild,
  type Verified,
  verified,
} from './movable.ts';
import { startNatsServer } from './nats-server.ts';
import { s3Url, startWire } from './nodes.ts';
import type { Place } from './place.ts';
import { s3Credentials, startS3Server } from './s3-server.ts';

/** Where a log can go on the way, with the documents. */
export type StopName = 'nats' | 's3' | 'server and s3' | 'files';

type Scope = Pick<Test, 'teardown'>;

interface Hop {
  readonly name: StopName;
  /** Settings of the new place, besides DATA_DIR. */
  readonly settings: Readonly<Record<string, string>>;
  readonly options: readonly string[];
  /** Bytes that have come to the new place, outside of the new DATA_DIR. */
  readonly written: () => number;
}

export interface HopResult {
  readonly name: StopName;
  readonly kills: number;
  /** Seconds of the last step, in which the old place takes no writes: its last, undisturbed run. */
  readonly seconds: number;
  readonly verified: Verified;
}

/** Bytes that come in the last step before it is killed: less than what was written since the pass before. */
const LAST_STEP_BYTES = 1000;

export interface MoveAroundOptions {
  readonly events: number;
  readonly documents: number;
  /** Kills of the first pass to each place, about. */
  readonly kills: number;
  /** The places that it is moved to, each once. */
  readonly stops: readonly StopName[];
}

/**
 * From SQLite and files: each time to another SQLite file or an event-store server, and another place for documents.
 * @param place nothing is there yet
 * @throws {Error} a place holds something else than the one before it
 */
export async function moveAround(
  t: Scope,
  place: Place,
  { events, documents, kills, stops }: MoveAroundOptions,
  tell: (result: HopResult) => void,
): Promise<void> {
  let here: Place = { ...place, env: { ...place.env, ...KEPT } };
  const { root } = await makeMovable(here, events, documents);
  assert.ok(root);
  const masterKey = readFileSync(join(here.dataDir, 'master.key'), 'utf8');
  for (const name of stops) {
    const hop = await HOPS[name](t);
    const settings = { MASTER_KEY: masterKey, ...hop.settings };
    const folder = join(place.tmpDir, name.replaceAll(' ', '-'));
    here = await moveOn(here, { ...hop, settings, name, kills }, folder, tell);
  }
}

const HOPS: Readonly<Record<StopName, (t: Scope) => Promise<Omit<Hop, 'name'>>>> = {
  nats: async (t) => {
    const { url, storeDir } = await startNatsServer(t);
    return {
      settings: { NATS_URL: url, BLOB_STORE_URL: 'nats:' },
      options: ['--to-blobs', 'nats:', '--to-nats', url],
      written: () => bytesBelow(storeDir),
    };
  },
  s3: toS3,
  'server and s3': async (t) => {
    const { settings, options, written } = await toS3(t);
    const wire = await startWire(t, serverPlace());
    const url = emptyLogUrl(undefined, wire.place);
    return {
      settings: { ...settings, EVENT_STORE_URL: url },
      options: [...options, '--to-event-store', url],
      written: () => written() + wire.sentBytes,
    };
  },
  files: async () => ({
    settings: {},
    options: ['--to-blobs', 'files', '--to-event-store', 'sqlite'],
    written: () => 0,
  }),
};

async function toS3(t: Scope): Promise<Omit<Hop, 'name'>> {
  const s3 = await startS3Server(t);
  const url = s3Url(s3.location);
  return {
    settings: {
      BLOB_STORE_URL: url,
      AWS_ACCESS_KEY_ID: s3Credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: s3Credentials.secretAccessKey,
    },
    options: ['--to-blobs', url],
    written: () => [...s3.objects.values()].reduce((sum, { length }) => sum + length, 0),
  };
}

async function moveOn(
  old: Place,
  { name, settings, options, written, kills }: Hop & { readonly kills: number },
  dataDir: string,
  tell: (result: HopResult) => void,
): Promise<Place> {
  const own = ['NATS_URL', 'BLOB_STORE_URL', 'EVENT_STORE_URL'];
  const kept = Object.fromEntries(
    Object.entries(old.env).filter(([setting]) => !own.includes(setting)),
  );
  const place = { ...old, dataDir, env: { ...kept, ...settings, DATA_DIR: dataDir } };
  const credentials = Object.entries(settings).filter(([setting]) => setting.startsWith('AWS_'));
  const there = Object.fromEntries(credentials.map(([setting, text]) => [`TO_${setting}`, text]));
  const moving: Place = { ...old, env: { ...old.env, ...there } };
  const args = [...options, '--to-data-dir', dataDir];
  const grown = (): number => written() + bytesBelow(dataDir);
  const before = await verified(old);
  const size = bytesBelow(old.dataDir) + before.documents.bytes;
  const ahead = await killedMove(moving, ['--ahead', ...args], grown, size / (kills + 1), kills);
  const word = name.replaceAll(' ', '-');
  await writeMeanwhile(old, word);
  const caughtUp = await verified(old);
  const last = await killedMove(moving, args, grown, LAST_STEP_BYTES, kills);
  const refused = await runCli(old, ['account', 'list']);
  assert.match(refused.stderr, /^pressledger: This log was moved to /);
  const found = await verified(place);
  assert.deepEqual(found, { ...caughtUp, seconds: found.seconds });
  tell({ name, kills: ahead.kills + last.kills, seconds: last.seconds, verified: found });
  await rebuild(place);
  await checkKeys(place, word);
  return place;
}

/** An account that is new, one that is erased, and a checkpoint. */
async function writeMeanwhile(place: Place, name: string): Promise<void> {
  await cliJson(place, ['account', 'create', `${name}@example.com`]);
  await cliJson(place, ['account', 'create', `gone-${name}@example.com`]);
  await cliJson(place, ['account', 'erase', `gone-${name}@example.com`, '--yes']);
  await cliJson(place, ['tlog', 'checkpoint']);
}

/** Addresses are sealed with the accounts' keys, and tell that these came along. */
async function checkKeys(place: Place, name: string): Promise<void> {
  const { stdout } = await runCli(place, ['account', 'list']);
  assert.match(stdout, /ann@example\.com/);
  assert.match(stdout, new RegExp(`\t${name}@example\\.com`));
  assert.doesNotMatch(stdout, /gone-/);
}
