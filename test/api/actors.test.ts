/** Exports, the state as of a moment, and the log itself name who acted: the person, the key and the role, or the operator. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { test } from 'tap';
import { exportAccount } from '../../src/accounts/account-export.ts';
import { exportLog } from '../../src/archive/export.ts';
import { STATE_PROJECTIONS, stateDocument, withFoldedLog } from '../../src/conversions/state.ts';
import { type Api, BASE, PASSWORD, startApi } from '../support/api.ts';
import { bearerOf, joined } from '../support/every-people-answer.ts';
import { newOperator } from '../support/operator.ts';

interface Entry {
  readonly type: string;
  readonly actor: object;
  readonly reason?: string;
}

/** The files of an export. */
async function exported(api: Api, accountId: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  const deps = { ...api, streams: api.store };
  for await (const { name, content } of exportAccount(deps, accountId, api.clock.time)) {
    files.set(name, await text(content));
  }
  return files;
}

const eventsOf = (files: ReadonlyMap<string, string>): readonly Entry[] =>
  [...files]
    .filter(([name]) => name.startsWith('events/'))
    .flatMap(([, lines]) => lines.trim().split('\n'))
    .map((line) => JSON.parse(line) as Entry);

/** What `state` says of the account as of a position. */
async function stateOf(api: Api, accountId: string, position: bigint) {
  let document = '';
  await withFoldedLog(api.store, STATE_PROJECTIONS, { position }, async (fold) => {
    for await (const piece of stateDocument(fold, api.vault, 'then')) document += piece;
  });
  const { accounts } = JSON.parse(document) as { readonly accounts: readonly { id: string }[] };
  return { document, account: accounts.find(({ id }) => id === accountId) };
}

void test('exports, the state and the log name the person, the key, the role and the operator, and nobody who was erased', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const owner = await api.newAccount();
  const headers = await bearerOf(api, owner.email);
  const bob = await joined(api, headers, 'bob@example.com', 'member');
  const made = await api.call('POST', `${BASE}/api-keys/`, {
    headers: bob.headers,
    body: { name: 'of Bob' },
  });
  const [key, keyId] = [String(made.body['key']), String(made.body['id'])];
  const html = { html: '<p>x</p>' };
  t.equal((await api.call('POST', `${BASE}/pdf/`, { key, body: html })).status, 202);
  const suspension = { body: { reason: 'Not paid.' } };
  const at = `/accounts/${owner.id}`;
  t.equal((await operator.call('POST', `${at}/suspend/`, suspension)).status, 200);
  t.equal((await operator.call('POST', `${at}/resume/`, { body: {} })).status, 200);
  const moment = await api.store.head();

  const person = { person: bob.id, role: 'member', name: 'Bob' };
  const check = async (name: string): Promise<void> => {
    const files = await exported(api, owner.id);
    const actorOf = (type: string) => eventsOf(files).findLast((each) => each.type === type);
    const by = { ...person, name };
    t.match(actorOf('KeyCreated')?.actor, { kind: 'session', ...by });
    const keyOf = { key_name: 'of Bob', key_prefix: key.slice(0, 12) };
    t.strictSame(actorOf('ConversionRequested')?.actor, {
      kind: 'key',
      id: keyId,
      ...by,
      ...keyOf,
    });
    const suspended = actorOf('AccountSuspended');
    t.strictSame(suspended?.actor, { kind: 'operator', id: operator.id });
    t.equal(suspended?.reason, 'Not paid.');
    const { document, account } = await stateOf(api, owner.id, moment);
    t.match(account, {
      members: [{ role: 'owner' }, { id: bob.id, role: 'member', status: 'active' }],
      api_keys: [{ id: keyId, created_by: { id: bob.id, name } }, { id: owner.keyId }],
    });
    const all = [...files.values(), document].join('\n');
    t.equal(/"Bob"|bob@example\.com/.test(all), name === 'Bob', 'his name is where it may be');
  };
  await check('Bob');
  t.match(JSON.parse((await exported(api, owner.id)).get('keys.json') ?? ''), [
    { id: keyId, created_by: { id: bob.id, name: 'Bob' } },
    { id: owner.keyId, created_by: undefined },
  ]);

  // What leaves the store for another one has ids and roles in clear, and no name.
  const file = join(t.testdir(), 'log');
  await exportLog(api.store, file, () => {});
  const lines = gunzipSync(readFileSync(file)).toString();
  const request = lines.split('\n').find((line) => line.includes('"type":"ConversionRequested"'));
  for (const part of [keyId, bob.id, '"role":"member"']) t.match(request, part);
  for (const secret of ['Bob', 'bob@example', 'Not paid', owner.email, key, PASSWORD]) {
    t.notMatch(lines, secret);
  }

  const path = `${BASE}/operator/people/${encodeURIComponent('bob@example.com')}/erase/`;
  t.equal((await api.fetchAsOperator(`http://x${path}`, { method: 'POST' })).status, 200);
  await check('a removed person');
  const now = await stateOf(api, owner.id, await api.store.head());
  t.match(now.account, { members: [{ role: 'owner' }], api_keys: [{ id: owner.keyId }] });
});
