/** A node with another keyring, or none, does not start on a log, changes nothing there, and says so. */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { openAccount } from '../../src/accounts/accounts.ts';
import { operatorContext } from '../../src/actors/command-context.ts';
import { ActorSystem } from '../../src/actors/system.ts';
import { readConfig } from '../../src/config/config.ts';
import { FileKeyRecords } from '../../src/documents/keys/file-records.ts';
import { KeyringIdentity } from '../../src/documents/keys/identity.ts';
import { errorReason } from '../../src/errors/error-message.ts';
import { checkKeyring } from '../../src/log/log-origin.ts';
import { type Core, openCore } from '../../src/service/core.ts';
import { systemClock } from '../../src/time/clock.ts';
import { newAccountId, newConversionId } from '../../src/time/ids.ts';
import { noSnapshots } from '../support/actors.ts';
import { eventually } from '../support/deadline.ts';
import { testDirectory } from '../support/directory.ts';
import { openLog } from '../support/log.ts';
import { startNatsServer } from '../support/nats-server.ts';

const logger = pino({ level: 'silent' });
const MASTER_KEY = '0123456789abcdef'.repeat(4);
const MISSING = { message: /^There is no keyring in [^\n]+ the event log is not empty: [^\n]+$/ };
const ANOTHERS = { message: /^The keyring in [^\n]+ is not the one of the event log [^\n]+$/ };
const NEW_LOG = {
  message: /^The keyring in [^\n]+ belongs to the event log [^\n]+ is empty: [^\n]+$/,
};

/** Folders of a test that are not there yet. */
const folders = (t: Test, ...names: readonly string[]): string[] =>
  names.map((name) => join(testDirectory(t), name));

const open = (env: Readonly<Record<string, string>>): Promise<Core> =>
  openCore(readConfig(env), logger, { create: true });

const account = async (core: Core, email: string) =>
  await openAccount(core, { email, plan: 'pro', credits: 1 }, operatorContext(systemClock));

/** A log with an account. */
async function begun(env: Readonly<Record<string, string>>): Promise<string> {
  const core = await open(env);
  const { id } = await account(core, 'a@example.com');
  await core.close();
  return id;
}

async function startsAgain(t: Test, env: Readonly<Record<string, string>>, id: string) {
  const core = await open(env);
  t.ok(await core.vault.contentKey(id, 'conv_1'), 'its own node still starts');
  const head = await core.store.head();
  await core.close();
  return head;
}

void test('a log copied without its keyring', async (t) => {
  const [one = '', copy = '', other = ''] = folders(t, 'one', 'copy', 'other');
  const id = await begun({ DATA_DIR: one });
  mkdirSync(copy);
  cpSync(join(one, 'pressledger.db'), join(copy, 'pressledger.db'));
  await t.rejects(open({ DATA_DIR: copy }), MISSING);
  t.notOk(
    readdirSync(copy).some((name) => /keyring|master|blobs|read-model/.test(name)),
    'nothing is made',
  );
  cpSync(join(one, 'master.key'), join(copy, 'master.key'));
  cpSync(join(one, 'master.check'), join(copy, 'master.check'));
  await t.rejects(open({ DATA_DIR: copy }), MISSING, 'nor with the master key alone');

  await begun({ DATA_DIR: other, MASTER_KEY });
  cpSync(join(other, 'keyring'), join(copy, 'keyring'), { recursive: true });
  await t.rejects(open({ DATA_DIR: copy }), ANOTHERS, "nor with another log's keyring");
  rmSync(join(copy, 'keyring'), { recursive: true });
  cpSync(join(one, 'keyring'), join(copy, 'keyring'), { recursive: true });
  await startsAgain(t, { DATA_DIR: copy }, id);
});

void test('an API node whose BLOB_STORE_URL is another or was forgotten', async (t) => {
  const [dataDir = '', shared = '', other = '', own = ''] = folders(
    t,
    'data',
    'shared',
    'other',
    'own',
  );
  mkdirSync(other);
  const ours = { DATA_DIR: dataDir, BLOB_STORE_URL: `file:${shared}`, MASTER_KEY };
  const id = await begun(ours);
  const head = await startsAgain(t, ours, id);
  await t.rejects(open({ DATA_DIR: dataDir, MASTER_KEY }), MISSING, 'forgotten');
  await t.rejects(open({ ...ours, BLOB_STORE_URL: `file:${other}` }), MISSING, 'an empty one');
  t.strictSame(readdirSync(other), []);

  const theirs = { DATA_DIR: own, BLOB_STORE_URL: `file:${other}`, MASTER_KEY };
  await begun(theirs);
  await t.rejects(open({ ...ours, BLOB_STORE_URL: `file:${other}` }), ANOTHERS, "another log's");
  t.equal(await startsAgain(t, ours, id), head, 'nothing was appended');
});

void test('an empty log does not begin on the keyring of another', async (t) => {
  const [dataDir = '', shared = '', stray = ''] = folders(t, 'data', 'shared', 'stray');
  const ours = { DATA_DIR: dataDir, BLOB_STORE_URL: `file:${shared}`, MASTER_KEY };
  const id = await begun(ours);
  await t.rejects(open({ ...ours, DATA_DIR: stray }), NEW_LOG);
  await t.rejects(open({ ...ours, DATA_DIR: stray }), NEW_LOG, 'each time');
  await startsAgain(t, ours, id);
  rmSync(join(dataDir, 'pressledger.db'));
  const lost = {
    message: /^The event log is empty, and \S+g1\.db was made of one with events\. [^\n]+$/,
  };
  await t.rejects(open(ours), lost, 'nor where its log was lost');
  rmSync(join(dataDir, 'read-model'), { recursive: true });
  await t.rejects(open(ours), NEW_LOG, 'and nothing else knows it');
});

void test('of nodes that begin a log at once, each with a keyring of its own, one stays', async (t) => {
  const log = openLog(t);
  const outcomes = await Promise.allSettled(
    folders(t, 'a', 'b', 'c', 'd').map(async (folder) => {
      const records = new FileKeyRecords(folder);
      const actors = new ActorSystem({ store: log.store, snapshots: noSnapshots });
      t.teardown(() => actors.close());
      const keyring = await KeyringIdentity.open(records, 'its folder');
      await checkKeyring({ actors, store: log.store, clock: systemClock }, keyring, {
        create: true,
      });
    }),
  );
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected') t.match(outcome.reason, ANOTHERS);
  }
});

void test('a key that was lost is never made a second time', async (t) => {
  const env = { DATA_DIR: testDirectory(t) };
  const id = await begun(env);
  rmSync(join(env.DATA_DIR, 'keyring', `${id}.key`));
  const core = await open(env);
  t.teardown(() => core.close());
  await t.rejects(core.vault.seal(id, 'text'), { name: 'KeyMissing' });
  t.notOk(existsSync(join(env.DATA_DIR, 'keyring', `${id}.key`)));
  t.ok(await account(core, 'b@example.com'), 'others go on');
});

void test('readiness tells that the keyring is gone: files', async (t) => {
  const env = { DATA_DIR: testDirectory(t) };
  const keyring = join(env.DATA_DIR, 'keyring');
  const core = await open(env);
  t.teardown(() => core.close());
  t.strictSame(await core.unhealthyReasons(), []);
  rmSync(keyring, { recursive: true });
  t.match(await core.unhealthyReasons(), [/^the keyring is gone: There is no keyring in /]);
  await t.rejects(account(core, 'a@example.com'), { name: 'KeyringGone' });
  mkdirSync(keyring);
  t.match(await core.unhealthyReasons(), [/^the keyring is gone: /], 'an empty folder is none');
});

void test('readiness tells that the keyring is gone: NATS that lost its data', async (t) => {
  const nats = await startNatsServer(t);
  const env = {
    DATA_DIR: testDirectory(t),
    NATS_URL: nats.url,
    BLOB_STORE_URL: 'nats:',
    MASTER_KEY,
  };
  const core = await open(env);
  t.teardown(() => core.close());
  t.strictSame(await core.unhealthyReasons(), []);
  await nats.kill();
  await eventually('the outage', async () =>
    (await core.unhealthyReasons()).includes('NATS is away'),
  );
  t.strictSame(await core.unhealthyReasons(), ['NATS is away']);
  // A key that this node does not hold.
  const key = core.vault.contentKey(newAccountId(1), newConversionId(1));
  t.match(errorReason(await key.catch((error: unknown) => error)), /NATS is away/);
  const blob = core.blobs.stage(newConversionId(1), 'request', Buffer.from('text'));
  t.match(errorReason(await blob.store().catch((error: unknown) => error)), /NATS is away/);
  await nats.restart({ loseData: true });
  const told = await eventually('the loss', async () => {
    const [first] = (await core.unhealthyReasons()).filter((each) => each.includes('keyring'));
    return first;
  });
  t.match(told, /^the keyring is gone: NATS does not have the bucket of the keyring, .*[^.]$/);
});
