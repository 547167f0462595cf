/** One deployment that is moved from place to place, with kills on the way and writes between the passes. */
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { cliJson, runCli } from './cli.ts';
import { bytesBelow, KEPT, killedMove, makeMovable, type Verified, verified } from './movable.ts';
import { startNatsServer } from './nats-server.ts';
import type { Place } from './place.ts';
import { s3Url } from './nodes.ts';
import { s3Credentials, startS3Server } from './s3-server.ts';

interface Hop {
  readonly name: string;
  /** Settings of the new place, besides DATA_DIR. */
  readonly settings: Readonly<Record<string, string>>;
  readonly options: readonly string[];
  /** Bytes that have come to the new place for documents, outside of the new DATA_DIR. */
  readonly written: () => number;
}

export interface HopResult {
  readonly name: string;
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
  /** The places that it is moved to, of the three. */
  readonly places: number;
}

/**
 * SQLite and files, to another SQLite file and NATS, to a third one and S3, and back to files.
 * @param place nothing is there yet
 * @throws {Error} a place holds something else than the one before it
 */
export async function moveAround(
  t: Pick<Test, 'teardown'>,
  place: Place,
  { events, documents, kills, places }: MoveAroundOptions,
  tell: (result: HopResult) => void,
): Promise<void> {
  const [nats, s3] = [await startNatsServer(t), await startS3Server(t)];
  let here: Place = { ...place, env: { ...place.env, ...KEPT } };
  const { root } = await makeMovable(here, events, documents);
  assert.ok(root);
  const masterKey = readFileSync(join(here.dataDir, 'master.key'), 'utf8');
  const shared = { MASTER_KEY: masterKey };
  const stored = (): number =>
    [...s3.objects.values()].reduce((sum, { length }) => sum + length, 0);
  const folder = (name: string): string => join(place.tmpDir, name);
  const hops: readonly Hop[] = [
    {
      name: 'nats',
      settings: { ...shared, NATS_URL: nats.url, BLOB_STORE_URL: 'nats:' },
      options: ['--to-blobs', 'nats:', '--to-nats', nats.url],
      written: () => bytesBelow(nats.storeDir),
    },
    {
      name: 's3',
      settings: {
        ...shared,
        BLOB_STORE_URL: s3Url(s3.location),
        AWS_ACCESS_KEY_ID: s3Credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: s3Credentials.secretAccessKey,
      },
      options: ['--to-blobs', s3Url(s3.location)],
      written: stored,
    },
    {
      name: 'files',
      settings: shared,
      options: ['--to-blobs', 'files'],
      written: () => 0,
    },
  ];
  for (const hop of hops.slice(0, places)) {
    here = await moveOn(here, { ...hop, kills }, folder(hop.name), tell);
  }
}

async function moveOn(
  old: Place,
  { name, settings, options, written, kills }: Hop & { readonly kills: number },
  dataDir: string,
  tell: (result: HopResult) => void,
): Promise<Place> {
  const own = ['NATS_URL', 'BLOB_STORE_URL'];
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
  const ahead = await killedMove(moving, ['--ahead', ...args], grown, size / (kills + 1));
  await writeMeanwhile(old, name);
  const caughtUp = await verified(old);
  const last = await killedMove(moving, args, grown, LAST_STEP_BYTES);
  const refused = await runCli(old, ['account', 'list']);
  assert.match(refused.stderr, /^pressledger: This log was moved to SQLite in /);
  const found = await verified(place);
  assert.deepEqual(found, { ...caughtUp, seconds: found.seconds });
  await cliJson(place, ['projections', 'rebuild']);
  await checkKeys(place, name);
  tell({ name, kills: ahead.kills + last.kills, seconds: last.seconds, verified: found });
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
