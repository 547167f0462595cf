/** Deliveries, checked by a receiver in another language with the library of Standard Webhooks. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Test, test } from 'tap';
import { bringPythonPackages } from '../../setup/python.mjs';
import { lacks } from '../support/lacks.ts';
import { startWebhookApi } from '../support/webhooks.ts';

const TOOLS = join(import.meta.dirname, '../webhook-tools');
const PYTHON = join(TOOLS, '.venv/bin/python');
const skip = lacks('standardwebhooks for Python', [PYTHON, '-c', 'import standardwebhooks']);
const ENDED = { types: ['conversion.completed', 'conversion.failed'] };

/** @returns its URL, and its next line */
async function startReceiver(t: Test, secret: string) {
  const child = spawn(PYTHON, [join(TOOLS, 'receiver.py')], {
    env: { ...process.env, WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  t.teardown(async () => {
    child.kill();
    await closed;
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { done, value } = await lines.next();
    if (done) throw new Error('The receiver ended.');
    return value;
  };
  return { url: `http://127.0.0.1:${await next()}/`, next };
}

void test('a receiver in Python', { skip }, async (t) => {
  const w = await startWebhookApi(t);
  const { body } = await w.callAs('POST', '/webhooks/secret/rotate/');
  const ofRequests = await startReceiver(t, String(body['secret']));
  const { id, secret } = await w.create('http://127.0.0.1:9/', ENDED);
  const receiver = await startReceiver(t, secret);
  await w.callAs('PATCH', `/webhooks/${id}/`, { url: receiver.url });

  const named = { filename: 'Łódź – naïve “quotes” 📄.pdf', webhook_url: ofRequests.url };
  const completed = await w.end(await w.request(named));
  for (const each of [receiver, ofRequests])
    t.equal(await each.next(), `verified conversion.completed ${completed}`);
  await w.callAs('POST', `/webhooks/${id}/rotate/`);
  const failed = await w.failOne(await w.request());
  t.equal(await receiver.next(), `verified conversion.failed ${failed}`, 'the former secret signs');
  const other = await startReceiver(t, secret);
  await w.create(other.url, ENDED);
  await w.end(await w.request());
  t.match(await other.next(), /^refused /, 'a secret of another endpoint does not');
});

void test('an environment of Python is whole or not there', async (t) => {
  // No index: a package that is not here cannot be had.
  process.env['PIP_NO_INDEX'] = '1';
  t.teardown(() => delete process.env['PIP_NO_INDEX']);
  const folder = t.testdir({
    'requirements.txt': 'standardwebhooks==1.1.0\n',
    '.venv': { bin: { python: '' } },
    '.venv.unfinished': { bin: { python: '' } },
  });
  await bringPythonPackages(folder, 'tests');
  t.same(await readdir(folder), ['requirements.txt'], 'of a set-up that fails nothing stays');

  await t.test(
    'one that succeeds',
    { skip: lacks('venv', ['python3', '-m', 'venv', '--help']) },
    async (own) => {
      await writeFile(join(folder, 'requirements.txt'), '');
      await bringPythonPackages(folder, 'tests');
      own.same(await readdir(folder), ['.venv', 'requirements.txt']);
      own.equal(
        lacks('Python', [join(folder, '.venv/bin/python'), '-m', 'pip', '--version']),
        false,
      );
    },
  );
});
