/** Passkeys in wrong hands: what was recorded, made for another place or act, or copied signs nobody in. */
import { type Test, test } from 'tap';
import { removeLostAuthenticator } from '../../src/accounts/authenticators.ts';
import { erasePerson } from '../../src/accounts/erase-people.ts';
import { WRONG_SIGN_INS } from '../../src/accounts/sign-in-tries.ts';
import { ActorSystem } from '../../src/actors/system.ts';
import { accountAggregate } from '../../src/domain/account.ts';
import { founderOf } from '../../src/domain/members.ts';
import { personAggregate } from '../../src/domain/person.ts';
import { noSnapshots } from '../support/actors.ts';
import { type Api, BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import {
  addPasskey,
  Authenticator,
  PASSKEYS,
  signInOptions,
  signInWith,
} from '../support/authenticator.ts';
import { eventually } from '../support/deadline.ts';
import { bearerOf, joined } from '../support/every-people-answer.ts';

const CREATE = `${BASE}/auth/passkey/create/`;
const REFUSED = { status: 401, error: 'unauthorized' };
const NOT_ACCEPTED = /not known here, or was not accepted/;
const MINUTE_MS = 60_000;

const handle = (text: string): string => Buffer.from(text).toString('base64url');

async function withPasskey(t: Test, env: Readonly<Record<string, string>> = {}) {
  const api = await startApi(t, { env });
  const account = await api.newAccount();
  const headers = await bearerOf(api, account.email);
  return { api, account, headers, ...(await addPasskey(api, headers)) };
}

const send = (api: Api, passkey: object, from = '127.0.0.1') =>
  api.call('POST', CREATE, { body: { passkey }, headers: { 'X-Forwarded-For': from } });

const trailOf = async (api: Api, name: string) =>
  (await api.store.readStream(`signins-${name}`)).map(({ type }) => type);

void test('a recorded signature signs nobody in again, however often and on whichever node', async (t) => {
  const { api, account, authenticator } = await withPasskey(t);
  const passkey = authenticator.get(await signInOptions(api));
  const answers = await Promise.all(Array.from({ length: 8 }, () => send(api, passkey)));
  t.strictSame(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, ...Array.from({ length: 7 }, () => 401)],
    'of eight at once, one',
  );
  t.match(refusal(await send(api, passkey)), REFUSED);
  const personId = founderOf(account.id);
  const events = await api.store.readStream(`person-${personId}`);
  const used = events.filter(({ type }) => type === 'PasskeyUsed');
  t.equal(used.length, 1);
  const node = new ActorSystem({ store: api.store, snapshots: noSnapshots });
  t.teardown(() => node.close());
  const { challenge = '', passkeyId = '' } = Object(used[0]?.data) as Record<string, string>;
  const command = {
    type: 'UsePasskey',
    personId,
    accountId: account.id,
    passkeyId,
    counter: 99,
    challenge,
    now: api.clock.time,
  } as const;
  const again = await node.send(personAggregate, personId, command, api.context());
  t.match(again, { accepted: false, rejection: { rejected: 'unauthorized' } });
});

void test('a signature for another place, unverified, of another person or by a stranger is refused alike', async (t) => {
  const { api, account, headers, authenticator } = await withPasskey(t);
  const bob = await joined(api, headers, 'bob@example.com', 'member');
  const stranger = new Authenticator(api.origin.replace('127.0.0.1', 'localhost'));
  const port = new URL(api.origin).port;
  const tries = {
    origin: { origin: 'https://pdf.example.org' },
    'origin of another port': { origin: `http://localhost:${Number(port) + 1}` },
    'origin by its number': { origin: api.origin },
    rpId: { rpId: 'example.org' },
    'user verification': { isUnverified: true },
    'challenge of nobody': { challenge: handle('made up') },
    'another person': { userHandle: handle(bob.id) },
    'no person': { userHandle: null },
    'a person who never was': { userHandle: handle(`person_${'0'.repeat(26)}`) },
    'what is not a person': { userHandle: handle('../account-x') },
  };
  const messages = new Set<unknown>();
  for (const [what, tampering] of Object.entries(tries)) {
    const answer = await signInWith(api, authenticator, tampering);
    t.match(refusal(answer), REFUSED, what);
    messages.add(answer.body['message']);
  }
  for (const userHandle of [handle(founderOf(account.id)), handle(bob.id)]) {
    const answer = await signInWith(api, stranger, { userHandle });
    t.match(refusal(answer), REFUSED, 'an unknown passkey');
    messages.add(answer.body['message']);
  }
  const passkey = authenticator.get(await signInOptions(api));
  const forged = { ...passkey, response: { ...passkey.response, signature: 'MEUCIQ' } };
  const answer = await send(api, forged);
  t.match(refusal(answer), REFUSED);
  messages.add(answer.body['message']);
  t.equal(messages.size, 1, 'no answer says what was wrong, or who is there');
  t.match([...messages][0], NOT_ACCEPTED);
  t.equal((await signInWith(api, authenticator)).status, 200, 'the honest one still signs in');
});

void test('a challenge is good for its own act, session and five minutes', async (t) => {
  const { api, headers, authenticator, id } = await withPasskey(t);
  const other = { Authorization: (await bearerOf(api, 'user1@example.com')).Authorization };
  const request = async (by: Readonly<Record<string, string>>) =>
    (await api.call('POST', `${PASSKEYS}request/`, { headers: by })).body;
  const creation = async (by: Readonly<Record<string, string>>) =>
    (await api.call('POST', `${PASSKEYS}creation/`, { headers: by, body: { password: PASSWORD } }))
      .body;
  const remove = (passkey: object, by = headers) =>
    api.call('POST', `${PASSKEYS}${id}/remove/`, { headers: by, body: { passkey } });

  const confirming = authenticator.get(await request(headers));
  t.match(refusal(await send(api, confirming)), REFUSED, 'a confirmation does not sign in');
  t.match(refusal(await remove(confirming, other)), { status: 400 }, 'nor in another session');
  const signingIn = authenticator.get(await signInOptions(api));
  t.match(refusal(await remove(signingIn)), { status: 400 }, 'a sign-in confirms nothing');
  const { challenge } = (await creation(headers)) as { challenge: string };
  const adding = authenticator.get({ rpId: 'localhost', challenge });
  t.match(refusal(await send(api, adding)), REFUSED);
  t.match(refusal(await remove(adding)), { status: 400 });

  const add = async (options: object, by = headers) => {
    const passkey = new Authenticator(api.origin.replace('127.0.0.1', 'localhost')).create(options);
    return await api.call('POST', PASSKEYS, { headers: by, body: { name: 'New', passkey } });
  };
  t.match(refusal(await add(await creation(other))), { status: 400 }, 'of another session');
  const askedFor = await creation(headers);
  const late = authenticator.get(await signInOptions(api));
  api.clock.time += 5 * MINUTE_MS;
  const now = await bearerOf(api, 'user1@example.com');
  t.match(refusal(await add(askedFor, now)), { status: 400 }, 'too late');
  const answer = await send(api, late);
  t.match(refusal(answer), REFUSED);
  t.match(answer.body['message'], /5 minutes ago/, 'an honest person learns why');
});

void test('a registration that was recorded, unverified or made elsewhere adds nothing', async (t) => {
  const { api, headers } = await withPasskey(t);
  const page = api.origin.replace('127.0.0.1', 'localhost');
  const creation = async () =>
    (await api.call('POST', `${PASSKEYS}creation/`, { headers, body: { password: PASSWORD } }))
      .body;
  const add = (passkey: object) =>
    api.call('POST', PASSKEYS, { headers, body: { name: 'New', passkey } });
  for (const tampering of [
    { origin: 'https://pdf.example.org' },
    { rpId: 'example.org' },
    { isUnverified: true },
    { fmt: 'fido-u2f' },
    { fmt: 'made-up' },
  ]) {
    const passkey = new Authenticator(page).create(await creation(), tampering);
    t.match(refusal(await add(passkey)), { status: 400 }, JSON.stringify(tampering));
  }
  const passkey = new Authenticator(page).create(await creation());
  const added = await add(passkey);
  t.equal(added.status, 201);
  const remove = `${PASSKEYS}${String(added.body['id'])}/remove/`;
  await api.call('POST', remove, { headers, body: { password: PASSWORD } });
  t.match((await add(passkey)).body, { details: { passkey: [/sent before/] } });
  const broken = { ...passkey, response: { ...passkey.response, attestationObject: 'AAAA' } };
  t.match(refusal(await add(broken)), { status: 400 });
  t.match(refusal(await add({ id: 'x' })), { status: 400 });
});

void test('a registration with a certificate is refused: its issuer would be asked for more', async (t) => {
  const { api, headers } = await withPasskey(t);
  for (const fmt of ['packed', 'android-key', 'apple', 'tpm']) {
    const { body } = await api.call('POST', `${PASSKEYS}creation/`, {
      headers,
      body: { password: PASSWORD },
    });
    const page = api.origin.replace('127.0.0.1', 'localhost');
    const attStmt = new Map<string, unknown>([
      ['alg', -7],
      ['sig', new Uint8Array(8)],
      ['x5c', [new Uint8Array(8)]],
    ]);
    const passkey = new Authenticator(page).create(body, { fmt, attStmt });
    const answer = await api.call('POST', PASSKEYS, { headers, body: { name: 'New', passkey } });
    t.match(answer, { status: 400, body: { details: { passkey: [/not a passkey that was/] } } });
  }
});

void test('a passkey whose counter goes back is refused, and its person sees that', async (t) => {
  const { api, account, headers, authenticator } = await withPasskey(t);
  t.equal((await signInWith(api, authenticator, { counter: 10 })).status, 200);
  for (const counter of [10, 9, 0]) {
    t.match(refusal(await signInWith(api, authenticator, { counter })), REFUSED);
  }
  t.equal((await signInWith(api, authenticator, { counter: 11 })).status, 200);
  const path = `${BASE}/account/events/?type=PasskeyRefused`;
  t.equal((await api.call('GET', path, { headers })).headers.get('x-total-count'), '3');
  await eventually('the trail', async () =>
    (await trailOf(api, account.id)).length >= 3 ? true : undefined,
  );
});

void test('a stolen session neither adds a passkey nor removes one', async (t) => {
  const { api, account, headers, id } = await withPasskey(t);
  const creation = `${PASSKEYS}creation/`;
  for (const body of [{}, { password: 'a wrong guess' }]) {
    t.match(refusal(await api.call('POST', creation, { headers, body })), { status: 400 });
    const remove = await api.call('POST', `${PASSKEYS}${id}/remove/`, { headers, body });
    t.match(refusal(remove), { status: 400 });
  }
  for (const key of [account.key]) {
    for (const [method, path] of [
      ['GET', PASSKEYS],
      ['POST', creation],
      ['POST', PASSKEYS],
      ['POST', `${PASSKEYS}request/`],
      ['PATCH', `${PASSKEYS}${id}/`],
      ['POST', `${PASSKEYS}${id}/remove/`],
    ] as const) {
      const body = method === 'GET' ? {} : { body: {} };
      t.match(refusal(await api.call(method, path, { key, ...body })), { status: 403 }, path);
    }
  }
  const stranger = await api.newAccount();
  const other = await bearerOf(api, stranger.email);
  const foreign = await api.call('PATCH', `${PASSKEYS}${id}/`, {
    headers: other,
    body: { name: 'Mine' },
  });
  t.match(refusal(foreign), { status: 404 });
});

void test('wrong passkeys count as wrong passwords do, and leave the same trail', async (t) => {
  const { api, account, authenticator } = await withPasskey(t, { TRUST_PROXY: 'true' });
  const unknown = `unknown-${new Date(api.clock.time).toISOString().slice(0, 10)}`;
  const attempt = async (tampering: object, from: string) =>
    await send(api, authenticator.get(await signInOptions(api), tampering), from);
  // Each from a network of its own: what is counted is the person.
  for (let n = 0; n < WRONG_SIGN_INS.account; n += 1) {
    const from = `2001:db8:${n.toString(16)}::1`;
    t.equal((await attempt({ isUnverified: true }, from)).status, 401);
  }
  const right = await attempt({}, '2001:db8:ffff::1');
  t.match(refusal(right), { status: 429, error: 'rate_limit_exceeded' });
  const body = { email: account.email, password: PASSWORD };
  const headers = { 'X-Forwarded-For': '2001:db8:fffe::1' };
  const byPassword = await api.call('POST', `${BASE}/auth/jwt/create/`, { body, headers });
  t.equal(byPassword.status, 429, 'passwords are counted with them');
  t.equal((await attempt({}, '127.0.0.1')).status, 200, 'the owner at home is not locked out');
  await eventually('the trail of the account', async () =>
    (await trailOf(api, account.id)).length === WRONG_SIGN_INS.account ? true : undefined,
  );
  t.equal((await attempt({ userHandle: null }, '192.0.2.1')).status, 401);
  await eventually('the trail of nobody', async () =>
    (await trailOf(api, unknown)).includes('UnknownSignInRefused') ? true : undefined,
  );
});

void test('a passkey of a removed, erased or suspended person opens nothing', async (t) => {
  const { api, account, headers, authenticator } = await withPasskey(t);
  const bob = await joined(api, headers, 'bob@example.com', 'member');
  const bobs = await addPasskey(api, bob.headers);
  const erased = await joined(api, headers, 'carol@example.com', 'member');
  const carols = await addPasskey(api, erased.headers);
  await api.call('DELETE', `${BASE}/account/members/${bob.id}/`, { headers });
  t.match(refusal(await signInWith(api, bobs.authenticator)), { status: 403 }, 'not a member');
  await erasePerson(api, erased.id, api.context());
  t.match(refusal(await signInWith(api, carols.authenticator)), REFUSED, 'erased');
  const sealed = await api.store.readStream(`person-${erased.id}`);
  const added = sealed.find(({ type }) => type === 'PasskeyAdded');
  const { name = '', publicKey = '' } = Object(added?.data) as Record<string, string>;
  t.equal(await api.vault.unseal(account.id, name), 'a removed person', 'nobody can read its name');
  await t.rejects(api.vault.unsealExactly(erased.id, publicKey), 'nor its key');
  const command = {
    type: 'SuspendAccount',
    accountId: account.id,
    reason: await api.vault.seal(account.id, 'Unpaid.'),
    now: api.clock.time,
  } as const;
  await api.actors.send(accountAggregate, account.id, command, api.context());
  const answer = await signInWith(api, authenticator);
  t.match(refusal(answer), { status: 403, error: 'forbidden' });
  t.match(answer.body['message'], /Unpaid/);
});

void test('a password alone adds no passkey where the account requires the second factor that the person has', async (t) => {
  const { api, account, headers, authenticator } = await withPasskey(t);
  const bob = await joined(api, headers, 'bob@example.com', 'member');
  const before = await bearerOf(api, 'bob@example.com', { account: account.id });
  const bobs = await addPasskey(api, bob.headers);
  const policy = `${BASE}/account/sign-in-policy/`;
  const required = await api.call('PATCH', policy, { headers, body: { require: 'second_factor' } });
  t.equal(required.status, 200);
  const creation = await api.call('POST', `${PASSKEYS}creation/`, {
    headers: before,
    body: { password: PASSWORD },
  });
  t.match(refusal(creation), { status: 403, details: ['second_factor'] }, 'of an open session');
  const pair = { email: 'bob@example.com', password: PASSWORD };
  const byPassword = await api.call('POST', `${BASE}/auth/jwt/create/`, { body: pair });
  t.match(refusal(byPassword), { status: 401, details: ['passkey'] });
  for (const each of [authenticator, bobs.authenticator]) {
    t.equal((await signInWith(api, each)).status, 200);
  }
});

void test('an operator removes lost passkeys, and each account reads it', async (t) => {
  const { api, account, headers, authenticator } = await withPasskey(t);
  const members = `${BASE}/account/members/`;
  t.match((await api.call('GET', members, { headers })).body, [{ second_factor: true }]);
  await removeLostAuthenticator(api, { personId: founderOf(account.id) }, async () =>
    api.context(),
  );
  t.match(refusal(await signInWith(api, authenticator)), REFUSED);
  t.match((await api.call('GET', members, { headers })).body, [{ second_factor: false }]);
  const events = `${BASE}/account/events/?type=MemberSecondFactorRemoved`;
  t.equal((await api.call('GET', events, { headers })).headers.get('x-total-count'), '1');
  const again = removeLostAuthenticator(api, { personId: founderOf(account.id) }, async () =>
    api.context(),
  );
  await t.rejects(again, { code: 'not_found' });
});
