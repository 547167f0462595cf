/** A backup goes from SQLite and files to other stores, from there to a bucket, and back. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { keyringText } from '../../src/archive/keyring-file.ts';
import { fingerprintOf } from '../../src/documents/keys/master-key.ts';
import { cliJson } from '../support/cli.ts';
import { emptyLogUrl, needsEventStoreServer } from '../support/event-store-server.ts';
import { startNatsServer } from '../support/nats-server.ts';
import { createPlace, type Place } from '../support/place.ts';
import { s3Credentials, startS3Server } from '../support/s3-server.ts';
import { accountId, NOW } from '../support/samples.ts';
import { signedLog } from '../support/signed-log.ts';

const MASTER_KEY = '11'.repeat(32);

const placeOf = (place: Place, env: Readonly<Record<string, string>>): Place => ({
  ...place,
  env: { ...place.env, ...env },
});

/** A keyring of the accounts of `signedLog`, one of them erased. */
function writeKeyring(path: string): void {
  const records = new Map([
    ['keyring.id', '22'.repeat(16)],
    [`${accountId(1)}.key`, 'v1.wrapped'],
    [`${accountId(2)}.erased`, ''],
  ]);
  const masterKey = fingerprintOf(Buffer.from(MASTER_KEY, 'hex'));
  writeFileSync(path, keyringText({ madeAt: NOW, masterKey, records }));
}

async function throughStores(t: Test, eventStore: Readonly<Record<string, string>>): Promise<void> {
  const dataDir = await signedLog(t);
  const server = await startS3Server(t);
  const nats = await startNatsServer(t);
  const { endpoint, region } = server.location;
  const bucket = `s3://pressledger/backups?endpoint=${endpoint}&region=${region}`;
  const plain = createPlace(t, {
    MASTER_KEY,
    AWS_ACCESS_KEY_ID: s3Credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3Credentials.secretAccessKey,
    // The sample's files are old: they are not due for deletion.
    RETENTION_SECONDS: '315360000',
  });
  const source = placeOf(plain, { DATA_DIR: dataDir });
  const folder = join(plain.tmpDir, 'backup');
  const made = (await cliJson(source, ['backup', folder])) as { root: string; events: number };
  const keyring = join(plain.tmpDir, 'keyring.jsonl');
  writeKeyring(keyring);

  const own = join(plain.tmpDir, 'own');
  mkdirSync(own);
  const shared = placeOf(plain, {
    DATA_DIR: own,
    BLOB_STORE_URL: 'nats:',
    NATS_URL: nats.url,
    ...eventStore,
  });
  const restore = ['--keyring', keyring, '--new-origin'];
  const there = await cliJson(shared, ['restore', folder, ...restore]);
  t.match(there, { events: made.events, documents: 7, missing: 0, erased: [accountId(2)] });
  const { origin } = there as { origin: string };
  const verified = await cliJson(shared, ['verify', '--documents']);
  t.match(verified, { ok: true, origin, events: made.events + 2, documents: { files: 7 } });

  t.match(await cliJson(shared, ['backup', bucket]), { events: made.events + 2, documents: 7 });
  const keys = join(plain.tmpDir, 'keys.jsonl');
  t.match(await cliJson(shared, ['backup', 'keyring', keys]), { keys: 1, erased: 1 });
  t.match(await cliJson(plain, ['backup', 'verify', bucket]), { ok: true, documents: 7 });

  const back = placeOf(plain, { DATA_DIR: join(plain.tmpDir, 'back') });
  t.match(await cliJson(back, ['restore', bucket, '--keyring', keys, '--new-origin']), {
    events: made.events + 2,
    documents: 7,
    erased: [],
  });
  t.match(await cliJson(back, ['verify', '--documents']), { ok: true, documents: { files: 7 } });
}

void test('a backup goes from files to NATS, to a bucket and back', async (t) => {
  await throughStores(t, {});
});

void test(
  'a backup goes from SQLite to a server, to a bucket and back',
  needsEventStoreServer,
  async (t) => {
    await throughStores(t, { EVENT_STORE_URL: emptyLogUrl() });
  },
);
