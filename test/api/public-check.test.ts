/** `POST /verify/public` and the public name of an account. */
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'tap';
import { checkPublicProof } from '../../dashboard/src/proof/checks.ts';
import { CheckpointKeeper } from '../../dashboard/src/proof/kept-checkpoint.ts';
import { type PublicAnswer, runCheck, type Step } from '../../dashboard/src/proof/steps.ts';
import { beginErasure, completeErasure } from '../../src/accounts/erasure.ts';
import { takeBack } from '../../src/conversions/take-back.ts';
import { OperatorApi } from '../../src/commands/operator-api.ts';
import { checkInPublic, type PublicCheckDependencies } from '../../src/log/public-check.ts';
import { canonicalEvent } from '../../src/transparency-log/canonical-event.ts';
import { leafHash } from '../../src/transparency-log/merkle-tree.ts';
import { base64 } from '../../verifier/verify-evidence.mjs';
import { type Api, type ApiOptions, BASE, refusal, startApi } from '../support/api.ts';
import { PDF } from '../support/conversion.ts';

const sha256 = createHash('sha256').update(PDF).digest('hex');
const NAME = `${BASE}/account/public-name/`;

const ask = (api: Api, digest = sha256) =>
  api.call('POST', '/verify/public', { body: { sha256: digest } });

async function make(api: Api, account: { id: string; key: string }, pdf = PDF): Promise<string> {
  const { body } = await api.call('POST', `${BASE}/pdf/`, {
    key: account.key,
    body: { html: '<p>a secret</p>', filename: 'secret.pdf' },
  });
  const id = String(body['id']);
  await api.complete(account.id, id, pdf, ['a secret warning'], 'a secret title');
  return id;
}

void test('a stranger is told of a PDF by its hash alone, and of nothing else', async (t) => {
  const api = await startApi(t);
  const account = await api.newAccount();
  t.match((await ask(api)).body, { known: false }, 'before anything was made');
  const id = await make(api, account);
  const { status, body, headers, text } = await ask(api, sha256.toUpperCase());
  t.equal(status, 200);
  t.equal(headers.get('cache-control'), 'no-store');
  t.equal(headers.get('set-cookie'), null);
  t.strictSame(Object.keys(body), ['known', 'created_at', 'checkpoint', 'entries']);
  const record = await api.call('GET', `${BASE}/conversions/${id}/`, { key: account.key });
  t.equal(body['created_at'], record.body['created_at']);
  const [entry, ...others] = body['entries'] as Record<string, string>[];
  t.strictSame(others, []);
  t.strictSame(Object.keys(entry ?? {}), ['index', 'leaf', 'proof', 'statement']);
  const [stored] = await api.store.readStream(`conversion-${id}`);
  const leaf = leafHash(stored ? canonicalEvent(stored) : '');
  t.equal(entry?.['leaf'], leaf.toString('base64'), 'the event that the PDF was stored with');
  t.notMatch(
    text,
    new RegExp(`${id}|${account.id}|secret|test`),
    'no id and no text of the tenant',
  );

  const unknown = await ask(api, '0'.repeat(64));
  t.strictSame(Object.keys(unknown.body), ['known', 'checkpoint']);
  t.equal(unknown.body['known'], false);
  for (const digest of ['', 'g'.repeat(64), 'a'.repeat(63), 'a'.repeat(65)]) {
    const wrong = { status: 400, error: 'validation_error', details: ['sha256'] };
    t.strictSame(refusal(await ask(api, digest)), wrong, digest);
  }
});

void test('the proof and the statement of an answer are checked, and each of their parts counts', async (t) => {
  const api = await startApi(t);
  await make(api, await api.newAccount());
  const { body } = await ask(api);
  const answer = body as unknown as PublicAnswer;
  const outcome = async (given: object, digest = sha256, keys = api) => {
    const log = {
      keys: async () => (await keys.call('GET', '/tlog/key')).text,
      checkpoint: async () => '',
      consistency: async () => undefined,
    };
    const parts = { log, keeper: new CheckpointKeeper(undefined), now: () => new Date() };
    const steps: Step[] = [];
    const check = checkPublicProof({ ...answer, ...given }, digest, parts);
    await runCheck(check, (step) => steps.push(step));
    return steps.map(({ name, holds }) => (holds ? name : `not ${name}`)).join();
  };
  const before = 'keys,checkpoint,history,';
  t.equal(await outcome({}), `${before}entry,statement`);
  const [entry] = answer.entries;
  const changed = (fields: object) => outcome({ entries: [{ ...entry, ...fields }] });
  const other = base64(randomBytes(32));
  t.equal(await changed({ leaf: other }), `${before}not entry`);
  t.equal(await changed({ index: Number(entry?.index) - 1 }), `${before}not entry`);
  const proof = entry?.proof.replace(/(?<=index \d+\n)[^\n]+/, other);
  t.equal(await changed({ proof }), `${before}not entry`);
  t.equal(await outcome({ entries: [] }), `${before}not entry`);
  t.equal(await outcome({ entries: [entry, entry] }), `${before}not entry`);
  const unsigned = entry?.statement.replace(sha256, '1'.repeat(64));
  t.equal(await changed({ statement: unsigned }), `${before}entry,not statement`);
  t.equal(await outcome({}, '1'.repeat(64)), `${before}entry,not statement`, 'of another PDF');
  const past = { created_at: '2020-01-01T00:00:00.000Z' };
  t.equal(await outcome(past), `${before}entry,not statement`);
  t.equal(await outcome({}, sha256, await startApi(t)), 'keys,not checkpoint', 'of another log');
});

void test('an account is named where it wants to be, and not after that', async (t) => {
  const api = await startApi(t);
  const account = await api.newAccount();
  const name = (method: string, body?: object) =>
    api.call(method, NAME, { key: account.key, ...(body && { body }) });
  await make(api, account);
  t.strictSame((await name('GET')).body, { name: null });
  const plain = await api.call('GET', `${BASE}/account/`, { key: account.key });
  t.strictSame((await name('PUT', { name: ' Ada’s Bakery ' })).body, { name: 'Ada’s Bakery' });
  await name('PUT', { name: 'Ada’s Bakery' });
  t.match((await ask(api)).body, { known: true, by: 'Ada’s Bakery' });
  t.equal((await ask(api, '0'.repeat(64))).body['by'], undefined);
  const named = await api.call('GET', `${BASE}/account/`, { key: account.key });
  t.strictSame(named.body, plain.body, 'the account itself is answered as before');
  t.equal((await name('DELETE')).status, 204);
  t.equal((await name('DELETE')).status, 204, 'again');
  t.equal((await ask(api)).body['by'], undefined);
  const changes = (await api.log()).filter(({ type }) => type === 'PublicNameChanged');
  t.equal(changes.length, 2, 'what changes nothing is not recorded');
  t.notMatch(JSON.stringify(changes[0]?.data), /Ada/, 'it is sealed');
  const wrong = { status: 400, error: 'validation_error', details: ['name'] };
  const names = ['', ' ', 'a\nb', 'a\u202eb', '\u2066a', 'x'.repeat(201), '\ud800', 7];
  for (const each of [...names.map((one) => ({ name: one })), {}]) {
    t.strictSame(refusal(await name('PUT', each)), wrong, JSON.stringify(each));
  }
});

void test('the command line sets the name of an account, too', async (t) => {
  const api = await startApi(t);
  const account = await api.newAccount();
  const client = new OperatorApi(api.fetchAsOperator, api.root).as(account.id);
  t.strictSame(await client.setPublicName('Ada'), { name: 'Ada' });
  t.strictSame(await client.publicName(), { name: 'Ada' });
  await client.removePublicName();
  t.strictSame((await api.call('GET', NAME, { key: account.key })).body, { name: null });
  const events = await api.store.readStream(`account-${account.id}`);
  const changes = events.filter(({ type }) => type === 'PublicNameChanged');
  t.equal(changes.length, 2);
  for (const { metadata } of changes) {
    t.strictSame((metadata as { actor?: object }).actor, { kind: 'operator' });
    t.notOk('client' in metadata, 'a command has no address');
  }
});

void test('a PDF is known as long as its account is, whatever is deleted of it', async (t) => {
  const api = await startApi(t);
  const account = await api.newAccount();
  const id = await make(api, account);
  await takeBack(api, { id, accountId: account.id }, api.context());
  t.match((await ask(api)).body, { known: true }, 'its stored copies are deleted');
  await api.call('PUT', NAME, { key: account.key, body: { name: 'Ada' } });
  await beginErasure(api, account.id, api.context());
  t.strictSame(Object.keys((await ask(api)).body), ['known', 'checkpoint'], 'erasure has begun');
  await completeErasure({ ...api, store: api.streams }, account.id);
  t.match((await ask(api)).body, { known: false });

  const [other, last] = [await api.newAccount(), await api.newAccount()];
  await make(api, other);
  await make(api, last);
  t.match((await ask(api)).body, { known: true }, 'another account has made the same bytes');
  for (const { id: erased } of [other, last]) {
    await beginErasure(api, erased, api.context());
    await completeErasure({ ...api, store: api.streams }, erased);
  }
  t.match((await ask(api)).body, { known: false }, 'all of them are erased');
});

void test('what a test key made is not known to strangers, and a real PDF of the same bytes is', async (t) => {
  const api = await startApi(t);
  const account = await api.newAccount();
  const asked = { key: account.key, body: { name: 'tests', test: true } };
  const made = await api.call('POST', `${BASE}/api-keys/`, asked);
  await make(api, { id: account.id, key: String(made.body['key']) });
  const own = { key: account.key, body: { sha256 } };
  t.match((await api.call('POST', `${BASE}/verify/`, own)).body, { known: true }, 'its account');
  t.strictSame(Object.keys((await ask(api)).body), ['known', 'checkpoint']);
  t.match((await ask(api)).body, { known: false });
  const other = await api.newAccount();
  await make(api, other);
  t.match((await ask(api)).body, { known: true }, 'another account made it for real');
});

void test('a deployment that does not offer it answers as if there was no such route', async (t) => {
  const api = await startApi(t, { env: { PUBLIC_VERIFY: 'false' } });
  for (const method of ['POST', 'GET', 'OPTIONS']) {
    const body = method === 'POST' ? { sha256 } : undefined;
    const send = (path: string) =>
      fetch(api.origin + path, {
        method,
        ...(body && {
          body: JSON.stringify(body),
          headers: { 'Content-Type': 'application/json' },
        }),
      });
    const [one, other] = [await send('/verify/public'), await send('/verify/nothing')];
    t.equal(one.status, 404, method);
    t.equal(await one.text(), await other.text());
  }
  t.strictSame((await api.call('GET', '/dashboard/offers')).body, {
    mail: true,
    public_verify: false,
    sign_up: 'closed',
    provider: '127.0.0.1:9',
  });
  const open = await startApi(t);
  t.strictSame((await open.call('GET', '/dashboard/offers')).body, {
    mail: true,
    public_verify: true,
    sign_up: 'closed',
    provider: '127.0.0.1:9',
  });
  t.equal((await open.call('GET', '/verify/public')).headers.get('allow'), 'POST');
});

void test('requests are counted by the address that the proxy gives, whatever the client says', async (t) => {
  const env = { RATE_LIMIT_ANONYMOUS: '2' };
  const statuses = async (options: ApiOptions, addresses: readonly string[]) => {
    const api = await startApi(t, options);
    const answers: number[] = [];
    for (const address of addresses) {
      const headers = { 'X-Forwarded-For': address };
      const { status } = await api.call('POST', '/verify/public', { headers, body: { sha256 } });
      answers.push(status);
    }
    return answers;
  };
  const three = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
  t.strictSame(await statuses({ env }, three), [200, 200, 429], 'it is believed without a proxy');
  const trusted = { env: { ...env, TRUST_PROXY: 'true' } };
  t.strictSame(await statuses(trusted, three), [200, 200, 200]);
  const forged = three.map((address) => `${address}, 198.51.100.7`);
  t.strictSame(await statuses(trusted, forged), [200, 200, 429], 'the last one counts');
});

void test('what is known and what is not costs the same reads and signatures', async (t) => {
  const api = await startApi(t);
  const [named, erased] = [await api.newAccount(), await api.newAccount()];
  await make(api, named);
  const gone = Buffer.from(`${PDF.toString('latin1')}another`, 'latin1');
  await make(api, erased, gone);
  await api.call('PUT', NAME, { key: named.key, body: { name: 'Ada' } });
  await beginErasure(api, erased.id, api.context());
  await ask(api);
  const work = async (digest: string) => {
    const done: string[] = [];
    const noting =
      <Given extends readonly unknown[], Result>(what: string, act: (...given: Given) => Result) =>
      (...given: Given): Result => {
        done.push(what);
        return act(...given);
      };
    const deps: PublicCheckDependencies = {
      ...api,
      streams: { readStream: noting('read', api.store.readStream.bind(api.store)) },
      store: { head: noting('head', api.store.head.bind(api.store)) },
      vault: { unseal: noting('unseal', (id: string, text: string) => api.vault.unseal(id, text)) },
      signer: {
        sign: noting('checkpoint', api.signer.sign.bind(api.signer)),
        signText: noting('sign', api.signer.signText.bind(api.signer)),
      },
    };
    const { known } = await checkInPublic(deps, digest);
    return { known, done };
  };
  const known = await work(sha256);
  t.strictSame(known, { known: true, done: ['head', 'read', 'head', 'sign', 'unseal'] });
  // Both come to the PDF of the open account, the first in the order of the hashes.
  for (const digest of ['0'.repeat(64), 'f'.repeat(64)]) {
    t.strictSame(await work(digest), { known: false, done: known.done }, digest);
  }
  const ended = createHash('sha256').update(gone).digest('hex');
  t.strictSame(await work(ended), { known: false, done: known.done }, 'of an erased account');
});
