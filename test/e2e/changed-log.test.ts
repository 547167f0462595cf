/** A log that was changed or put back past the service: it answers 503 and says why, until its operator decides. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { cliJson, runCli } from '../support/cli.ts';
import { eventually } from '../support/deadline.ts';
import { cutOff, forgeCredits } from '../support/forged-store.ts';
import { freePort } from '../support/free-port.ts';
import type { Place } from '../support/place.ts';
import { createService, type Service } from '../support/service.ts';

const EMAIL = 'ann@example.com';
const DIFFERS =
  /^The log's first \d+ events are not those of the checkpoint of \d+ events .*audit\.md/;

interface Stopped {
  readonly service: Service;
  readonly origin: string;
  readonly apiKey: string;
}

const removeReadModels = ({ dataDir }: Place): void =>
  rmSync(join(dataDir, 'read-model'), { recursive: true });

/** A service with a signed log and an account of 4,711 credits, which was stopped. */
async function stoppedService(
  t: Test,
  afterCheckpoint: (place: Place) => Promise<void> = async () => {},
  end: (service: Service) => Promise<unknown> = (service) => service.stop(),
): Promise<Stopped> {
  const port = String(await freePort());
  const service = createService(t, { PORT: port, CHECKPOINT_SECONDS: '3600' });
  await service.start();
  const { place } = service;
  await cliJson(place, ['account', 'create', EMAIL]);
  await cliJson(place, ['credits', 'grant', EMAIL, '4711']);
  const { key } = (await cliJson(place, ['key', 'create', EMAIL, '--name', 'k'])) as {
    key: string;
  };
  await cliJson(place, ['tlog', 'checkpoint']);
  await afterCheckpoint(place);
  await end(service);
  return { service, origin: `http://127.0.0.1:${port}`, apiKey: key };
}

/** Nothing is told of the log, whoever asks, and everybody who looks after the service is told why. */
async function answersNothing(
  t: Test,
  { service, origin, apiKey }: Stopped,
  line: RegExp,
): Promise<void> {
  service.launch();
  const headers = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' };
  const ask = (path: string, body?: string) =>
    fetch(origin + path, { headers, ...(body !== undefined && { method: 'POST', body }) });
  const ready = await eventually('an answer', async () => {
    const answer = await ask('/readyz').catch(() => undefined);
    const said = (await answer?.json()) as { message?: string; details?: { missing: string[] } };
    return said?.message && !/starting|being built/.test(said.message) ? said : undefined;
  });
  const [reason = ''] = ready.details?.missing ?? [];
  t.match(reason, line);
  t.equal((await ask('/healthz')).status, 200, 'a supervisor lets it be');
  const asked = [
    ask('/api/v1/account/'),
    ask('/api/v1/conversions/'),
    ask('/api/v1/account/ledger/'),
    ask('/tlog/checkpoint'),
    ask('/'),
    ask('/api/v1/pdf/', '{"html":"<p>x</p>"}'),
  ];
  for (const answer of await Promise.all(asked)) {
    const text = await answer.text();
    t.equal(answer.status, 503, answer.url);
    t.match(JSON.parse(text), { error: 'service_unavailable', message: /operator/ });
    t.notMatch(text, /9999|4711/);
  }
  const lines = () =>
    service.output.stderr.split('\n').filter((each) => line.test(messageOf(each)));
  await eventually('the line', () => lines().length > 0 || undefined);
  t.equal(lines().length, 1, 'one line');
  t.notMatch(service.output.stderr + service.output.stdout, /\\n {4}at |"stack"/, 'no stack');
  t.notMatch(service.output.stdout, /is ready at/);
}

/** The commands that an operator looks with say it, too. */
async function commandsSay(t: Test, { service: { place } }: Stopped, line: RegExp): Promise<void> {
  const told = await runCli(place, ['account', 'list']);
  t.match(told, { code: 1, stdout: '' });
  t.match(told.stderr.replace(/^pressledger: /, ''), line);
  const anywhere = new RegExp(line.source.slice(1));
  t.match((await runCli(place, ['status'])).stdout, anywhere);
  t.match(await runCli(place, ['doctor', '--json']), { code: 1, stdout: anywhere });
}

const messageOf = (line: string): string => {
  try {
    return (JSON.parse(line) as { msg?: string }).msg ?? '';
  } catch {
    return '';
  }
};

void test('a changed event, and read models that are gone', async (t) => {
  const stopped = await stoppedService(t);
  const { service } = stopped;
  forgeCredits(service.place, 4711, 9999);
  const rebuilt = await runCli(service.place, ['projections', 'rebuild']);
  t.match(rebuilt, { code: 1, stdout: '' }, 'a rebuild by command does not take it in');
  t.match(rebuilt.stderr, /^pressledger: The log's first \d+ events are not those/m);

  removeReadModels(service.place);
  await answersNothing(t, stopped, DIFFERS);
  await commandsSay(t, stopped, DIFFERS);
  t.match(await service.stop(), { code: 0 });
  await answersNothing(t, stopped, DIFFERS);
  t.match(await service.stop(), { code: 0 }, 'it is stopped like any other');
  const verified = await runCli(service.place, ['verify', '--json']);
  t.match(verified, { code: 1, stdout: /"ok": false/ });

  forgeCredits(service.place, 9999, 4711);
  await service.start();
  t.equal(
    (await service.client(stopped.apiKey).account()).credits,
    4811,
    'the signed log is served',
  );
});

void test('a changed event, and read models that stay', async (t) => {
  const stopped = await stoppedService(t);
  const { service, origin, apiKey } = stopped;
  forgeCredits(service.place, 4711, 9999);
  await service.start();
  const headers = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' };
  const body = '{"html":"<p>x</p>"}';
  const print = () => fetch(`${origin}/api/v1/pdf/`, { headers, method: 'POST', body });
  const refused = await print();
  t.equal(refused.status, 503);
  t.notMatch(await refused.text(), /9999|14710/);
  const line = /^The log's event at position \d+ \(revision \d+ of account-.*audit\.md/;
  await eventually('the line', () => {
    const lines = service.output.stderr.split('\n').filter((each) => line.test(messageOf(each)));
    return lines.length === 1 ? true : undefined;
  });
  for (const path of ['/readyz', '/api/v1/account/', '/api/v1/conversions/']) {
    t.equal((await fetch(origin + path, { headers })).status, 503, path);
  }
  t.equal((await print()).status, 503);
  await commandsSay(t, stopped, line);
  t.notMatch(service.output.stderr + service.output.stdout, /\\n {4}at |"stack"/, 'no stack');
  t.match(await service.stop(), { code: 0 });
  await answersNothing(t, stopped, line);
  t.match(await service.stop(), { code: 0 });

  forgeCredits(service.place, 9999, 4711);
  await service.start();
  t.equal((await service.client(apiKey).account()).credits, 4811, 'nothing was debited');
  t.equal((await print()).status, 202);
});

void test('a log that lost its newest events, which no checkpoint covers', async (t) => {
  const stopped = await stoppedService(
    t,
    async (place) => {
      await cliJson(place, ['credits', 'grant', EMAIL, '1']);
      // The read models have it.
      await cliJson(place, ['account', 'list']);
    },
    (service) => service.kill(),
  );
  const { place } = stopped.service;
  cutOff(place, 1);
  await answersNothing(t, stopped, /^The log lacks revision \d+ of account-\S+ .*audit\.md/);
  await stopped.service.stop();
  removeReadModels(place);
  await stopped.service.start();
  t.equal(
    (await stopped.service.client(stopped.apiKey).account()).credits,
    4811,
    'its operator decided',
  );
});

void test('a stop signs a checkpoint of the newest events, so that they cannot be cut off', async (t) => {
  const stopped = await stoppedService(t, async (place) => {
    await cliJson(place, ['credits', 'grant', EMAIL, '1']);
  });
  const { place } = stopped.service;
  removeReadModels(place);
  // The event of the checkpoint, and the grant.
  cutOff(place, 2);
  const line = /^The log holds \d+ events, and this node has signed or seen a checkpoint of \d+ /;
  await answersNothing(t, stopped, line);
});
