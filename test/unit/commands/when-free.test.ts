/** A command that repeats what a busy service refuses, and what is lost on the way. */
import { test } from 'tap';
import { PressledgerError, PressledgerUnreachable } from '../../../client/src/errors.ts';
import { whenFree } from '../../../src/commands/service.ts';

const refused = (status: number): PressledgerError => {
  const headers = new Headers({ 'Retry-After': '1' });
  return new PressledgerError({ status, headers }, { error: 'service_unavailable', message: 'x' });
};
const lost = new PressledgerUnreachable('lost');

/** Fails with each of the errors, then answers with the number of the call. */
function failingWith(...errors: readonly Error[]) {
  let calls = 0;
  return () => {
    calls += 1;
    const error = errors[calls - 1];
    return error === undefined ? Promise.resolve(calls) : Promise.reject(error);
  };
}

void test('it waits for a free service, and for one that is away', async (t) => {
  const patience = { statuses: [429, 503], lostMs: 60_000 };
  t.equal(await whenFree(failingWith(lost, refused(503), refused(429)), patience), 4);
  await t.rejects(whenFree(failingWith(refused(401)), patience), { code: 'service_unavailable' });
});

void test('it waits for no lost connection unless it is told for how long', async (t) => {
  await t.rejects(whenFree(failingWith(lost), { statuses: [503] }), { message: 'lost' });
  const hour = whenFree(failingWith(refused(503), lost), { statuses: [503], lostMs: 0 });
  await t.rejects(hour, { message: 'lost' });
});
