/** Requests of commands, and what happens to one whose answer is lost. */
import { test } from 'tap';
import { OperatorApi } from '../../../src/commands/operator-api.ts';

/** Loses the first answer of each path. */
function losing() {
  const keys: (string | null)[] = [];
  const lost = new Set<string>();
  const send: typeof fetch = async (input, init) => {
    const { url, headers } = new Request(input, init);
    keys.push(headers.get('Idempotency-Key'));
    if (lost.has(url)) return Response.json({ credits: 5 });
    lost.add(url);
    throw new TypeError('the connection was closed');
  };
  return { keys, api: new OperatorApi(send, '/data') };
}

void test('a request that acts once is repeated under its key, any other is not', async (t) => {
  const { keys, api } = losing();
  t.strictSame(await api.postOnce('/operator/one/', {}), { credits: 5 });
  await api.postOnce('/operator/one/', {});
  const [first, second, third] = keys;
  t.match(first, /^[0-9a-f-]{36}$/);
  t.equal(second, first, 'the repeat is the same request');
  t.not(third, first, 'another run is another one');
  await t.rejects(api.post('/operator/two/'), { name: 'PressledgerUnreachable' });
  t.strictSame(keys.slice(3), [null]);
});
