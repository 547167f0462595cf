/** A start that fails: every mistake in a line of its own, and nothing left behind. */

import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { type Test, test } from 'tap';
import { freePort } from '../support/free-port.ts';
import { startHttpsServer } from '../support/https.ts';
import { connectForGood, startNatsServer } from '../support/nats-server.ts';
import type { Place } from '../support/place.ts';
import { createService, RendererProcess, type Service } from '../support/service.ts';
import { treeOf } from '../support/trees.ts';

const KEY = '11'.repeat(32);
const OTHER_KEY = '22'.repeat(32);

async function takenPort(t: Test): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port was free.');
  return address.port;
}

interface Attempt {
  readonly service: Service | RendererProcess;
  readonly env: Readonly<Record<string, string>>;
  /** What each line on standard error says, in any order. */
  readonly lines: readonly RegExp[];
}

async function failsWithoutTrace(t: Test, name: string, attempt: Attempt): Promise<void> {
  const { service, env, lines } = attempt;
  const root = dirname(service.place.dataDir);
  const before = treeOf(root);
  t.match(await service.startInVain(env), { code: 1, signal: null }, name);
  const { stdout, stderr } = service.output;
  t.equal(stdout, '', name);
  const said = stderr.trimEnd().split('\n');
  for (const line of said) t.match(line, /^pressledger: /, name);
  for (const line of lines)
    t.ok(
      said.some((each) => line.test(each)),
      `${name}: ${line} in ${stderr}`,
    );
  t.equal(said.length, lines.length, `${name}: ${stderr}`);
  t.strictSame(treeOf(root), before, `${name}: no file is new, gone or changed`);
  t.strictSame(await service.leftovers(), [], `${name}: no process is left`);
}

/** A program that ends at once, as a Chrome does that lacks a library. */
function brokenChrome({ tmpDir }: Place): string {
  const path = join(dirname(tmpDir), 'broken-chrome');
  writeFileSync(path, '#!/bin/sh\necho "error while loading shared libraries" >&2\nexit 127\n');
  chmodSync(path, 0o755);
  return path;
}

void test('a first start that fails leaves nothing behind, whatever is wrong', async (t) => {
  const service = createService(t);
  const { place } = service;
  const file = join(dirname(place.dataDir), 'a-file');
  writeFileSync(file, '');
  const taken = String(await takenPort(t));
  const nobody = await freePort();
  const stranger = await startHttpsServer((_, response) => response.end());
  t.teardown(() => stranger.close());
  const remote = { BLOB_STORE_URL: 'nats:', MASTER_KEY: KEY };
  const s3 = {
    BLOB_STORE_URL: `s3://bucket?region=x&endpoint=http://127.0.0.1:${nobody}`,
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
    MASTER_KEY: KEY,
  };
  const attempts: readonly (readonly [string, Record<string, string>, readonly RegExp[]])[] = [
    ['a wrong setting', { PORT: '80x' }, [/ PORT must be/]],
    ['a port in use', { PORT: taken }, [/ port \d+ is in use.*PORT/]],
    ['no Chrome', { CHROME_PATH: '/nonexistent/chrome' }, [/ CHROME_PATH/]],
    [
      'a Chrome that does not run',
      { CHROME_PATH: brokenChrome(place) },
      [/ did not start: .*shared libraries.*CHROME_PATH/],
    ],
    [
      'no NATS',
      { NATS_URL: `nats://127.0.0.1:${nobody}`, ...remote },
      [/ cannot be reached.*NATS_URL/],
    ],
    ['no S3', s3, [/ BLOB_STORE_URL: the bucket/]],
    [
      'no event store',
      { EVENT_STORE_URL: `esdb://127.0.0.1:${nobody}?tls=false` },
      [/ EVENT_STORE_URL/],
    ],
    [
      // Node has a warning of its own for the address.
      'an event store with TLS that is none',
      { EVENT_STORE_URL: `esdb://127.0.0.1:${stranger.port}` },
      [/ EVENT_STORE_URL/],
    ],
    [
      'a data directory in a file',
      { DATA_DIR: join(file, 'data') },
      [/ DATA_DIR .*cannot be used/],
    ],
    [
      'several mistakes',
      {
        PORT: taken,
        LOG_LEVEL: 'loud',
        PRESSLEDGER_MASTERKEY: 'x',
        NATS_URL: 'nats://127.0.0.1:1',
        CHROME_PATH: '/nonexistent/chrome',
      },
      [
        / port \d+ is in use/,
        / LOG_LEVEL must be/,
        / PRESSLEDGER_MASTERKEY is not a setting.*PRESSLEDGER_MASTER_KEY/,
        / NATS_URL needs BLOB_STORE_URL/,
        / cannot be reached/,
        / CHROME_PATH/,
      ],
    ],
  ];
  for (const [name, env, lines] of attempts) {
    await failsWithoutTrace(t, name, { service, env, lines });
  }
  await service.start();
  t.match(service.firstStart.apiKey, /^pk_live_/, 'the first start is still to come');
});

void test('a start with another master key changes nothing', async (t) => {
  const service = createService(t, { MASTER_KEY: KEY });
  await service.start();
  await service.stop();
  const lines = [/ master key is not the one.*MASTER_KEY/];
  const env = { MASTER_KEY: OTHER_KEY };
  await failsWithoutTrace(t, 'beside its own store', { service, env, lines });
});

void test('a node that cannot start leaves nothing at the servers that it shares', async (t) => {
  const nats = await startNatsServer(t);
  const connection = await connectForGood(t, nats.url);
  const streams = async (): Promise<readonly string[]> => {
    const manager = await jetstreamManager(connection);
    const all = await manager.streams.list().next();
    return all
      .map(({ config: { name }, state }) =>
        // The entry of a lease goes by itself.
        name.includes('_LEASE_') ? name : `${name} ${state.messages}`,
      )
      .toSorted();
  };
  const shared = { NATS_URL: nats.url, BLOB_STORE_URL: 'nats:', MASTER_KEY: KEY };
  const service = createService(t, shared);
  const taken = String(await takenPort(t));
  const inUse = { service, env: { PORT: taken }, lines: [/ port \d+ is in use/] };
  await failsWithoutTrace(t, 'a port in use', inUse);
  t.strictSame(await streams(), [], 'no stream was made');

  await service.start();
  await service.stop();
  const there = await streams();
  const stranger = createService(t, shared);
  const wrongKey = {
    service: stranger,
    env: { MASTER_KEY: OTHER_KEY },
    lines: [/ made with another master key.*MASTER_KEY/],
  };
  await failsWithoutTrace(t, 'another master key', wrongKey);
  const renderer = new RendererProcess(stranger.place);
  t.teardown(() => renderer.kill());
  const env = { CHROME_PATH: '/nonexistent/chrome', PORT: taken };
  const lines = [/ CHROME_PATH/, / port \d+ is in use/];
  await failsWithoutTrace(t, 'a renderer', { service: renderer, env, lines });
  t.strictSame(await streams(), there);
});
