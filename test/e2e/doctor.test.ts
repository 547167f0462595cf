/** `pressledger doctor`: what it finds, where nothing was ever started and beside a service; it changes nothing. */

import { once } from 'node:events';
import { chmodSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { type Test, test } from 'tap';
import { type CliOptions, refuses, runCli } from '../support/cli.ts';
import { startMailServer } from '../support/mail-server.ts';
import { startNatsServer } from '../support/nats-server.ts';
import { startProvider } from '../support/oidc-provider.ts';
import { createPlace, type Place } from '../support/place.ts';
import { processesOf } from '../support/processes.ts';
import { createService } from '../support/service.ts';
import { treeOf } from '../support/trees.ts';

const KEY = '11'.repeat(32);

interface Diagnosis {
  readonly code: number | null;
  readonly ok: boolean;
  /** Verdict and text by the name of the check; several texts of one check one below the other. */
  readonly found: ReadonlyMap<string, { readonly verdict: string; readonly text: string }>;
}

async function diagnose(
  place: Place,
  env: CliOptions['env'] = {},
  args: readonly string[] = [],
): Promise<Diagnosis> {
  const { code, stdout } = await runCli(place, ['doctor', '--json', ...args], { env });
  const { ok, checks } = JSON.parse(stdout) as {
    ok: boolean;
    checks: readonly { name: string; verdict: string; text: string }[];
  };
  const found = new Map<string, { verdict: string; text: string }>();
  for (const { name, verdict, text } of checks) {
    const before = found.get(name);
    found.set(name, { verdict, text: before ? `${before.text}\n${text}` : text });
  }
  return { code, ok, found };
}

/** A server that takes connections and never says a word. */
async function silentPort(t: Test): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  const sockets = new Set<{ destroy: () => void }>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    for (const each of sockets) each.destroy();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port was free.');
  return address.port;
}

function program(place: Place, name: string, script: string): string {
  const path = join(dirname(place.dataDir), name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}

void test('where nothing was ever started, it checks everything and makes nothing', async (t) => {
  const place = createPlace(t);
  const before = treeOf(dirname(place.dataDir));
  const { code, ok, found } = await diagnose(place);
  t.equal(code, 0);
  t.equal(ok, true);
  t.strictSame(
    [...found.keys()],
    [
      'settings',
      'data directory',
      'port',
      'Chrome',
      'event store',
      'blob store',
      'keys',
      'fonts',
      'work on PDFs',
      'memory',
      'disk',
      'clock',
    ],
  );
  t.match(
    found.get('Chrome')?.text,
    /started and printed a page in \d+ ms, (in|without) its sandbox/,
  );
  t.match(found.get('keys')?.text, /made at the first start/);
  t.strictSame(treeOf(dirname(place.dataDir)), before);
  t.strictSame(processesOf(place.tmpDir), []);
});

void test('it asks the identity provider, and names what to register there', async (t) => {
  const place = createPlace(t);
  const provider = await startProvider(t);
  const env = { ...provider.env, PUBLIC_URL: 'https://pdf.example.com' };
  const look = async () => (await diagnose(place, env)).found.get('identity provider');
  t.match(await look(), { verdict: 'warning', text: /nobody can sign in with .*503/ });
  provider.serve('https://pdf.example.com');
  t.match(await look(), {
    verdict: 'ok',
    text: /answers; .* https:\/\/pdf\.example\.com\/dashboard\/oidc\/callback$/,
  });
});

void test('it signs in to the mail server of the settings, and sends nothing', async (t) => {
  const server = await startMailServer(t, { user: 'me', password: 'right' });
  const from = { MAIL_FROM: 'pdf@example.com' };
  const at = (password: string) => ({
    SMTP_URL: server.url.replace('//', `//me:${password}@`),
    ...from,
  });
  const place = createPlace(t);
  t.match((await diagnose(place, at('right'))).found.get('mail'), {
    verdict: 'ok',
    text: `127.0.0.1:${server.port} takes mail from pdf@example.com`,
  });
  const { code, found } = await diagnose(place, at('wrong'));
  t.equal(code, 1);
  t.match(found.get('mail'), { verdict: 'wrong', text: /takes no mail: .*535.*SMTP_URL/ });
  t.notMatch(found.get('mail')?.text, /wrong@/);
  t.match(
    (await diagnose(place, { SMTP_URL: server.url })).found.get('settings')?.text,
    /MAIL_FROM/,
  );
  t.same(server.received, []);
});

void test('beside a running service it finds it, and lines for people end with a sum', async (t) => {
  const service = createService(t);
  await service.start();
  const port = new URL(service.url).port;
  const { stdout, code } = await runCli(service.place, ['doctor'], { env: { PORT: port } });
  t.equal(code, 0);
  t.match(stdout, new RegExp(`^ok +port: a service of Pressledger answers at .*:${port}`, 'm'));
  t.match(stdout, /^ok +event store: SQLite answers, at position \d+$/m);
  t.match(stdout, /^ok +keys: the keyring is there, and the master key fits$/m);
  t.match(stdout, /^Nothing is wrong; \d+ warnings?\.\n$/m);
  await service.stop();
  const before = treeOf(service.place.dataDir);
  t.equal((await diagnose(service.place)).ok, true);
  t.strictSame(treeOf(service.place.dataDir), before, 'a store that rests is not changed');
  const wrongKey = await diagnose(service.place, { MASTER_KEY: KEY });
  t.match(wrongKey.found.get('keys'), { verdict: 'wrong', text: /set MASTER_KEY to that one/ });
  t.strictSame(treeOf(service.place.dataDir), before);
  renameSync(join(service.place.dataDir, 'keyring'), join(service.place.tmpDir, 'keyring'));
  const lost = await diagnose(service.place);
  t.match(lost.found.get('keys'), { verdict: 'wrong', text: /There is no keyring in .*keyring/ });
  await refuses(t, service.place, ['start'], 1, /There is no keyring in .*keyring/);
});

void test('it says all that is wrong, and how to mend it', async (t) => {
  const place = createPlace(t);
  const foreign = program(place, 'not-chrome', 'echo "no such library" >&2; exit 127');
  const { code, ok, found } = await diagnose(place, {
    PORT: String(await silentPort(t)),
    CHROME_PATH: foreign,
    LOG_LEVEL: 'loud',
    RATE_LIMIT_FREE: '0',
    EVENT_STORE_URL: 'postgres://db/x',
    PATH: `${dirname(foreign)}:${process.env['PATH'] ?? ''}`,
    RENDER_CONCURRENCY: '256',
  });
  t.equal(code, 1);
  t.equal(ok, false);
  const wrong = [...found].filter(([, { verdict }]) => verdict === 'wrong').map(([name]) => name);
  t.strictSame(wrong, ['settings', 'port', 'Chrome']);
  t.match(found.get('settings')?.text, /EVENT_STORE_URL .*\n?/);
  t.match(found.get('settings')?.text, /LOG_LEVEL must be/);
  t.match(found.get('settings')?.text, /RATE_LIMIT_FREE must be/);
  t.match(found.get('port')?.text, /in use.*PORT/);
  t.match(found.get('Chrome')?.text, /no such library.*CHROME_PATH/);
  t.match(found.get('event store'), {
    verdict: 'warning',
    text: 'not looked at: EVENT_STORE_URL cannot be used',
  });
  t.match(found.get('memory'), { verdict: 'warning', text: /lower RENDER_CONCURRENCY/ });
});

void test('fonts that are missing are named, with their packages', async (t) => {
  const place = createPlace(t);
  const fcList = program(place, 'fc-list', 'case "$1" in *1f600*) ;; *) echo "A Font";; esac');
  const { found } = await diagnose(place, {
    PATH: `${dirname(fcList)}:${process.env['PATH'] ?? ''}`,
  });
  t.match(found.get('fonts'), {
    verdict: 'warning',
    text: /^none for emoji: .*apt-get install fonts-noto-color-emoji/,
  });
});

void test('a qpdf that is missing, old or broken is a warning, which says what fails without it', async (t) => {
  const place = createPlace(t);
  const said = async (script: string) => {
    const qpdf = program(place, 'qpdf', script);
    const { ok, found } = await diagnose(place, {
      PATH: `${dirname(qpdf)}:${process.env['PATH'] ?? ''}`,
    });
    t.equal(ok, true);
    return found.get('work on PDFs');
  };
  const fails = 'Without it these fail: POST /documents/';
  t.match(await said('exit 127'), { verdict: 'warning', text: /does not run: install it .*qpdf/ });
  const old = await said('echo "qpdf version 10.6.3"');
  t.match(old, { verdict: 'warning', text: /is version 10\.6\.3, and 11 is the oldest/ });
  t.match(old?.text, fails);
  const good = await said('echo "qpdf version 12.2.0"');
  t.match(good, { verdict: 'ok', text: /^qpdf\/12\.2\.0 at / });
});

void test('what hangs is given up, and said to be wrong', async (t) => {
  const nats = await startNatsServer(t);
  await nats.freeze();
  const place = createPlace(t);
  const { code, found } = await diagnose(place, {
    NATS_URL: nats.url,
    BLOB_STORE_URL: `s3://bucket?region=x&endpoint=http://127.0.0.1:${await silentPort(t)}`,
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
    MASTER_KEY: KEY,
    EVENT_STORE_URL: `esdb://127.0.0.1:${await silentPort(t)}?tls=false`,
    CHROME_PATH: program(place, 'stuck-chrome', 'exec sleep 300'),
  });
  t.equal(code, 1);
  for (const name of ['NATS', 'blob store', 'event store', 'Chrome', 'keys']) {
    t.equal(found.get(name)?.verdict, 'wrong', `${name}: ${found.get(name)?.text}`);
  }
  t.strictSame(processesOf(place.tmpDir), [], 'nor is a Chrome left that hangs');
});

void test('each role is checked for what it needs', async (t) => {
  const place = createPlace(t);
  const renderer = await diagnose(place, {}, ['--role', 'renderer']);
  t.equal(renderer.code, 1);
  t.match(renderer.found.get('settings')?.text, /NATS_URL is needed by pressledger renderer/);
  t.notOk(renderer.found.has('event store'));
  t.ok(renderer.found.has('Chrome'));
  const api = await diagnose(place, {}, ['--role', 'api']);
  t.notOk(api.found.has('Chrome'));
  t.notOk(api.found.has('fonts'));
});
