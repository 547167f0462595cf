import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { apiKeyQueries } from '../../../projections/api-keys.ts';
import { erasureQueries } from '../../../projections/erasures.ts';
import { storedBlobQueries } from '../../../projections/stored-blobs.ts';
import { sendToAccount } from '../../../src/accounts/accounts.ts';
import { operatorContext } from '../../../src/actors/command-context.ts';
import { BlobNotFound, BlobStoreUnavailable } from '../../../src/documents/port.ts';
import { type AccountCommand, accountAggregate } from '../../../src/domain/account.ts';
import { personAggregate } from '../../../src/domain/person.ts';
import type { PersonCommand } from '../../../src/domain/person-commands.ts';
import { founderOf } from '../../../src/domain/members.ts';
import { apiKeyAggregate } from '../../../src/domain/api-key.ts';
import { startDispatch } from '../../../src/process-managers/dispatch.ts';
import { startErasures } from '../../../src/process-managers/erasures.ts';
import { startOutcomes } from '../../../src/process-managers/outcomes.ts';
import { eventually } from '../../support/deadline.ts';
import { eraseAccount } from '../../support/erase-account.ts';
import { violations } from '../../support/invariants.ts';
import {
  completed,
  conversionsOf,
  type ManagedNode,
  type ManagedPlace,
  openManagedPlace,
  started,
} from '../../support/process-managers.ts';
import {
  accountId,
  certificateId,
  keyId,
  NOW,
  personId,
  SIGNATURE,
  sha256,
} from '../../support/samples.ts';

const ID = accountId();
const OTHER = accountId(2);
const LARGE = `<!--${'x'.repeat(100_000)}-->`;

/** An account with two keys, and with conversions that ended, are under way, and wait. */
async function fill(node: ManagedNode) {
  await node.openAccount(1);
  await node.openAccount(2);
  for (const [n, account] of [ID, ID, OTHER].entries()) {
    const key = { keyId: keyId(n + 1), keyHash: sha256(n), prefix: 'pk_live_abcd', now: NOW };
    const name = await node.vault.seal(account, 'a name');
    const command = { type: 'CreateKey', accountId: account, ...key, name } as const;
    await node.actors.send(apiKeyAggregate, key.keyId, command, operatorContext(node.clock));
  }
  const done = await node.request(1);
  const doing = await node.request(1, LARGE);
  const waiting = await node.request(1);
  const others = await node.request(2);
  await node.caughtUp();
  const outcomes = startOutcomes(node);
  const document = await node.storeDocument(done);
  await node.queue.report(completed({ conversionId: done, attempt: 1 }, document));
  await node.queue.report(started({ conversionId: doing, attempt: 1 }));
  await outcomes.stop();
  await node.caughtUp();
  return { done, doing, waiting, others, document };
}

/** Nothing of the account is left, and nothing of the other one is lost. */
async function isErased(t: Test, place: ManagedPlace, node: ManagedNode): Promise<void> {
  await eventually('the end of the erasure', () =>
    place.log('ErasureCompleted').length === 1 ? true : undefined,
  );
  await node.caughtUp();
  const { state } = await node.actors.read(accountAggregate, ID);
  t.match(state, { status: 'erased', erasureCompleted: true });
  t.strictSame(node.readModel.query(erasureQueries).all(), []);
  t.equal(node.readModel.query(apiKeyQueries).inForce(ID, 0), 0);
  t.equal(node.readModel.query(apiKeyQueries).inForce(OTHER, 0), 1);
  t.equal(node.readModel.query(storedBlobQueries).bytesOf(ID), 0);
  await t.rejects(node.vault.seal(ID, 'x'), { name: 'KeyErased' });
  t.ok(await node.vault.seal(OTHER, 'x'));
  const keyring = readdirSync(join(place.dataDir, 'keyring')).toSorted();
  t.strictSame(keyring, [`${ID}.erased`, `${OTHER}.key`, `${founderOf(ID)}.erased`]);
  const ofOther = place.log('ConversionRequested').at(-1);
  const { conversionId } = JSON.parse(ofOther?.data ?? '') as { conversionId: string };
  const kept = [...place.storedKeys(), ...(await storedFiles(node))];
  t.match(kept, [new RegExp(`^${conversionId}/request-`)]);
  t.strictSame(violations(place.log(), { settled: false }), []);
}

async function storedFiles(node: ManagedNode): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of node.blobs.list()) keys.push(key);
  return keys;
}

void test('an erasure ends what is under way and deletes what is stored', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  const { done, doing, waiting, others, document } = await fill(node);
  const dispatch = startDispatch(node);
  await eventually('the jobs', () => (node.queue.waiting() === 3 ? true : undefined));
  node.run(startErasures(node));
  node.run({ stop: () => dispatch.stop() });
  await eraseAccount(node, ID, operatorContext(node.clock));
  await isErased(t, place, node);
  await eventually('the jobs to leave the queue', () =>
    node.queue.waiting() === 1 ? true : undefined,
  );
  const failures = place.log('ConversionFailed');
  t.strictSame(conversionsOf(failures).toSorted(), [doing, waiting].toSorted());
  for (const { data } of failures) {
    t.match(JSON.parse(data), { code: 'account_erased', message: 'erased' });
  }
  t.equal(place.log('ConversionExpired').length, 3);
  t.equal(place.log('CreditRefunded').length, 0, 'nobody is left to give a credit to');
  const erased = place.log('AccountErased')[0];
  t.match(JSON.parse(erased?.metadata ?? ''), { actor: { kind: 'operator' } });
  for (const { metadata } of place.log(
    'KeyRevoked',
    'ErasureCompleted',
    'ConversionExpired',
    'ConversionFailed',
  )) {
    t.match(JSON.parse(metadata), { causationId: erased?.id, actor: { kind: 'service' } });
  }

  // Its renderer goes on, stores its PDF and reports it.
  node.run(startOutcomes(node));
  await t.rejects(node.blobs.read(document), BlobNotFound);
  const late = { ...document, key: document.key.replace(done, doing) };
  await node.blobs.stage(doing, 'manifest', Buffer.from('as a document')).store();
  const report = completed({ conversionId: doing, attempt: 1 }, late);
  t.match(await node.queue.report(report), { ended: true });
  t.equal(place.log('ConversionOutcomeIgnored').length, 1);
  const left = [...place.storedKeys(), ...(await storedFiles(node))];
  t.ok(
    left.every((key) => key.startsWith(others)),
    'and what it stored is deleted',
  );
  await eraseAccount(node, ID, operatorContext(node.clock));
  t.equal(
    place.log('AccountErased', 'ErasureCompleted').length,
    2,
    'a second time changes nothing',
  );
});

void test('no try of an erased account begins, also before its conversions have ended', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  const { waiting, others } = await fill(node);
  const command = { type: 'EraseAccount', accountId: ID, now: NOW } as const;
  await node.actors.send(accountAggregate, ID, command, operatorContext(node.clock));
  await node.caughtUp();
  node.run(startOutcomes(node));
  const answer = await node.queue.report(started({ conversionId: waiting, attempt: 1 }));
  t.strictSame(answer, { ended: true, attempt: 0 });
  t.equal(place.log('ConversionStarted').length, 1);
  const dispatch = node.run(startDispatch(node));
  await eventually('the job', () => (node.queue.waiting() > 0 ? true : undefined));
  await dispatch.stop();
  t.equal(node.queue.waiting(), 1, 'only that of the other account');
  t.match(
    await node.queue.report(started({ conversionId: others, attempt: 1, accountId: OTHER })),
    {
      ended: false,
    },
  );
});

/** The steps of an erasure that may be the last of its process. */
const APPENDS = [
  'AccountErased',
  'KeyRevoked',
  'KeyRevoked',
  'ConversionFailed',
  'ConversionFailed',
];
const ENDS = ['ConversionExpired', 'ConversionExpired', 'ConversionExpired', 'ErasureCompleted'];

for (const [n, type] of [...APPENDS, ...ENDS].entries()) {
  void test(`an erasure that is cut off before append ${n + 1}, ${type}, is completed by the next start`, async (t) => {
    const place = openManagedPlace(t);
    const before = await place.node();
    await fill(before);
    let appends = 0;
    before.store.beforeAppend = async () => {
      if (appends === n) throw new Error('The process ended here.');
      appends += 1;
    };
    await t.rejects(eraseAccount(before, ID, operatorContext(before.clock)));
    await before.close();
    if (n > 0) {
      const keyFile = join(place.dataDir, 'keyring', `${ID}.key`);
      t.notOk(existsSync(keyFile), 'the key is destroyed before all the rest');
    }
    const after = await place.node();
    const { status } = (await after.actors.read(accountAggregate, ID)).state;
    t.equal(status, n === 0 ? 'open' : 'erased', 'no credential of it is accepted any more');
    await after.caughtUp();
    after.run(startErasures(after));
    if (n === 0) {
      t.strictSame(after.readModel.query(erasureQueries).all(), [], 'it had not begun');
      await eraseAccount(after, ID, operatorContext(after.clock));
    }
    await isErased(t, place, after);
  });
}

/** Sets a certificate whose secret is sealed with a key of its own. */
async function setCertificate(node: ManagedNode, n: number, account = ID): Promise<string> {
  await node.vault.makeKey(certificateId(n));
  const secret = await node.vault.seal(certificateId(n), `the private key ${n}`);
  const signature = { ...SIGNATURE, certificateId: certificateId(n), secret };
  const command = { type: 'SetSignature', accountId: account, signature, now: NOW } as const;
  await sendToAccount(node, command, operatorContext(node.clock));
  return secret;
}

const removeCertificate = (node: ManagedNode): Promise<unknown> => {
  const command = { type: 'RemoveSignature', accountId: ID, now: NOW } as const;
  return sendToAccount(node, command, operatorContext(node.clock));
};

void test('the private key of a certificate ends when that is replaced, removed or its account erased', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  await node.openAccount(1);
  await node.openAccount(2);
  node.run(startErasures(node));
  const secrets = [await setCertificate(node, 1), await setCertificate(node, 2)];
  await place.logged('SignatureKeyDestroyed', 1);
  t.equal(await node.vault.unsealExactly(certificateId(2), secrets[1] ?? ''), 'the private key 2');
  await removeCertificate(node);
  await place.logged('SignatureKeyDestroyed', 2);
  secrets.push(await setCertificate(node, 3));
  const others = await setCertificate(node, 4, OTHER);
  await node.caughtUp();
  await eraseAccount(node, ID, operatorContext(node.clock));
  for (const [at, secret] of secrets.entries()) {
    const opened = node.vault.unsealExactly(certificateId(at + 1), secret);
    await t.rejects(opened, { name: 'KeyErased' });
  }
  t.equal(await node.vault.unsealExactly(certificateId(4), others), 'the private key 4');
  const records = [1, 2, 3].map((n) => `${certificateId(n)}.erased`);
  t.strictSame(readdirSync(join(place.dataDir, 'keyring')).toSorted(), [
    `${ID}.erased`,
    ...records,
    `${certificateId(4)}.key`,
    `${founderOf(ID)}.erased`,
  ]);
  await node.caughtUp();
  t.strictSame(node.readModel.query(erasureQueries).keys(), []);
  t.strictSame(violations(place.log(), { settled: false }), []);
});

void test('a key that is not destroyed when a process ends, or the keyring is away, is destroyed later', async (t) => {
  const place = openManagedPlace(t);
  const before = await place.node();
  await before.openAccount(1);
  await before.openAccount(2);
  await setCertificate(before, 1);
  await setCertificate(before, 2);
  await setCertificate(before, 3, OTHER);
  await setCertificate(before, 4, OTHER);
  await before.caughtUp();
  const errors: object[] = [];
  const logger = Object.assign(Object.create(before.logger) as typeof before.logger, {
    error: (about: object) => void errors.push(about),
  });
  const erase = async (owner: string): Promise<void> => {
    if (owner === certificateId(1)) throw new Error('away');
    await before.vault.erase(owner);
  };
  const stuck = startErasures({ ...before, vault: { ...before.vault, erase }, logger });
  await place.logged('SignatureKeyDestroyed', 1);
  await stuck.stop();
  t.match(errors, [{ certificateId: certificateId(1), err: { message: 'away' } }]);
  before.store.beforeAppend = async () => {
    throw new Error('The process ended here.');
  };
  const killed = startErasures({ ...before, logger });
  await eventually('the failed append', () => (errors.length > 1 ? true : undefined));
  await killed.stop();
  t.equal(place.log('SignatureKeyDestroyed').length, 1);
  await before.close();

  const after = await place.node();
  await after.caughtUp();
  after.run(startErasures(after));
  await place.logged('SignatureKeyDestroyed', 2);
  await after.caughtUp();
  t.strictSame(after.readModel.query(erasureQueries).keys(), []);
  await t.rejects(after.vault.dataKey(certificateId(1)), { name: 'KeyErased' });
  t.ok(await after.vault.dataKey(certificateId(2)));
});

void test('an erasure waits for a keyring or a blob store that is away, and holds up no other', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node();
  const { done } = await fill(node);
  const blobs = Object.assign(Object.create(node.blobs) as typeof node.blobs, {
    deleteAll: async (conversionId: string) => {
      if (conversionId === done) throw new BlobStoreUnavailable('away');
      await node.blobs.deleteAll(conversionId);
    },
  });
  const vault = { ...node.vault, erase: () => Promise.reject(new Error('away')) };
  const erase = (deps: Parameters<typeof eraseAccount>[0], id = ID) =>
    eraseAccount(deps, id, operatorContext(node.clock));
  await t.rejects(erase({ ...node, vault }), /away/);
  t.ok(await node.vault.seal(ID, 'x'), 'the key is there');
  await t.rejects(erase({ ...node, blobs }), /away/);
  await t.rejects(node.vault.seal(ID, 'x'), { name: 'KeyErased' });
  t.equal(place.log('ErasureCompleted').length, 0);
  const errors: object[] = [];
  const logger = Object.assign(Object.create(node.logger) as typeof node.logger, {
    error: (about: object) => void errors.push(about),
  });
  const stuck = startErasures({ ...node, blobs, logger });
  await erase(node, OTHER);
  await place.logged('ErasureCompleted', 1);
  await stuck.stop();
  t.match(errors, [{ accountId: ID, err: BlobStoreUnavailable }]);
  node.run(startErasures(node));
  await place.logged('ErasureCompleted', 2);
});

void test('the keys of erased people and ended invitations are destroyed by the next start, too', async (t) => {
  const place = openManagedPlace(t);
  const before = await place.node();
  await before.openAccount(1);
  const [erased, revoked, used, registered] = [2, 3, 4, 5].map((n) => personId(n));
  if (!erased || !revoked || !used || !registered) throw new Error('There are four.');
  const append = async (command: AccountCommand) =>
    await sendToAccount(before, command, operatorContext(before.clock));
  const tellPerson = async (id: string, command: PersonCommand) =>
    await before.actors.send(personAggregate, id, command, operatorContext(before.clock));
  const account = { accountId: ID };
  for (const [n, id] of [revoked, used, registered].entries()) {
    const invited = { personId: id, tokenHash: sha256(n), email: 'v1.e', now: NOW };
    const terms = { role: 'member', byMail: false, expiresAt: NOW + 1e9 } as const;
    await append({ type: 'InviteMember', ...account, ...invited, ...terms });
  }
  for (const id of [erased, revoked, used, registered]) await before.vault.makeKey(id);
  // Each process ended before it destroyed the key.
  const credentials = { ...account, email: 'v1.e', name: 'v1.n', passwordHash: 'v1.p' };
  for (const id of [erased, registered]) {
    await tellPerson(id, { type: 'RegisterPerson', personId: id, ...credentials });
  }
  await tellPerson(erased, { type: 'ErasePerson', personId: erased });
  await append({ type: 'RevokeInvitation', ...account, personId: revoked });
  await append({ type: 'RevokeInvitation', ...account, personId: registered });
  const joining = { personId: personId(6), isProven: true, tokenHash: sha256(1), now: NOW };
  await append({ type: 'JoinAccount', ...account, ...joining });
  await before.caughtUp();
  const away = { ...before.vault, erase: () => Promise.reject(new Error('away')) };
  const errors: object[] = [];
  const logger = Object.assign(Object.create(before.logger) as typeof before.logger, {
    error: (about: object) => void errors.push(about),
  });
  const stuck = startErasures({ ...before, vault: away, logger });
  await eventually('the failure', () => (errors.length > 0 ? true : undefined));
  await stuck.stop();
  const erase = async (owner: string): Promise<void> => {
    if (owner === erased) throw new Error('its record cannot be written');
  };
  const tried: string[] = [];
  const oneFails = startErasures({
    ...before,
    logger,
    vault: { ...before.vault, erase: (owner) => (tried.push(owner), erase(owner)) },
  });
  await eventually('those behind', () => (tried.includes(used) ? true : undefined));
  const count = tried.length;
  oneFails.wake();
  await eventually('another try', () => (tried.length > count ? true : undefined));
  await oneFails.stop();
  t.same(tried, [erased, revoked, used, erased], 'one that fails holds up no other');
  await before.close();

  const after = await place.node();
  await after.caughtUp();
  after.run(startErasures(after));
  const isGone = async (id: string): Promise<boolean> =>
    await after.vault.dataKey(id).then(
      () => false,
      (error: Error) => error.name === 'KeyErased',
    );
  for (const id of [erased, revoked, used]) {
    await eventually('the key to be destroyed', async () => (await isGone(id)) || undefined);
  }
  t.equal(await isGone(registered), false, 'a sign-in that was made stays');
});
