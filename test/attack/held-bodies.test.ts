/** A thief holds back the end of a body until the owner has ended the session. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { type Test, test } from 'tap';
import { endSessions } from '../../src/accounts/accounts.ts';
import { type Api, BASE, startApi } from '../support/api.ts';
import { newOperator, setOperator, signedIn } from '../support/operator.ts';

/** Sends a request but for its last byte, does `meanwhile`, and returns the status of the answer. */
async function heldBack(
  t: Test,
  api: Api,
  { path, authorization, body }: { path: string; authorization: string; body: object },
  meanwhile: () => Promise<unknown>,
): Promise<number> {
  const { host, port, hostname } = new URL(api.origin);
  const socket = connect(Number(port), hostname);
  t.teardown(() => socket.destroy());
  const text = JSON.stringify(body);
  const lines = [
    `POST ${BASE}${path} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: ${authorization}`,
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
  const request = { path: '/api-keys/', authorization, body: { name: 'stolen' } };
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
    authorization: operator.headers.Authorization,
    body: { amount: 7 },
  };
  t.equal(await heldBack(t, api, request, async () => {}), 200, 'the control');
  const revoke = () => setOperator(api, operator.id, false);
  t.equal(await heldBack(t, api, request, revoke), 401);
});
