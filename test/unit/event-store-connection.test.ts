import { UnavailableError } from '@eventstore/db-client';
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

for (const { title, others, isKept } of [
  { title: 'a call without an answer replaces a silent connection', others: false, isKept: false },
  { title: 'one slow call leaves a connection that others use', others: true, isKept: true },
]) {
  void test(title, async (t) => {
    const to = parseConnectionString('esdb://127.0.0.1:1?tls=false');
    const connection = new Connection(to, pino({ level: 'silent' }));
    t.teardown(() => connection.close());
    const { driver } = connection;
    const ask = (): void =>
      void connection.call(answered).catch((error: unknown) => t.fail(String(error)));
    const timer = others ? setInterval(ask, LIMIT_MS / 20) : undefined;
    t.teardown(() => clearInterval(timer));
    await t.rejects(connection.call(unanswered, LIMIT_MS), /No answer within 200 ms/);
    t.equal(connection.driver === driver, isKept);
  });
}

/** What a node answers that knows of no leader, as far as the connection looks at it. */
const notReady = (): UnavailableError =>
  Object.assign(Object.create(UnavailableError.prototype) as UnavailableError, {
    message: 'Server Is Not Ready',
  });

void test('a read that waits for leaders and for answers ends within its limit', async (t) => {
  const to = parseConnectionString('esdb://127.0.0.1:1?tls=false');
  const connection = new Connection(to, pino({ level: 'silent' }));
  t.teardown(() => connection.close());
  const begun = performance.now();
  let since = begun;
  const start = (): Call<never> => {
    if (performance.now() - since < 1_800) {
      return { result: Promise.reject(notReady()), cancel: () => {} };
    }
    const { result, cancel } = unanswered();
    return {
      result,
      cancel: () => {
        since = performance.now();
        cancel();
      },
    };
  };
  await t.rejects(connection.read(start), /No answer within/);
  const ms = performance.now() - begun;
  t.ok(ms > 7_000 && ms < 9_000, `${ms} ms`);
});
