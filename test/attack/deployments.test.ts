/** Two deployments with one MASTER_KEY, such as production and a copy for tests: nothing of one opens the other. */

import { test } from 'tap';
import { ActorSystem } from '../../src/actors/system.ts';
import { deriveKey } from '../../src/documents/keys/master-key.ts';
import { createFileTokens, createTokens } from '../../src/http/tokens.ts';
import { openLog } from '../../src/log/log-origin.ts';
import { noSnapshots } from '../support/actors.ts';
import { type Api, BASE, MASTER_KEY, PASSWORD, refusal, startApi } from '../support/api.ts';

/** Signs as `service/roles.ts` does, under the origin of its own log. */
async function signingAsDeployed({ actors, clock }: Pick<Api, 'actors' | 'clock'>) {
  const { origin } = await openLog({ actors, clock });
  return {
    tokens: createTokens(deriveKey(MASTER_KEY, 'access tokens', 32), origin, clock),
    fileTokens: createFileTokens(deriveKey(MASTER_KEY, 'file links', 32), origin, clock),
  };
}

void test('tokens and links of another deployment with the same key are refused', async (t) => {
  const apis = await Promise.all([startApi(t), startApi(t)]);
  const [{ clock }] = apis;
  const signed = await Promise.all(apis.map(signingAsDeployed));
  for (const [mine, others] of [signed, signed.toReversed()]) {
    if (mine === undefined || others === undefined) throw new Error('There are two.');
    const claims = { accountId: 'acct_1', sessionId: 'sess_1' };
    const issued = { ...claims, personId: 'person_1', role: 'owner' } as const;
    const expiresAt = clock.time + 60_000;
    for (const kind of ['access', 'refresh'] as const) {
      const token = await mine.tokens.issue(kind, issued, expiresAt);
      t.match(await mine.tokens.verify(kind, token), claims, `${kind}: the control`);
      t.equal(await others.tokens.verify(kind, token), undefined, kind);
    }
    const link = mine.fileTokens.mint('conv_1', 60);
    t.equal(await mine.fileTokens.verify(link, 'conv_1'), true, 'link: the control');
    t.equal(await others.fileTokens.verify(link, 'conv_1'), false, 'link');
  }
});

void test('a session that both logs hold is good in its own deployment alone', async (t) => {
  const copy = await startApi(t, {
    replace: ({ clock }) => ({
      tokens: createTokens(
        deriveKey(MASTER_KEY, 'access tokens', 32),
        'pressledger/ffffffffffffffff',
        clock,
      ),
    }),
  });
  const { email } = await copy.newAccount();
  const { body } = await copy.call('POST', `${BASE}/auth/jwt/create/`, {
    body: { email, password: PASSWORD },
  });
  const token = body['access'] as string;
  const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    sub: string;
    sid: string;
    person: string;
  };
  const ask = (access: string) =>
    copy.call('GET', `${BASE}/account/`, { headers: { Authorization: `Bearer ${access}` } });
  t.equal((await ask(token)).status, 200, 'the control');
  const of = {
    accountId: claims.sub,
    sessionId: claims.sid,
    personId: claims.person,
    role: 'owner',
  } as const;
  const foreign = await (await signingAsDeployed(copy)).tokens.issue(
    'access',
    of,
    copy.clock.time + 60_000,
  );
  t.strictSame(refusal(await ask(foreign)), { status: 401, error: 'unauthorized' });
});

void test('a log is named once, whichever of two nodes is first', async (t) => {
  const api = await startApi(t);
  const other = new ActorSystem({ store: api.store, snapshots: noSnapshots });
  t.teardown(() => other.close());
  const nodes = [api.actors, other];
  const named = await Promise.all(nodes.map((actors) => openLog({ actors, clock: api.clock })));
  const [{ origin } = { origin: '' }] = named;
  t.match(origin, /^pressledger\/[0-9a-f]{16}$/);
  t.equal(named[1]?.origin, origin);
  t.equal((await openLog(api)).origin, origin, 'and again at the next start');
  const opened = (await api.store.readAll()).filter(({ type }) => type === 'LogOpened');
  t.match(opened, [{ data: { origin }, metadata: { actor: { kind: 'service' } } }]);
});
