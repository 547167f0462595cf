import { randomBytes } from 'node:crypto';
import { type Test, test } from 'tap';
import { NatsKeyRecords } from '../../src/documents/keys/nats-records.ts';
import { KeyErased, type KeyRecords } from '../../src/documents/keys/port.ts';
import { openSharedKeyring } from '../../src/documents/keys/records.ts';
import { S3KeyRecords } from '../../src/documents/keys/s3-records.ts';
import { S3Bucket } from '../../src/documents/s3-bucket.ts';
import { S3Objects } from '../../src/documents/s3-objects.ts';
import { newAccountId } from '../../src/time/ids.ts';
import { makingKeys } from '../support/keyring.ts';
import { connectForGood, startNatsServer } from '../support/nats-server.ts';
import { needsS3Server, realS3Bucket } from '../support/s3-real.ts';
import { s3Credentials, startS3Server } from '../support/s3-server.ts';
import { runKeyringContract } from './keyring-contract.ts';

const masterKey = Buffer.alloc(32, 7);
const quick = { tries: 2, idleMs: 500 };
const unavailable = { name: 'KeyringUnavailable' };

/** Each on one server; `records` opens as another node would. */
interface Place {
  readonly records: (create?: boolean) => Promise<KeyRecords>;
  readonly stop: () => Promise<void>;
  readonly start: () => Promise<void>;
  readonly loseData: () => Promise<void>;
}

async function onS3(t: Test): Promise<Place> {
  const server = await startS3Server(t);
  return {
    records: () => {
      const client = new S3Bucket(server.location, s3Credentials, quick);
      t.teardown(() => client.close());
      return S3KeyRecords.open(new S3Objects(client, 'keys/'));
    },
    stop: () => server.stop(),
    start: () => server.start(),
    loseData: async () => server.objects.clear(),
  };
}

async function onNats(t: Test): Promise<Place> {
  const server = await startNatsServer(t);
  return {
    records: async (create = true) => {
      const connection = await connectForGood(t, server.url);
      return NatsKeyRecords.open(connection, { create, timeoutMs: 500 });
    },
    stop: () => server.kill(),
    start: () => server.restart(),
    loseData: () => server.restart({ loseData: true }),
  };
}

for (const [name, place] of [
  ['S3', onS3],
  ['NATS', onNats],
] as const) {
  runKeyringContract({
    name,
    open: async (t) => {
      const { records } = await place(t);
      return async () =>
        openSharedKeyring(await records(), masterKey, { create: true, recheckMs: 0 });
    },
  });

  void test(`${name}: another node's erasure is noticed within the bound`, async (t) => {
    const { records } = await place(t);
    let now = 0;
    const options = { create: true, recheckMs: 1000, now: () => now };
    const one = makingKeys(await openSharedKeyring(await records(), masterKey, options));
    const two = makingKeys(await openSharedKeyring(await records(), masterKey, options));
    const accountId = newAccountId(Date.now());
    const key = await two.dataKey(accountId);
    await one.erase(accountId);
    await t.rejects(one.dataKey(accountId), KeyErased, 'at once where it was erased');
    now = 999;
    t.ok(key.equals(await two.dataKey(accountId)));
    now = 1000;
    await t.rejects(two.dataKey(accountId), KeyErased);
    now = 1001;
    await t.rejects(two.dataKey(accountId), KeyErased, 'it holds the key no longer');
  });

  void test(`${name}: while its server is away the keyring says so, and works when it is back`, async (t) => {
    const { records, stop, start } = await place(t);
    let now = 0;
    const options = { create: true, recheckMs: 1000, now: () => now };
    const keyring = makingKeys(await openSharedKeyring(await records(), masterKey, options));
    const accountId = newAccountId(Date.now());
    const key = await keyring.dataKey(accountId);
    await stop();
    t.ok(key.equals(await keyring.dataKey(accountId)), 'within the bound');
    now = 1000;
    const other = newAccountId(Date.now());
    const tries: Promise<unknown>[] = [
      keyring.dataKey(accountId),
      keyring.dataKey(other),
      keyring.erase(other),
    ];
    const begun = performance.now();
    await Promise.all(tries.map((each) => t.rejects(each.then(String), unavailable)));
    const took = performance.now() - begun;
    t.ok(took < 10_000, `${took} ms`);
    await start();
    const again = makingKeys(await openSharedKeyring(await records(), masterKey, options));
    t.ok(key.equals(await again.dataKey(accountId)));
  });

  void test(`${name}: a node with another master key is stopped at its start`, async (t) => {
    const { records, loseData } = await place(t);
    const options = { create: true, recheckMs: 0 };
    const accountId = newAccountId(Date.now());
    const keyring = makingKeys(await openSharedKeyring(await records(), masterKey, options));
    const key = await keyring.dataKey(accountId);
    await t.rejects(openSharedKeyring(await records(), randomBytes(32), options), {
      message: /^The keyring [^\n]+ made with another master key; set MASTER_KEY to that one\.$/,
    });
    const next = await openSharedKeyring(await records(false), masterKey, {
      ...options,
      create: false,
    });
    t.ok(key.equals(await next.dataKey(accountId)), 'the right one still serves');
    await loseData();
    const lost = records(false).then((emptied) =>
      openSharedKeyring(emptied, masterKey, { ...options, create: false }),
    );
    await t.rejects(lost, {
      message:
        /^There is no keyring in [^\n]+ the event log is not empty: [^\n]+ restore the accounts’ keys from a backup\. If not, set /,
    });
  });

  void test(`${name}: a key lies wrapped, and is gone when erased`, async (t) => {
    const records = await (await place(t)).records();
    const options = { create: true, recheckMs: 0 };
    const keyring = makingKeys(await openSharedKeyring(records, masterKey, options));
    const [one, two] = [newAccountId(Date.now()), newAccountId(Date.now())];
    const key = await keyring.dataKey(one);
    const text = (await records.read(`${one}.key`)) ?? '';
    t.match(text, /^v1\./);
    t.notOk(text.includes(key.toString('base64url')));
    await records.create(`${two}.key`, text);
    await t.rejects(keyring.dataKey(two), { message: /does not open with this master key/ });
    await keyring.erase(one);
    t.equal(await records.read(`${one}.key`), undefined);
    // As if a node that was about to make a key had been halted until now.
    await records.create(`${one}.key`, text);
    await t.rejects(keyring.dataKey(one), KeyErased, 'a key beside its tombstone');
    for (const bad of ['', '..', 'acct_', 'acct_x/../../y', 'master']) {
      await t.rejects(keyring.dataKey(bad), TypeError);
      await t.rejects(keyring.erase(bad), TypeError);
    }
  });
}

runKeyringContract({
  name: 'S3_TEST_URL',
  options: needsS3Server,
  open: async (t) => {
    const client = realS3Bucket();
    t.teardown(() => client.close());
    return async () => {
      const records = await S3KeyRecords.open(new S3Objects(client, 'keys/'));
      return openSharedKeyring(records, masterKey, { create: true, recheckMs: 0 });
    };
  },
});

void test('an account erased while another node makes its key has no key afterwards', async (t) => {
  const records = await (await onS3(t)).records();
  const options = { create: true, recheckMs: 0 };
  const accountId = newAccountId(Date.now());
  const eraser = await openSharedKeyring(records, masterKey, options);
  let erased = false;
  const slow: KeyRecords = {
    create: async (name, text) => {
      if (name === `${accountId}.key` && !erased) {
        erased = true;
        await eraser.erase(accountId);
      }
      return records.create(name, text);
    },
    read: (name) => records.read(name),
    remove: (name) => records.remove(name),
  };
  const maker = makingKeys(await openSharedKeyring(slow, masterKey, options));
  await t.rejects(maker.dataKey(accountId), KeyErased);
  t.ok(erased);
  t.equal(await records.read(`${accountId}.key`), undefined);
});

void test('S3: a server that cannot hold a keyring is said so at the start', async (t) => {
  const server = await startS3Server(t);
  const client = new S3Bucket(server.location, s3Credentials, quick);
  t.teardown(() => client.close());
  const open = async () => {
    const records = await S3KeyRecords.open(new S3Objects(client, 'keys/'));
    return openSharedKeyring(records, masterKey, { create: true, recheckMs: 0 });
  };
  server.conditionalWrites = false;
  await t.rejects(open(), { message: /honours If-None-Match on PUT: this one does not/ });
  await t.rejects(
    open(),
    { message: /honours If-None-Match on PUT: this one does not/ },
    'each time',
  );
  server.conditionalWrites = true;
  server.fault = (request, response) => {
    if (request.method !== 'PUT') return false;
    request.resume();
    response.writeHead(501).end('<Error><Code>NotImplemented</Code></Error>');
    return true;
  };
  await t.rejects(open(), { message: /501 NotImplemented/ });
  server.fault = undefined;
  server.versioned = true;
  await t.rejects(open(), { message: /keeps old versions/ });
  server.versioned = false;
  t.ok(await open());
});
