import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { test } from 'tap';
import type { HttpContext } from '../../../src/http/context.ts';
import { RequestBodies } from '../../../src/http/middleware/body.ts';
import { BUDGETS, type BudgetLimits, Budgets } from '../../../src/limits/budgets.ts';

const BYTES = Buffer.from(JSON.stringify({ html: 'x'.repeat(100_000) }));
const defaults = Object.fromEntries(
  Object.entries(BUDGETS).map(([key, setting]) => [key, setting.default]),
) as BudgetLimits;

/** A request as far as its body needs it, in pieces of so many bytes. */
function requestWith(bytes: Buffer, pieceBytes: number, declared: boolean): HttpContext {
  const count = Math.ceil(bytes.length / pieceBytes);
  const pieces = Array.from({ length: count }, (_, n) =>
    bytes.subarray(n * pieceBytes, (n + 1) * pieceBytes),
  );
  const headers = {
    'content-type': 'application/json',
    ...(declared ? { 'content-length': String(bytes.length) } : { 'transfer-encoding': 'chunked' }),
  };
  return {
    req: Object.assign(Readable.from(pieces), { headers }),
    res: Object.assign(new EventEmitter(), { destroyed: false }),
    state: {},
    set: () => {},
  } as unknown as HttpContext;
}

void test('a body is read whole, whatever its pieces', async (t) => {
  const bodies = new RequestBodies(new Budgets(defaults));
  for (const pieceBytes of [1000, 65_536, 65_537, BYTES.length]) {
    for (const declared of [true, false]) {
      const ctx = requestWith(BYTES, pieceBytes, declared);
      const same = async (body: object) => JSON.stringify(body) === BYTES.toString();
      const whole = await bodies.read(ctx, BYTES.length, (body) => body, same);
      t.ok(whole, `${pieceBytes} bytes at a time`);
      const cut = requestWith(BYTES, pieceBytes, declared);
      const read = bodies.read(
        cut,
        BYTES.length - 1,
        () => {},
        async () => {},
      );
      await t.rejects(read, { code: 'payload_too_large' });
    }
  }
});

void test('of a body that declares too much nothing is kept', async (t) => {
  const maxBytes = 8 * 2 ** 20;
  const budgets = new Budgets(defaults);
  const bodies = new RequestBodies(budgets);
  const large = Buffer.alloc(maxBytes + 1, 'x');
  const before = process.memoryUsage().arrayBuffers;
  const reads = Array.from({ length: 8 }, () =>
    bodies.read(
      requestWith(large, 65_536, true),
      maxBytes,
      () => {},
      async () => {},
    ),
  );
  const kept = process.memoryUsage().arrayBuffers - before;
  t.ok(kept < maxBytes, `${kept} bytes`);
  t.equal(budgets.get('maxBodiesBytes').count().used, 0);
  for (const each of reads) await t.rejects(each, { code: 'payload_too_large' });
});

void test('who hangs up while others are checked is not checked, and gives back what it had', async (t) => {
  const budgets = new Budgets({ ...defaults, maxValidations: 1 });
  const bodies = new RequestBodies(budgets);
  const contexts = Array.from({ length: 4 }, () => requestWith(BYTES, 50_000, true));
  const checked: number[] = [];
  const reads = contexts.map((ctx, n) => {
    const check = () => {
      checked.push(n);
      // The next in turn has its slot soon; the one after it still waits.
      for (const other of [1, 2]) contexts[other]?.res.emit('close');
    };
    return bodies.read(ctx, BYTES.length, check, async () => n);
  });
  const ends = await Promise.allSettled(reads);
  t.strictSame(
    ends.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
  );
  t.strictSame(checked, [0, 3]);
  for (const { name, used } of budgets.counts()) t.equal(used, 0, name);
});

void test('documents are checked in order, so many at a time', async (t) => {
  const budgets = new Budgets({ ...defaults, maxValidations: 2 });
  const bodies = new RequestBodies(budgets);
  const atATime: number[] = [];
  const order: number[] = [];
  const look = (n: number): void => {
    order.push(n);
    atATime.push(budgets.get('maxValidations').count().used);
  };
  await Promise.all(
    Array.from({ length: 5 }, (_, n) =>
      bodies.read(
        requestWith(BYTES, 50_000, true),
        BYTES.length,
        () => look(n),
        async () => {},
      ),
    ),
  );
  t.strictSame(order, [0, 1, 2, 3, 4]);
  t.ok(atATime.every((used) => used <= 2));
  t.ok(atATime.includes(2));
});
