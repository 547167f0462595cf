/** The people of an account: roles by every route, invitations, removal, and what history says of them. */
import { test } from 'tap';
import { sendToAccount } from '../../src/accounts/accounts.ts';
import { Credentials } from '../../src/http/middleware/credential.ts';
import { ROLES } from '../../src/domain/choices.ts';
import { founderOf } from '../../src/domain/members.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { ActorSystem } from '../../src/actors/system.ts';
import { KeyHolders } from '../../src/archive/keys.ts';
import { noSnapshots } from '../support/actors.ts';
import { type Api, BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import { drives } from '../support/documented.ts';
import { bundleOf, filesOf, textOf } from '../support/evidence.ts';
import { accept, bearerOf, invite, invitedToken, joined } from '../support/every-people-answer.ts';
import { firstAccount, newOperator } from '../support/operator.ts';

const PDF = Buffer.from('%PDF-1.7\n%%EOF\n');
const MEMBERS = `${BASE}/account/members/`;
const ANOTHER = 'another long password';

async function ownerOf(api: Api) {
  const account = await api.newAccount();
  return { ...account, headers: await bearerOf(api, account.email) };
}

/** `all`; those that a route is for; `documents`: an auditor needs the right to them. */
const ROLES_OF: Readonly<Record<string, string>> = {
  'POST /pdf/': 'owner, member',
  'POST /documents/': 'owner, member',
  'GET /conversions/stream/': 'all',
  'GET /conversions/{id}/': 'all',
  'DELETE /conversions/{id}/': 'owner, member',
  'POST /conversions/{id}/retry/': 'owner, member',
  'POST /conversions/{id}/rerender/': 'owner, member',
  'GET /conversions/{id}/events/': 'all',
  'GET /conversions/{id}/file/': 'documents',
  'GET /conversions/{id}/request/': 'documents',
  'GET /conversions/{id}/manifest/': 'documents',
  'GET /conversions/{id}/picture/': 'documents',
  'GET /conversions/{id}/thumbnail/': 'documents',
  'GET /conversions/{id}/links/': 'all',
  'POST /conversions/{id}/links/': 'owner, member',
  'DELETE /conversions/{id}/links/{link_id}/': 'owner, member',
  'GET /conversions/zip/': 'documents',
  'GET /conversions/{id}/proof/': 'all',
  'GET /conversions/{id}/evidence/': 'all',
  'GET /conversions/': 'all',
  'POST /batches/': 'owner, member',
  'GET /batches/': 'all',
  'GET /batches/{id}/': 'all',
  'DELETE /batches/{id}/': 'owner, member',
  'GET /batches/{id}/events/': 'all',
  'GET /batches/{id}/zip/': 'documents',
  'GET /templates/': 'all',
  'POST /templates/': 'owner, member',
  'POST /templates/preview/': 'documents',
  'GET /templates/{id}/': 'all',
  'PATCH /templates/{id}/': 'owner, member',
  'DELETE /templates/{id}/': 'owner, member',
  'GET /templates/{id}/versions/': 'all',
  'POST /templates/{id}/versions/': 'owner, member',
  'GET /templates/{id}/versions/{version}/': 'documents',
  'POST /templates/{id}/preview/': 'documents',
  'POST /verify/': 'all',
  'GET /account/': 'all',
  'GET /account/ledger/': 'all',
  'GET /account/usage/': 'all',
  'POST /usage/statements/': 'owner',
  'GET /account/events/': 'all',
  'GET /account/mails/': 'all',
  'PATCH /account/mails/': 'all',
  'GET /account/low-credits/': 'all',
  'PUT /account/low-credits/': 'owner',
  'DELETE /account/low-credits/': 'owner',
  'GET /account/public-name/': 'all',
  'PUT /account/public-name/': 'owner',
  'DELETE /account/public-name/': 'owner',
  'GET /account/signature/': 'all',
  'PUT /account/signature/': 'owner',
  'DELETE /account/signature/': 'owner',
  'POST /account/password/': 'all',
  'POST /account/email/': 'all',
  'POST /auth/email/confirm/': 'all',
  'GET /account/person/': 'all',
  'PATCH /account/person/': 'all',
  'GET /account/person/passkeys/': 'all',
  'POST /account/person/passkeys/': 'all',
  'POST /account/person/passkeys/creation/': 'all',
  'POST /account/person/passkeys/request/': 'all',
  'PATCH /account/person/passkeys/{id}/': 'all',
  'POST /account/person/passkeys/{id}/remove/': 'all',
  'GET /account/members/': 'all',
  'POST /account/members/': 'owner',
  'PATCH /account/members/{id}/': 'owner',
  // Everybody may leave, and nobody but an owner removes another.
  'DELETE /account/members/{id}/': 'owner',
  'GET /account/person/totp/': 'all',
  'POST /account/person/totp/': 'all',
  'POST /account/person/totp/confirm/': 'all',
  'POST /account/person/totp/remove/': 'all',
  'POST /account/person/recovery-codes/': 'all',
  'GET /account/sign-in-policy/': 'all',
  'PATCH /account/sign-in-policy/': 'owner',
  'GET /sessions/': 'all',
  'DELETE /sessions/{id}/': 'all',
  'GET /api-keys/': 'all',
  'POST /api-keys/': 'owner, member',
  'DELETE /api-keys/{id}/': 'owner, member',
  'GET /webhooks/': 'all',
  'POST /webhooks/': 'owner',
  'GET /webhooks/secret/': 'all',
  'POST /webhooks/secret/rotate/': 'owner',
  'GET /webhooks/deliveries/': 'all',
  'GET /webhooks/deliveries/{id}/': 'all',
  'POST /webhooks/deliveries/{id}/redeliver/': 'owner',
  'GET /webhooks/{id}/': 'all',
  'PATCH /webhooks/{id}/': 'owner',
  'DELETE /webhooks/{id}/': 'owner',
  'POST /webhooks/{id}/rotate/': 'owner',
  'POST /webhooks/{id}/test/': 'owner',
  'POST /webhooks/{id}/redeliver/': 'owner',
  // Last: it ends the sessions of who asks.
  'DELETE /sessions/': 'all',
};

void test('each route lets those roles through that it is for, before the body is looked at', async (t) => {
  const routes = ROUTES.filter(
    ({ auth, isInternal }) => ['caller', 'session'].includes(auth) && isInternal !== true,
  ).map(({ method, path }) => `${method.toUpperCase()} ${path.slice(BASE.length)}`);
  t.strictSame(Object.keys(ROLES_OF).toSorted(), routes.toSorted(), 'the table has every route');
  const api = await startApi(t);
  const owner = await ownerOf(api);
  const people = {
    owner: owner.headers,
    member: (await joined(api, owner.headers, 'm@example.com', 'member')).headers,
    auditor: (await joined(api, owner.headers, 'a@example.com', 'auditor')).headers,
    granted: (await joined(api, owner.headers, 'g@example.com', 'auditor', { documents: true }))
      .headers,
  };
  const all = drives(api.document);
  for (const [name, whom] of Object.entries(ROLES_OF)) {
    const full = name.replace(' ', ` ${BASE}`);
    const drive = all.find(({ method, template }) => `${method} ${template}` === full);
    if (drive === undefined) throw new Error(`${name} is not in the document.`);
    const method = drive.path.endsWith('/stream/') ? 'HEAD' : drive.method;
    for (const [who, headers] of Object.entries(people)) {
      const role = who === 'granted' ? 'auditor' : who;
      const answer = await api.call(method, drive.path, {
        headers,
        ...(drive.body && { body: '{' }),
      });
      const may =
        whom === 'all' ||
        whom.split(', ').includes(role) ||
        (whom === 'documents' && who !== 'auditor');
      t.equal(answer.status === 403, !may, `${name} by ${who}: ${answer.status}`);
      if (!may) {
        t.match(
          answer.body['message'],
          /^(Your role in this account is|An auditor may read doc|Only an owner)/,
        );
      }
      if (may && drive.body) t.equal(answer.status, 400, `${name} by ${who} is read`);
    }
  }
});

/** What a session may ask for that lacks what its account requires: what sets that up, and its own end. */
const SETTING_UP: readonly string[] = [
  'GET /account/person/',
  'GET /account/person/passkeys/',
  'POST /account/person/passkeys/',
  'POST /account/person/passkeys/creation/',
  'POST /account/person/passkeys/request/',
  'GET /account/person/totp/',
  'POST /account/person/totp/',
  'POST /account/person/totp/confirm/',
  'GET /account/sign-in-policy/',
  'DELETE /sessions/{id}/',
  'DELETE /sessions/',
];

/** The public routes of these credentials, as `GET /path/`. */
const named = (...auths: readonly string[]) =>
  ROUTES.filter(({ auth, isInternal }) => auths.includes(auth) && isInternal !== true).map(
    ({ method, path }) => `${method.toUpperCase()} ${path}`,
  );

void test('operators alone use their routes, and keys none that is for people', async (t) => {
  const api = await startApi(t);
  const owner = await ownerOf(api);
  const operator = await newOperator(api);
  const invited = await joined(api, operator.headers, 'i@example.com', 'owner');
  const people = {
    owner: { headers: owner.headers },
    member: await joined(api, owner.headers, 'm@example.com', 'member'),
    auditor: await joined(api, owner.headers, 'a@example.com', 'auditor'),
    'an owner who was invited by an operator': { headers: invited.headers },
    'a key with all scopes': { key: owner.key },
    'a key of an operator': { key: operator.key },
  };
  const all = drives(api.document);
  const asks = async (name: string, by: object) => {
    const drive = all.find(({ method, template }) => `${method} ${template}` === name);
    if (drive === undefined) throw new Error(`${name} is not in the document.`);
    const method = drive.path.endsWith('/stream/') ? 'HEAD' : drive.method;
    return await api.call(method, drive.path, { ...by, ...(drive.body && { body: '{' }) });
  };
  const forOperators = named('operator');
  t.ok(forOperators.length > 20 && forOperators.every((each) => each.includes('/operator/')));
  for (const name of forOperators) {
    for (const [who, by] of Object.entries(people)) {
      t.equal((await asks(name, by)).status, 403, `${name} by ${who}`);
    }
    t.not((await asks(name, { headers: operator.headers })).status, 403, `${name} by an operator`);
  }
  for (const name of named('session')) {
    const answer = await asks(name, { key: owner.key });
    t.equal(answer.status, 403, `${name} by a key`);
    t.match(answer.body['message'], /^An API key may not do this/, name);
  }

  const policy = { type: 'ChangeSignInPolicy', require: 'second_factor' } as const;
  for (const { id: accountId } of [owner, operator]) {
    await sendToAccount(api, { ...policy, accountId }, api.context());
  }
  const lacking = { status: 403, error: 'forbidden', details: ['second_factor'] };
  const open = SETTING_UP.map((name) => name.replace(' ', ` ${BASE}`));
  const routes = named('caller', 'session', 'operator');
  t.strictSame(
    open.filter((name) => !routes.includes(name)),
    [],
    'each of the table is a route',
  );
  // Last: it ends the sessions of who asks.
  for (const name of [...routes.filter((each) => !open.includes(each)), ...open]) {
    const { headers } = name.includes('/operator/') ? operator : owner;
    const answer = await asks(name, { headers });
    if (open.includes(name)) t.not(answer.status, 403, `${name} sets it up`);
    // A stream is asked for by HEAD, whose answer has no body.
    else if (name.endsWith('/stream/')) t.equal(answer.status, 403, name);
    else t.strictSame(refusal(answer), lacking, `${name} by a session without a second factor`);
  }
  const reading = await api.call('GET', `${BASE}/account/`, { key: owner.key });
  t.equal(reading.status, 200, 'keys go on');
});

void test('an auditor sees records and evidence, and no document until an owner grants it', async (t) => {
  const api = await startApi(t);
  const owner = await ownerOf(api);
  const { id, headers } = await joined(api, owner.headers, 'a@example.com', 'auditor');
  const made = await api.call('POST', `${BASE}/pdf/`, {
    headers: owner.headers,
    body: { html: '<p>secret</p>' },
  });
  const conversion = String(made.body['id']);
  await api.complete(owner.id, conversion, PDF);
  const path = `${BASE}/conversions/${conversion}/`;
  const sha256 = String((await api.call('GET', path, { headers })).body['sha256']);
  const texts = async () => {
    const answers = [
      await api.call('GET', path, { headers }),
      await api.call('GET', `${BASE}/conversions/`, { headers }),
      await api.call('POST', `${BASE}/verify/`, { headers, body: { sha256 } }),
    ];
    for (const { status } of answers) t.equal(status, 200);
    return answers.map(({ text }) => text.includes('file_url'));
  };
  const evidence = () => api.call('GET', `${path}evidence/`, { headers });
  t.strictSame(await texts(), [false, false, false]);
  t.equal((await evidence()).status, 200);
  const downloads = () =>
    api.call('GET', `${BASE}/account/events/?type=DocumentDownloaded`, { headers });
  t.strictSame((await downloads()).body, [], 'such a bundle is not a download');
  const grant = await api.call('PATCH', `${MEMBERS}${id}/`, {
    headers: owner.headers,
    body: { documents: true },
  });
  t.match(grant.body, { role: 'auditor', documents: true });
  t.strictSame(await texts(), [true, true, true], 'at once');
  t.equal((await evidence()).status, 200);
  t.match((await downloads()).body, [{ actor: { person: id, role: 'auditor', name: 'Bob' } }]);
});

void test('people of several accounts choose one when they sign in', async (t) => {
  const api = await startApi(t);
  const [one, two, three] = [await ownerOf(api), await ownerOf(api), await ownerOf(api)];
  const token = await invite(api, one.headers, two.email, 'member');
  const joinedAs = await accept(api, token, { name: 'Two', password: PASSWORD });
  t.match(joinedAs.body, { id: founderOf(two.id), account: one.id, role: 'member' });
  const who = async (headers: Readonly<Record<string, string>>) =>
    (await api.call('GET', `${BASE}/account/person/`, { headers })).body;
  t.match(await who(await bearerOf(api, two.email)), {
    role: 'owner',
    accounts: [
      { id: two.id, current: true, role: 'owner' },
      { id: one.id, name: one.email, current: false, role: 'member' },
    ],
  });
  const there = await bearerOf(api, two.email, { account: one.id });
  const claims = JSON.parse(
    Buffer.from(there.Authorization.split('.')[1] ?? '', 'base64url').toString(),
  ) as object;
  t.match(claims, { sub: one.id, person: founderOf(two.id), role: 'member' });
  t.match((await api.call('GET', `${BASE}/account/`, { headers: there })).body, { id: one.id });
  const foreign = { email: two.email, password: PASSWORD, account: three.id };
  const refused = await api.call('POST', `${BASE}/auth/jwt/create/`, { body: foreign });
  t.strictSame(refusal(refused), { status: 404, error: 'not_found' });
  const guessed = await api.call('POST', `${BASE}/auth/jwt/create/`, {
    body: { ...foreign, password: 'wrong', account: one.id },
  });
  t.strictSame(refusal(guessed), { status: 401, error: 'unauthorized' }, 'before the account');

  const body = { current_password: PASSWORD, new_password: ANOTHER };
  const changed = await api.call('POST', `${BASE}/account/password/`, { headers: there, body });
  t.equal(changed.status, 204, 'in the other account');
  t.equal((await api.call('GET', `${BASE}/account/`, { headers: there })).status, 401);
  t.equal((await api.call('GET', `${BASE}/account/`, { headers: one.headers })).status, 200);
});

void test('an invited address without a sign-in gets one, and its own sessions and password', async (t) => {
  const api = await startApi(t);
  const owner = await ownerOf(api);
  const { id, headers } = await joined(api, owner.headers, 'Bob@Example.com', 'member');
  t.match((await api.call('GET', `${BASE}/sessions/`, { headers })).body, [{ current: true }]);
  const listed = await api.call('GET', `${BASE}/sessions/`, { headers: owner.headers });
  t.equal((listed.body as unknown as readonly object[]).length, 1, 'each sees their own');
  await api.call('DELETE', `${BASE}/sessions/`, { headers: owner.headers });
  t.equal((await api.call('GET', `${BASE}/account/`, { headers })).status, 200, 'and ends them');
  const body = { current_password: PASSWORD, new_password: ANOTHER };
  t.equal((await api.call('POST', `${BASE}/account/password/`, { headers, body })).status, 204);
  t.equal((await api.call('GET', `${BASE}/account/`, { headers })).status, 401);
  const again = await api.call('POST', `${BASE}/auth/jwt/create/`, {
    body: { email: 'bob@example.com', password: ANOTHER },
  });
  t.equal(again.status, 200);
  const history = await api.call('GET', `${BASE}/account/events/?page_size=100`, {
    headers: await bearerOf(api, owner.email),
  });
  const found = (type: string) =>
    (history.body as unknown as readonly { readonly type: string }[]).find(
      (entry) => entry.type === type,
    );
  t.match(found('PersonPasswordChanged'), { actor: { person: id, name: 'Bob', role: 'member' } });
  t.match(found('MemberJoined'), { summary: /joined as a member\. The person: Bob\.$/ });
  t.match(found('MemberInvited'), {
    actor: { kind: 'session', person: founderOf(owner.id), role: 'owner' },
    data: { email: 'Bob@Example.com', tokenHash: undefined },
  });
  t.notMatch(history.text, /tokenHash|passwordHash/);
});

void test('an account keeps an owner, whoever acts at the same time', async (t) => {
  const api = await startApi(t);
  const one = await ownerOf(api);
  const own = `${MEMBERS}${founderOf(one.id)}/`;
  const last = { status: 403, error: 'forbidden' };
  t.strictSame(refusal(await api.call('DELETE', own, { headers: one.headers })), last);
  const demote = { role: 'auditor' };
  t.strictSame(refusal(await api.call('PATCH', own, { headers: one.headers, body: demote })), last);
  const two = await joined(api, one.headers, 'two@example.com', 'owner');
  const statuses = await Promise.all([
    api.call('PATCH', `${MEMBERS}${two.id}/`, { headers: one.headers, body: demote }),
    api.call('PATCH', own, { headers: two.headers, body: demote }),
  ]);
  const [byOne, byTwo] = statuses.map(({ status }) => status);
  const [done, refused, owner] =
    byOne === 200 ? [byOne, byTwo, one.headers] : [byTwo, byOne, two.headers];
  t.equal(done, 200);
  // 401 where the role was changed while the body came.
  t.ok(refused === 403 || refused === 401, String(refused));
  const list = await api.call('GET', MEMBERS, { headers: owner });
  const roles = (list.body as unknown as readonly { role: string }[]).map(({ role }) => role);
  t.strictSame(roles.toSorted(), ['auditor', 'owner']);
});

void test('members invite, change and remove nobody, and may leave', async (t) => {
  const api = await startApi(t);
  const owner = await ownerOf(api);
  const other = await ownerOf(api);
  for (const role of ROLES.filter((each) => each !== 'owner')) {
    const { id, headers } = await joined(api, owner.headers, `${role}@example.com`, role);
    const invitation = { email: 'friend@example.com', role: 'owner' };
    const tries = [
      api.call('POST', MEMBERS, { headers, body: invitation }),
      api.call('PATCH', `${MEMBERS}${id}/`, { headers, body: { role: 'owner' } }),
      api.call('DELETE', `${MEMBERS}${founderOf(owner.id)}/`, { headers }),
    ];
    for (const answer of await Promise.all(tries)) t.equal(answer.status, 403, role);
    const foreign = await api.call('DELETE', `${MEMBERS}${id}/`, { headers: other.headers });
    t.equal(foreign.status, 404, 'of another account');
    t.equal((await api.call('DELETE', `${MEMBERS}${id}/`, { headers })).status, 204);
    t.equal((await api.call('GET', `${BASE}/account/`, { headers })).status, 401);
    const body = { email: `${role}@example.com`, password: PASSWORD };
    const back = await api.call('POST', `${BASE}/auth/jwt/create/`, { body });
    t.strictSame(refusal(back), { status: 403, error: 'forbidden' }, 'they belong to none');
  }
});

/** An account with a member, who has made a key. */
async function withKeyOfBob(api: Api) {
  const owner = await ownerOf(api);
  const bob = await joined(api, owner.headers, 'bob@example.com', 'member');
  const { body } = await api.call('POST', `${BASE}/api-keys/`, {
    headers: bob.headers,
    body: { name: 'of Bob' },
  });
  return { owner, bob, key: String(body['key']), keyId: String(body['id']) };
}

void test('sessions and keys of a removed member end at once, on every node, and for good', async (t) => {
  const api = await startApi(t);
  const { owner, bob, key } = await withKeyOfBob(api);
  const actors = new ActorSystem({ store: api.store, snapshots: noSnapshots });
  t.teardown(() => actors.close());
  const node = new Credentials({ ...api, actors });
  const there = async (headers: Readonly<Record<string, string>>) => {
    const get = (name: string) => headers[name] ?? '';
    const ctx = { get, state: { log: api.logger }, req: { socket: {} } } as unknown as Parameters<
      Credentials['callerOf']
    >[0];
    return (await node.callerOf(ctx))?.accountId;
  };
  const byKey = { 'X-API-Key': key };
  t.strictSame([await there(bob.headers), await there(byKey)], [owner.id, owner.id], 'control');
  const keysOf = async (headers: Readonly<Record<string, string>>) =>
    (await api.call('GET', `${BASE}/api-keys/`, { headers })).body as unknown as readonly object[];
  t.match(await keysOf(bob.headers), [{ name: 'of Bob', created_by: { name: 'Bob' } }]);
  t.equal((await keysOf(owner.headers)).length, 2, 'owners see all');
  const foreign = await api.call('DELETE', `${BASE}/api-keys/${owner.keyId}/`, {
    headers: bob.headers,
  });
  t.equal(foreign.status, 404, 'members revoke their own alone');
  const removed = await api.call('DELETE', `${MEMBERS}${bob.id}/`, { headers: owner.headers });
  t.equal(removed.status, 204);
  t.strictSame([await there(bob.headers), await there(byKey)], [undefined, undefined]);
  for (const headers of [bob.headers, byKey]) {
    t.equal((await api.call('GET', `${BASE}/account/`, { headers })).status, 401);
  }
  t.equal((await keysOf(owner.headers)).length, 1);
  const token = await invite(api, owner.headers, 'bob@example.com', 'member');
  t.equal((await accept(api, token)).status, 200, 'invited again');
  for (const headers of [bob.headers, byKey]) {
    t.equal((await api.call('GET', `${BASE}/account/`, { headers })).status, 401, 'for good');
  }
});

void test('an invitation is used once, in time, by the holder of its address', async (t) => {
  const api = await startApi(t);
  const owner = await ownerOf(api);
  const stranger = await ownerOf(api);
  const gone = { status: 410, error: 'gone' };
  const token = await invite(api, owner.headers, 'bob@example.com', 'auditor');
  const body = { name: 'Bob', password: PASSWORD };
  const byAnother = await accept(api, token, { name: 'Eve' }, stranger.headers);
  t.strictSame(refusal(byAnother), { status: 403, error: 'forbidden' });
  const byKey = await accept(api, token, body, { 'X-API-Key': stranger.key });
  t.equal(byKey.status, 401, 'a key is nobody');
  const both = await Promise.all([
    accept(api, token, { name: 'Bob', password: PASSWORD }),
    accept(api, token, { name: 'Eve', password: ANOTHER }),
  ]);
  const won = both.filter(({ status }) => status === 200);
  t.equal(won.length, 1, 'of two at the same time one wins');
  t.strictSame(refusal(await accept(api, token, body)), gone, 'used');

  const revoked = await invite(api, owner.headers, 'carol@example.com', 'member');
  const list = await api.call('GET', MEMBERS, { headers: owner.headers });
  const [open] = list.body as unknown as readonly { id: string; status: string }[];
  t.match(open, { status: 'invited', email: 'carol@example.com' });
  await api.call('DELETE', `${MEMBERS}${open?.id}/`, { headers: owner.headers });
  t.strictSame(refusal(await accept(api, revoked, body)), gone, 'revoked');
  await t.rejects(api.vault.dataKey(String(open?.id)), { name: 'KeyErased' }, 'its address went');

  const late = await invite(api, owner.headers, 'dora@example.com', 'member');
  api.clock.time += 7 * 24 * 60 * 60 * 1000;
  t.strictSame(refusal(await accept(api, late, body)), gone, 'late');
  const altered = `${late.slice(0, -1)}${late.endsWith('A') ? 'B' : 'A'}`;
  t.strictSame(refusal(await accept(api, altered, body)), gone);
  t.equal((await accept(api, `${late}x`, body)).status, 404);
});

void test('the invitations of an owner end with their ownership', async (t) => {
  const api = await startApi(t);
  const owner = await ownerOf(api);
  const gone = { status: 410, error: 'gone' };
  const kept = await invite(api, owner.headers, 'kept@example.com', 'member');
  for (const [name, method, body] of [
    ['removed', 'DELETE', undefined],
    ['demoted', 'PATCH', { role: 'member' }],
  ] as const) {
    const eve = await joined(api, owner.headers, `${name}@example.com`, 'owner');
    const token = await invite(api, eve.headers, `eve-${name}@example.com`, 'owner');
    const [open] = (await api.call('GET', MEMBERS, { headers: owner.headers }))
      .body as unknown as readonly { readonly id: string }[];
    const act = { headers: owner.headers, ...(body && { body }) };
    t.ok((await api.call(method, `${MEMBERS}${eve.id}/`, act)).status < 300);
    t.strictSame(refusal(await accept(api, token)), gone, name);
    await t.rejects(api.vault.dataKey(String(open?.id)), { name: 'KeyErased' }, 'its address went');
  }
  const listed = await api.call('GET', MEMBERS, { headers: owner.headers });
  t.match(listed.body, [{ role: 'member' }, { email: 'kept@example.com' }, { role: 'owner' }]);
  t.equal((await accept(api, kept)).status, 200, 'those of others stay');
});

void test('a sign-in whose invitation was cut off outlives it once it belongs to another account', async (t) => {
  const api = await startApi(t);
  const [one, two] = [await ownerOf(api), await ownerOf(api)];
  const cutOff = await invite(api, one.headers, 'dora@example.com', 'member');
  const [open] = (await api.call('GET', MEMBERS, { headers: one.headers }))
    .body as unknown as readonly { readonly id: string }[];
  const send = api.actors.send.bind(api.actors);
  const failing: typeof send = (type, id, command, context) => {
    if ((command as { readonly type: string }).type === 'JoinAccount') throw new Error('It ends.');
    return send(type, id, command, context);
  };
  api.actors.send = failing;
  t.equal((await accept(api, cutOff)).status, 500);
  api.actors.send = send;
  const dora = await joined(api, two.headers, 'dora@example.com', 'member');
  t.equal(dora.id, open?.id, 'the sign-in that was made');
  const revoking = { headers: one.headers };
  t.equal((await api.call('DELETE', `${MEMBERS}${dora.id}/`, revoking)).status, 204);
  t.match(await api.call('GET', `${BASE}/account/person/`, { headers: dora.headers }), {
    status: 200,
    body: { email: 'dora@example.com', accounts: [{ id: two.id }] },
  });
  const holders = new KeyHolders();
  holders.take((await api.store.readAll()).map((event) => ({ event })));
  t.equal(holders.open.has(dora.id), true, 'a restored keyring has the key');
});

void test('who acts as an operator is said of the person, not of the account', async (t) => {
  const api = await startApi(t);
  const first = await firstAccount(api);
  const personOf = async (headers: Readonly<Record<string, string>>) =>
    (await api.call('GET', `${BASE}/account/person/`, { headers })).body;
  const founder = await bearerOf(api, first.email);
  t.match(await personOf(founder), { operator: true, acts_as_operator: false });
  const another = { current_password: PASSWORD, new_password: ANOTHER };
  await api.call('POST', `${BASE}/account/password/`, { headers: founder, body: another });
  const headers = await bearerOf(api, first.email, { password: ANOTHER });
  t.match(await personOf(headers), { operator: true, acts_as_operator: true });
  const dora = await joined(api, headers, 'dora@example.com', 'owner');
  t.match(await personOf(dora.headers), {
    role: 'owner',
    operator: false,
    acts_as_operator: false,
  });
  t.equal((await api.call('GET', `${BASE}/account/`, dora)).body['operator'], true);
  t.equal((await api.call('GET', `${BASE}/operator/status/`, dora)).status, 403);
});

void test('an invitation does not tell whether its address has a sign-in, and needs its password', async (t) => {
  const api = await startApi(t);
  const owner = await ownerOf(api);
  const known = await ownerOf(api);
  const shapes = [];
  for (const email of [known.email, 'new@example.com']) {
    const invited = await api.call('POST', MEMBERS, {
      headers: owner.headers,
      body: { email, role: 'member' },
    });
    const { status, body } = invited;
    shapes.push({ status, names: Object.keys(body), name: body['name'] });
    const token = await invitedToken(api, invited);
    t.strictSame(
      (await api.call('GET', `${BASE}/invitations/${token}/`)).body['account_name'],
      owner.email,
    );
    for (const wrong of [{ name: 'x' }, { name: 'x', password: 'short' }, {}]) {
      const refused = refusal(await accept(api, token, wrong));
      t.match(refused, { status: 400 }, email);
      shapes.push(refused);
    }
  }
  t.strictSame(shapes.slice(0, 4), shapes.slice(4));
  const token = await invite(api, owner.headers, known.email, 'member');
  const guess = await accept(api, token, { name: 'Eve', password: 'a wrong password' });
  t.strictSame(refusal(guess), { status: 401, error: 'unauthorized' });
  const trail = await api.call('GET', `${BASE}/account/events/?type=SignInRefused`, {
    headers: known.headers,
  });
  t.equal((trail.body as unknown as readonly object[]).length, 1, 'it leaves its trail');
  const joinedNow = await accept(api, token, {}, known.headers);
  t.match(joinedNow.body, { id: founderOf(known.id), account: owner.id }, 'a session proves it');
});

void test('history and evidence keep the person, the key and the role of each act, whatever becomes of them', async (t) => {
  const api = await startApi(t);
  const { owner, bob, key, keyId } = await withKeyOfBob(api);
  const html = { body: { html: '<p>x</p>' } };
  const asked = await api.call('POST', `${BASE}/pdf/`, { ...html, key });
  const id = String(asked.body['id']);
  await api.complete(owner.id, id, PDF);
  const moment = (await api.store.head()).toString();
  const actorsIn = async (query = '') => {
    const path = `${BASE}/account/events/?page_size=100&conversion_id=${id}${query}`;
    const { body } = await api.call('GET', path, { headers: owner.headers });
    return (body as unknown as readonly { type: string; actor: object }[])
      .filter(({ type }) => type === 'ConversionRequested')
      .map(({ actor }) => actor);
  };
  const reportOf = async () => textOf(filesOf((await bundleOf(api, id)).zip), 'report.html');
  const by = { kind: 'key', id: keyId, person: bob.id, role: 'member' };
  const prefix = key.slice(0, 12);
  const then = { ...by, name: 'Bob', key_name: 'of Bob', key_prefix: prefix };
  t.strictSame(await actorsIn(), [then]);
  const report = await reportOf();
  for (const part of [prefix, 'Bob (member)']) t.match(report, part, part);

  const change = { headers: owner.headers, body: { role: 'auditor' } };
  t.equal((await api.call('PATCH', `${MEMBERS}${bob.id}/`, change)).status, 200);
  t.strictSame(await actorsIn(), [then], 'the role that they had');
  await api.call('DELETE', `${MEMBERS}${bob.id}/`, { headers: owner.headers });
  t.strictSame(await actorsIn(), [then], 'removed');
  t.strictSame(await actorsIn(`&as_of=${moment}`), [then], 'as of then');
  t.match(await reportOf(), 'Bob (member)');
  const path = `${BASE}/operator/people/${encodeURIComponent('bob@example.com')}/erase/`;
  t.equal((await api.fetchAsOperator(`http://x${path}`, { method: 'POST' })).status, 200);
  const erased = { ...then, name: 'a removed person' };
  t.strictSame(await actorsIn(), [erased]);
  t.strictSame(await actorsIn(`&as_of=${moment}`), [erased], 'an earlier moment tells no name');
  const after = await reportOf();
  t.notMatch(after, /(?<!of )Bob/, 'the name of the key is the account’s, and stays');
  t.match(after, 'a removed person (member)');
});

void test('a person is erased without the account, and events name a removed person', async (t) => {
  const api = await startApi(t);
  const owner = await ownerOf(api);
  const bob = await joined(api, owner.headers, 'bob@example.com', 'owner');
  const html = { headers: bob.headers, body: { html: '<p>x</p>' } };
  const cancelled = String((await api.call('POST', `${BASE}/pdf/`, html)).body['id']);
  await api.call('DELETE', `${BASE}/conversions/${cancelled}/`, { headers: bob.headers });
  const erase = (email: string) =>
    api.fetchAsOperator(`http://x${BASE}/operator/people/${encodeURIComponent(email)}/erase/`, {
      method: 'POST',
    });
  t.equal((await erase('nobody@example.com')).status, 404);
  t.equal((await erase('bob@example.com')).status, 200);
  t.equal((await api.call('GET', `${BASE}/account/`, { headers: bob.headers })).status, 401);
  const body = { email: 'bob@example.com', password: PASSWORD };
  t.equal((await api.call('POST', `${BASE}/auth/jwt/create/`, { body })).status, 401);
  const history = await api.call('GET', `${BASE}/account/events/?page_size=100`, {
    headers: owner.headers,
  });
  t.match(history.text, '"a removed person"');
  const records = await api.call('GET', `${BASE}/conversions/`, { headers: owner.headers });
  t.match(records.body, [{ id: cancelled, failure_code: 'cancelled' }]);
  t.notMatch(records.text, /bob/i, 'who cancelled');
  t.notMatch(history.text, /bob@example\.com|"Bob"/i);
  t.equal((await erase(owner.email)).status, 403, 'the last owner');
  const again = await joined(api, owner.headers, 'bob@example.com', 'owner');
  t.not(again.id, bob.id, 'the address is free');
  t.equal((await erase(owner.email)).status, 200, 'a founder, without the account');
  const account = await api.call('GET', `${BASE}/account/`, { headers: again.headers });
  t.match(account.body, { id: owner.id, email: 'a removed person' });
});
