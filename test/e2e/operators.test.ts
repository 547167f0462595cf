/** An operator of the service as it is started: from the command that makes one to the erasure of an account. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { test } from 'tap';
import { cliJson, refuses } from '../support/cli.ts';
import { startService } from '../support/service.ts';

type Body = Readonly<Record<string, unknown>>;

void test('the first account looks after the service, once its password is changed', async (t) => {
  const service = await startService(t);
  const { email, password: first } = service.firstStart;
  const call = async (method: string, path: string, access?: string, body?: object) => {
    const answer = await fetch(`${service.url}/api/v1${path}`, {
      method,
      headers: {
        ...(body && { 'Content-Type': 'application/json' }),
        ...(access && { Authorization: `Bearer ${access}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: JSON.parse(text) as Body & readonly Body[] };
  };
  const signIn = async (password: string) => {
    const pair = await call('POST', '/auth/jwt/create/', undefined, { email, password });
    return String(pair.body['access']);
  };
  let access = await signIn(first);
  const status = () => call('GET', '/operator/status/', access);
  const refused = await status();
  t.equal(refused.status, 403);
  t.match(refused.body['message'], /account password EMAIL/);
  const { password } = (await cliJson(service.place, ['account', 'password', email])) as {
    password: string;
  };
  t.equal((await status()).status, 401, 'the session of the first password has ended');
  access = await signIn(password);

  const mails = ['account', 'mails', email];
  t.match(await cliJson(service.place, [...mails, '--off', 'credits_low']), {
    credits_low: false,
    key_expiring: true,
  });
  t.match(await cliJson(service.place, [...mails, '--on', 'credits_low']), { credits_low: true });
  const history = async (...filter: string[]) =>
    (await cliJson(service.place, ['history', email, ...filter])) as readonly {
      readonly type: string;
      readonly actor: object;
    }[];
  const changes = await history('--type', 'PersonMailsChanged');
  t.strictSame(
    changes.map(({ actor }) => actor),
    [{ kind: 'operator' }, { kind: 'operator' }],
    'whoever changes the mails of somebody else is not taken for them',
  );

  // The command line and the API show what one person did, by a session and by a key of theirs.
  const { id: person } = (await call('GET', '/account/person/', access)).body;
  const made = await call('POST', '/api-keys/', access, { name: 'own' });
  const converted = await service.client(String(made.body['key'])).create({ html: '<p>x</p>' });
  const own = await history('--person', String(person));
  t.ok(own.every(({ actor }) => 'person' in actor && actor.person === person));
  t.match(
    own.find(({ type }) => type === 'KeyCreated'),
    { actor: { kind: 'session', role: 'owner' } },
  );
  t.match(
    own.find(({ type }) => type === 'ConversionRequested'),
    { actor: { kind: 'key', id: made.body['id'] }, data: { conversionId: converted.id } },
  );
  const path = `/account/events/?page_size=100&person=${String(person)}`;
  const listed = (await call('GET', path, access)).body;
  t.ok(listed.length > 0 && listed.length === own.length, 'the same by both');
  t.strictSame(await history('--person', 'person_00000000000000000000000000'), []);
  t.match(await status(), {
    status: 200,
    body: { ready: true, leads: true, led: true, nodes: [{ id: 'here', slots: 1 }] },
  });
  t.equal((await call('POST', '/operator/projections/rebuild/', access)).status, 202);
  const projection = async () => (await call('GET', '/operator/projections/', access)).body[0];
  while ((await projection())?.['rebuilding'] !== undefined) await setTimeout(500);
  t.match(await projection(), { lag: 0, last_rebuild: { error: null } });

  const customer = 'ann@example.com';
  const opened = await call('POST', '/operator/accounts/', access, { email: customer });
  const at = `/operator/accounts/${String(opened.body['id'])}`;
  const erasure = { email: customer, password };
  t.equal((await call('POST', `${at}/erase/`, access, erasure)).status, 202);
  const stored = () =>
    readdirSync(join(service.place.dataDir, 'keyring')).some((name) => name.endsWith('.erased'));
  while (!stored()) await setTimeout(50);
  t.pass('the process that leads has destroyed its key');
  await refuses(t, service.place, ['account', 'operator', email, '--revoke'], 1, /last operator/);
  await refuses(t, service.place, ['account', 'erase', email, '--yes'], 1, /an operator first\.$/m);
  await cliJson(service.place, ['account', 'create', 'other@example.com']);
  await cliJson(service.place, ['account', 'operator', 'other@example.com', '--grant']);
  await cliJson(service.place, ['account', 'operator', email, '--revoke']);
  t.equal((await status()).status, 403);
  await service.restart();
  t.match(await status(), { status: 403 }, 'a start does not make it one again');
  const granted = await cliJson(service.place, ['account', 'operator', email, '--grant']);
  t.match(granted, { email, operator: true });
  t.equal((await status()).status, 200);
  await cliJson(service.place, ['verify']);
});
