import { setImmediate as turn } from 'node:timers/promises';
import { type Logger, pino } from 'pino';
import { type Test, test } from 'tap';
import { NatsKvRateLimiter } from '../../src/limits/rate-limiter/nats-kv.ts';
import { connectToNats } from '../../src/nats/connection.ts';
import { type Clock, systemClock } from '../../src/time/clock.ts';
import { eventually } from '../support/deadline.ts';
import { type NatsServer, startNatsServer } from '../support/nats-server.ts';
import { NOW } from '../support/samples.ts';
import { runRateLimiterContract } from './rate-limiter-contract.ts';

const FIFTY = { limit: 50, windowMs: 60_000 };
const still: Clock = { now: () => NOW };

interface Lines {
  readonly lines: string[];
  readonly logger: Logger;
}

function logged(): Lines {
  const lines: string[] = [];
  return { lines, logger: pino({ level: 'info' }, { write: (line) => void lines.push(line) }) };
}

async function node(t: Test, server: NatsServer, clock = still, { logger } = logged()) {
  const link = await connectToNats(server.url, { name: 'test', logger });
  t.teardown(() => link.close());
  return { link, limiter: await NatsKvRateLimiter.open({ link, clock, logger }) };
}

runRateLimiterContract({
  name: 'NATS',
  open: async (t, clock) => {
    const server = await startNatsServer(t);
    const [one, other] = [await node(t, server, clock), await node(t, server, clock)];
    return { limiter: one.limiter, other: other.limiter, close: async () => {} };
  },
});

void test('two nodes let exactly the limit pass, however many come at once', async (t) => {
  const server = await startNatsServer(t);
  const one = await node(t, server);
  const other = await node(t, server);
  const statuses = await Promise.all(
    Array.from({ length: 200 }, (_, n) => (n % 2 === 0 ? one : other).limiter.consume('a', FIFTY)),
  );
  const passed = statuses.filter((each) => each.allowed).map((each) => each.remaining);
  t.equal(passed.length, 50);
  t.equal(new Set(passed).size, 50, 'each counts for itself');
  t.match(await one.limiter.get('a', FIFTY), { allowed: false, remaining: 0 });
});

void test('a server that is away or stuck fails no request: each node counts for itself', async (t) => {
  const server = await startNatsServer(t);
  const log = logged();
  const { link, limiter } = await node(t, server, systemClock, log);
  const rate = { limit: 4, windowMs: 24 * 60 * 60_000 };
  t.match(await limiter.consume('a', rate), { allowed: true, remaining: 3 });

  await server.freeze();
  t.match(
    await limiter.consume('a', rate),
    { allowed: true, remaining: 2 },
    'goes on from its own',
  );
  const atOnce = () => Promise.race([limiter.consume('a', rate), turn('it waits again')]);
  t.match(await atOnce(), { allowed: true, remaining: 1 });
  t.match(await atOnce(), { allowed: true, remaining: 0 });
  t.match(await atOnce(), { allowed: false });
  server.thaw();
  await eventually('the shared count', async () => {
    const { remaining } = await limiter.get('a', rate);
    // One at most was counted late: what the server got while it was stuck.
    return remaining > 0 ? true : undefined;
  });

  await server.kill();
  await eventually('the loss', () => !link.isUp() || undefined);
  t.match(await limiter.consume('b', rate), { allowed: true, remaining: 3 });
  await server.restart({ loseData: true });
  await eventually('a shared count in a new bucket', async () => {
    await limiter.consume('c', rate);
    const other = await node(t, server, systemClock);
    return (await other.limiter.get('c', rate)).remaining < 4 ? true : undefined;
  });
  const alone = log.lines.filter((line) => line.includes('for itself'));
  t.equal(alone.length, 2, 'said once for each time');
  t.match(JSON.parse(alone[0] ?? '{}'), { reason: 'The shared count takes too long.' });
  t.notOk(alone.some((line) => line.includes('stack')));
});

void test('a node that is busy at its start counts with the others all the same', async (t) => {
  const server = await startNatsServer(t);
  const log = logged();
  const one = await node(t, server, still, log);
  const other = await node(t, server);
  const statuses = Array.from({ length: 20 }, () => one.limiter.consume('a', FIFTY));
  const end = performance.now() + 1000;
  while (performance.now() < end);
  await Promise.all(statuses);
  t.match(await other.limiter.get('a', FIFTY), { remaining: 30 });
  t.strictSame(log.lines, []);
});
