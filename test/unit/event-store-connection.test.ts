import { pino } from 'pino';
import { test } from 'tap';
import { type Call, Connection } from '../../src/event-store/kurrentdb/connection.ts';
import { parseConnectionString } from '../../src/event-store/kurrentdb/connection-string.ts';

const LIMIT_MS = 200;

const answered = (): Call<true> => ({ result: Promise.resolve(true), cancel: () => {} });

/** A call that is never answered; it says when it is given up. */
function unanswered(): Call<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  return { result: promise, cancel: () => reject(new Error('cancelled')) };
}

for (const { title, others, leftMs, isKept } of [
  { title: 'a call without an answer replaces a silent connection', isKept: false },
  { title: 'one slow call leaves a connection that others use', others: true, isKept: true },
  { title: 'a call that had little time left leaves the connection', leftMs: 20, isKept: true },
]) {
  void test(title, async (t) => {
    const to = parseConnectionString('esdb://127.0.0.1:1?tls=false');
    const connection = new Connection(to, pino({ level: 'silent' }));
    t.teardown(() => connection.close());
    const { driver } = connection;
    const ask = (): void =>
      void connection.call(answered).catch((error: unknown) => t.fail(String(error)));
    const timer = others === true ? setInterval(ask, LIMIT_MS / 20) : undefined;
    t.teardown(() => clearInterval(timer));
    const end = performance.now() + (leftMs ?? Number.POSITIVE_INFINITY);
    const told = new RegExp(`No answer within ${leftMs ?? LIMIT_MS} ms`);
    await t.rejects(connection.call(unanswered, LIMIT_MS, end), told);
    t.equal(connection.driver === driver, isKept);
  });
}
