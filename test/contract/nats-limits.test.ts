/** Every stream and bucket that a node makes has a limit, on a server with little room, too. */
import { JetStreamApiError, jetstreamManager } from '@nats-io/jetstream';
import { pino } from 'pino';
import { test } from 'tap';
import { readConfig } from '../../src/config/config.ts';
import { withinStorage } from '../../src/nats/bucket.ts';
import { openCore } from '../../src/service/core.ts';
import { eventually } from '../support/deadline.ts';
import { testDirectory } from '../support/directory.ts';
import { connectForGood, startNatsServer } from '../support/nats-server.ts';

const logger = pino({ level: 'silent' });

void test('streams and buckets are made with limits, which an operator may change', async (t) => {
  const nats = await startNatsServer(t);
  const env = {
    DATA_DIR: testDirectory(t),
    NATS_URL: nats.url,
    BLOB_STORE_URL: 'nats:',
    MASTER_KEY: '0'.repeat(64),
  };
  const open = async () => {
    const core = await openCore(readConfig(env), logger, { create: true });
    await core.openRateLimiter(core.clock);
    await core.queues.lease('pressledger/0123456789abcdef').acquire();
    const queue = await core.queues.open('api');
    return { core, queue };
  };
  const manager = await jetstreamManager(await connectForGood(t, nats.url));
  const limits = async () => {
    const all = [];
    for await (const { config } of manager.streams.list()) all.push(config);
    return all;
  };
  const { core, queue } = await open();
  const made = await limits();
  t.strictSame(made.map(({ name }) => name).toSorted(), [
    'KV_PRESSLEDGER_LEASE_LEAD',
    'KV_PRESSLEDGER_LOG',
    'KV_PRESSLEDGER_RATES',
    'KV_pressledger-blobs-index',
    'KV_pressledger-keys',
    'OBJ_pressledger-blobs',
    'PRESSLEDGER_JOBS',
  ]);
  for (const { name, max_bytes } of made) t.ok(max_bytes >= 2 ** 20, `${name}: ${max_bytes}`);
  const own = { max_bytes: 50_000_000 };
  for (const { name } of made) await manager.streams.update(name, own);
  await queue.close();
  await core.close();

  const again = await open();
  for (const { name, max_bytes } of await limits()) t.equal(max_bytes, own.max_bytes, name);
  // A bucket that is full: the failed write is known, and the next conversion is refused at the door.
  t.equal(await reached(again.core), undefined);
  await manager.streams.update('OBJ_pressledger-blobs', { max_bytes: 1 });
  const blob = again.core.blobs.stage(
    'conv_06h0b02ka7z268e95gnz9mt72m',
    'request',
    Buffer.alloc(9),
  );
  await t.rejects(blob.store(), { name: 'BlobStoreUnavailable' });
  t.equal(await eventually('the bound', () => reached(again.core)), 'blob_store');
  await nats.kill();
  t.equal(await eventually('the outage', () => reached(again.core, 'nats')), 'nats');
  await nats.restart();
  await again.queue.close();
  await again.core.close();
});

type Core = Awaited<ReturnType<typeof openCore>>;

/** The bound that refuses a conversion now, where there is one, and it is that one. */
async function reached({ bounds }: Core, wanted?: string): Promise<string | undefined> {
  const before = new Map(bounds.refused());
  await bounds.admit('ada').catch(() => {});
  const [bound] = [...bounds.refused()].find(([name, n]) => n !== before.get(name)) ?? [];
  return wanted === undefined || bound === wanted ? bound : undefined;
}

void test('a server with less room than wanted gets smaller limits', async (t) => {
  const asked: number[] = [];
  const tooMuch = new JetStreamApiError({ code: 500, err_code: 10_047, description: 'too much' });
  const make = async (bytes: number): Promise<number> => {
    asked.push(bytes);
    if (bytes > 5e6) throw tooMuch;
    return bytes;
  };
  t.equal(await withinStorage(64 * 2 ** 20, make), 4 * 2 ** 20);
  t.strictSame(
    asked,
    [64, 16, 4].map((each) => each * 2 ** 20),
  );
  await t.rejects(
    withinStorage(2 ** 22, () => Promise.reject(tooMuch)),
    tooMuch,
  );
  const other = new Error('another');
  await t.rejects(
    withinStorage(2 ** 22, () => Promise.reject(other)),
    other,
  );
});
