/** A thief holds back the end of a body until the owner has ended the session, the key or the membership. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { type Test, test } from 'tap';
import { endSessions } from '../../src/accounts/accounts.ts';
import { revokeApiKey } from '../../src/accounts/api-keys.ts';
import { changeMember, removeMember } from '../../src/accounts/members.ts';
import { suspendAccount } from '../../src/accounts/suspension.ts';
import { type Api, BASE, startApi } from '../support/api.ts';
import { joined } from '../support/every-people-answer.ts';
import { newOperator, setOperator, signedIn } from '../support/operator.ts';

/** Sends a request but for its last byte, does `meanwhile`, and returns the status of the answer. */
async function heldBack(
  t: Test,
  api: Api,
  { path, credential, body }: { path: string; credential: string; body: object },
  meanwhile: () => Promise<unknown>,
): Promise<number> {
  const { host, port, hostname } = new URL(api.origin);
  const socket = connect(Number(port), hostname);
  t.teardown(() => socket.destroy());
  const text = JSON.stringify(body);
  const lines = [
    `POST ${BASE}${path} HTTP/1.1`,
    `Host: ${host}`,
    credential,
    'Content-Type: application/json',
    `Content-Length: ${text.length}`,
    'Expect: 100-continue',
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const [goOn] = (await once(socket, 'data')) as [Buffer];
  t.match(goOn.toString(), ' 100 ');
  socket.write(text.slice(0, -1));
  // The credential was judged before this answer, which came by another connection later.
  await api.call('GET', '/readyz');
  await meanwhile();
  socket.write(text.slice(-1));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  return Number(answer.toString().split(' ')[1]);
}

void test('no key is made by a session that ended while the body came', async (t) => {
  const api = await startApi(t);
  const { id, email } = await api.newAccount();
  const { Authorization: authorization } = await signedIn(api, email);
  const credential = `Authorization: ${authorization}`;
  const request = { path: '/api-keys/', credential, body: { name: 'stolen' } };
  t.equal(await heldBack(t, api, request, async () => {}), 201, 'the control');
  const end = () => endSessions(api, { accountId: id }, api.context());
  t.equal(await heldBack(t, api, request, end), 401);
});

void test('no credits are granted by an operator who was revoked while the body came', async (t) => {
  const api = await startApi(t);
  const operator = await newOperator(api);
  const { id } = await api.newAccount();
  const request = {
    path: `/operator/accounts/${id}/credits/`,
    credential: `Authorization: ${operator.headers.Authorization}`,
    body: { amount: 7 },
  };
  t.equal(await heldBack(t, api, request, async () => {}), 200, 'the control');
  const revoke = () => setOperator(api, operator.id, false);
  t.equal(await heldBack(t, api, request, revoke), 401);
});

void test('nothing is converted for a credential that ended while the body came', async (t) => {
  const api = await startApi(t);
  const { id, email, key, keyId } = await api.newAccount();
  const owner = await signedIn(api, email);
  const html = { html: '<p>one</p>' };
  const source = { file: Buffer.from('%PDF-1.7').toString('base64') };
  const uploads = {
    '/pdf/': html,
    '/documents/': { sources: [source] },
    '/batches/': { requests: [html] },
  };
  const context = () => api.context();
  const ends = {
    'a session': async () => {
      const bob = await joined(api, owner, 'bob@example.com', 'member');
      return {
        credential: `Authorization: ${bob.headers.Authorization}`,
        end: () => endSessions(api, { accountId: id, personId: bob.id }, context()),
      };
    },
    'a membership': async () => {
      const bob = await joined(api, owner, 'eve@example.com', 'member');
      return {
        credential: `Authorization: ${bob.headers.Authorization}`,
        end: () => removeMember(api, id, bob.id, undefined, context()),
      };
    },
    'a role': async () => {
      const bob = await joined(api, owner, 'cid@example.com', 'member');
      return {
        credential: `Authorization: ${bob.headers.Authorization}`,
        end: () => changeMember(api, id, bob.id, { role: 'auditor' }, undefined, context()),
      };
    },
    'a key': async () => ({
      credential: `X-API-Key: ${key}`,
      end: () => revokeApiKey(api, keyId, { accountId: id }, context()),
    }),
  };
  const accepted = async () =>
    (await api.log()).filter(({ type }) => type === 'ConversionRequested').length;
  for (const [path, body] of Object.entries(uploads)) {
    const request = { path, credential: `Authorization: ${owner.Authorization}`, body };
    t.equal(await heldBack(t, api, request, async () => {}), 202, `the control of ${path}`);
  }
  const before = await accepted();
  for (const [name, begin] of Object.entries(ends)) {
    const { credential, end } = await begin();
    // All are held back before the end.
    const statuses: number[] = [];
    const all = Object.entries(uploads).reduce<() => Promise<unknown>>(
      (meanwhile, [path, body]) =>
        async () =>
          statuses.push(await heldBack(t, api, { path, credential, body }, meanwhile)),
      end,
    );
    await all();
    t.strictSame(statuses, [401, 401, 401], name);
  }
  const last = await api.newAccount();
  const suspend = async () =>
    await suspendAccount(api, last.id, await api.vault.seal(last.id, 'why'), context());
  const request = { path: '/pdf/', credential: `X-API-Key: ${last.key}`, body: html };
  t.equal(await heldBack(t, api, request, suspend), 403, 'a suspended account');
  t.equal(await accepted(), before);
});
