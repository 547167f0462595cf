/** Text of clients, pages and servers on the terminal of somebody who runs a command or reads a log. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { findAccount } from '../../src/accounts/accounts.ts';
import { operatorContext } from '../../src/actors/command-context.ts';
import { readConfig } from '../../src/config/config.ts';
import { apiKeyAggregate } from '../../src/domain/api-key.ts';
import { createLogger, readableLine } from '../../src/observe/log.ts';
import { openCore } from '../../src/service/core.ts';
import { apiKeyDigest, apiKeyIdOf } from '../../src/time/ids.ts';
import { type CliResult, cliJson, runCli } from '../support/cli.ts';
import { createPlace, type Place } from '../support/place.ts';

const ANN = 'ann@example.com';
const ESCAPES = '\u001b]0;pwned\u0007\u001b[2K\u001b[31mRED\u202egnp';
const FORGED = 'nl\nkey_fake  pk_live_XXXX…  prod  never used\u2028pressledger: \u009b31m';

/** All but the line feed that ends a line. */
const UNSAFE = /[^\P{Cc}\n]|[\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/u;

const linesOf = (text: string): readonly string[] => text.trimEnd().split('\n');

function harmless(t: Test, { stdout, stderr }: CliResult, what: string): void {
  t.notMatch(stdout, UNSAFE, `${what}: standard output`);
  t.notMatch(stderr, UNSAFE, `${what}: standard error`);
}

/** Keys whose names are stored as a client once sent them, past today's check of names. */
async function storeKeys(place: Place, names: readonly string[]): Promise<void> {
  const config = readConfig(place.env);
  const core = await openCore(config, createLogger('silent'), { create: false });
  try {
    const account = await findAccount(core, ANN);
    if (!account) throw new Error('There is no account.');
    for (const [index, name] of names.entries()) {
      const digest = apiKeyDigest(`pk_live_${String(index).padStart(24, '0')}`);
      const keyId = apiKeyIdOf(digest);
      const context = operatorContext(core.clock);
      await core.actors.send(
        apiKeyAggregate,
        keyId,
        {
          type: 'CreateKey',
          accountId: account.id,
          keyId,
          keyHash: digest.toString('hex'),
          prefix: 'pk_live_0000',
          name: await core.vault.seal(account.id, name),
          now: context.metadata.time,
        },
        context,
      );
    }
  } finally {
    await core.close();
  }
}

/** A server on loopback, ended with the test; its origin. */
async function serve(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

void test('names of keys cannot steer the terminal or forge a line', async (t) => {
  const place = createPlace(t);
  await cliJson(place, ['account', 'create', '--email', ANN]);
  await storeKeys(place, [ESCAPES, FORGED]);
  const list = await runCli(place, ['key', 'list', ANN]);
  harmless(t, { ...list, stdout: list.stdout.replaceAll('\t', ' ') }, 'key list');
  t.equal(linesOf(list.stdout).length, 2, 'a line for each key');
  for (const line of linesOf(list.stdout)) {
    t.match(line, /^key_[0-9a-z]{26}\tpk_live_0000\t/);
    t.equal(line.split('\t').length, 9, 'no name adds a column');
  }

  const json = await runCli(place, ['key', 'list', ANN, '--json']);
  harmless(t, json, 'key list --json');
  const names = (JSON.parse(json.stdout) as { name: string }[]).map(({ name }) => name);
  t.strictSame(new Set(names), new Set([ESCAPES, FORGED]), 'the values are exact');
});

void test('what a server answers cannot steer the terminal or forge a line', async (t) => {
  const place = createPlace(t);
  const target = join(place.tmpDir, 'never.pdf');
  let refusal: object = {};
  const server = await serve(t, (request, response) => {
    request.resume();
    const refused = Object.keys(refusal).length > 0;
    response.writeHead(refused ? 400 : request.method === 'POST' ? 202 : 200, {
      'Content-Type': 'application/json',
    });
    const record = { id: `conv_1${ESCAPES}`, status: 'failed', error_message: FORGED };
    response.end(JSON.stringify(refused ? refusal : record));
  });
  const env = { PRESSLEDGER_SERVER: server, PRESSLEDGER_API_KEY: 'k' };
  const convert = ['convert', 'https://example.com/', '-o', target];
  for (const [what, answer] of Object.entries({
    message: { error: 'validation_error', message: FORGED + ESCAPES },
    details: { error: 'validation_error', message: 'm', details: { [ESCAPES]: [FORGED] } },
    'failed conversion': {},
  })) {
    refusal = answer;
    const result = await runCli(place, convert, { env });
    harmless(t, result, what);
    t.equal(result.code, 1, what);
    const told = linesOf(result.stderr).filter((line) => line.startsWith('pressledger: '));
    t.equal(told.length, 1, 'one line says why');
    t.match(told[0], /key_fake/);
  }
  const json = await runCli(place, [...convert, '--json'], { env });
  harmless(t, json, 'convert --json');
  t.equal((JSON.parse(json.stdout) as { error_message: string }).error_message, FORGED);
});

void test("a web server's header cannot reach the terminal by a conversion's failure", async (t) => {
  const place = createPlace(t, { ALLOW_PRIVATE_NETWORK: 'true', RENDER_TIMEOUT_MS: '10000' });
  await cliJson(place, ['account', 'create', '--email', ANN]);
  const page = await serve(t, (_, response) => {
    response.writeHead(200, { 'Content-Type': 'image/\u009b31m\u00c2\u009b31mred' });
    response.end('GIF89a');
  });
  const convert = ['convert', page, '-o', join(place.tmpDir, 'never.pdf')];
  const result = await runCli(place, convert);
  harmless(t, result, 'convert');
  t.match(result, { code: 1, stderr: /^pressledger: Conversion conv_\w+ failed: /m });
});

void test('log lines are JSON that no terminal obeys', (t) => {
  const script = `
    import { createLogger } from '${join(import.meta.dirname, '../../src/observe/log.ts')}';
    const [text] = JSON.parse(process.argv[1]);
    createLogger('info').warn({ text, [text]: 1, err: new Error(text) }, text);`;
  const text = ESCAPES + FORGED;
  const { stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script, JSON.stringify([text])],
    { encoding: 'utf8' },
  );
  t.notMatch(stderr, UNSAFE);
  t.equal(linesOf(stderr).length, 1);
  const line = JSON.parse(stderr) as { time: string };
  t.match(line, { text, [text]: 1, msg: text, err: { message: text } });
  t.equal(new Date(line.time).toISOString(), line.time);
  t.end();
});

void test('a line for people says the same, and no terminal obeys it', (t) => {
  const text = ESCAPES + FORGED;
  const line = {
    level: 40,
    time: '2026-11-21T08:15:30.123Z',
    requestId: text,
    status: 202,
    missing: undefined,
    [text]: { deep: text },
    err: { type: 'Error', message: text, stack: `Error: ${text}\n    at ${text}` },
    msg: `POST /pdf/ 202, ${ESCAPES}`,
  };
  const shown = readableLine(JSON.stringify(line));
  t.notMatch(shown, UNSAFE);
  t.match(shown, /^[\d:]{8} WARNING POST \/pdf\/ 202, .*requestId=".*pwned/);
  t.notMatch(shown, /status=/, 'the message has said it');
  const [, ...trace] = linesOf(shown);
  for (const each of trace) t.match(each, /^ {4}/, 'a forged line is indented');
  t.end();
});

void test('a key in the environment is not in the list of processes', async (t) => {
  const place = createPlace(t);
  let seen = '';
  const server = await serve(t, (request, response) => {
    request.resume();
    // The command waits for this answer, so it is running now.
    seen += execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
    seen += `\nkey:${String(request.headers['x-api-key'])}\n`;
    response.writeHead(401, { 'Content-Type': 'application/json' });
    response.end('{"error":"unauthorized","message":"no"}');
  });
  const convert = ['convert', 'https://example.com/', '-o', join(place.tmpDir, 'never.pdf')];
  const key = 'pk_live_0123456789abcdefghijklmn';
  const there = { PRESSLEDGER_SERVER: server };
  await runCli(place, convert, { env: { ...there, PRESSLEDGER_API_KEY: key } });
  await runCli(place, convert, { env: { ...there, PRESSLEDGER_KEY: key } });
  await runCli(place, [...convert, '--api-key-stdin'], { env: there, input: `${key}\n` });
  t.equal(seen.split(`key:${key}`).length - 1, 3, 'each was asked with the key');
  t.match(seen, 'example.com', 'and was in the list');
  t.notMatch(seen.replaceAll(`key:${key}`, ''), key);
});
