import { pino } from 'pino';
import { test } from 'tap';
import { EventStoreUnavailable } from '../../src/event-store/port.ts';
import { BASE, startApi } from '../support/api.ts';
import { countListeners } from '../support/conversion.ts';
import { eventually } from '../support/deadline.ts';

const LIST = `${BASE}/conversions/`;

void test('a line for each request says who asked for what, by ids alone', async (t) => {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line));
  const logger = pino({ level: 'info' }, { write });
  const api = await startApi(t, { replace: () => ({ logger }) });
  const { id, key } = await api.newAccount();
  lines.length = 0;
  const ask = async (path: string, withKey: { key?: string } = { key }) => {
    const headers = { 'X-Request-Id': `r-${lines.length}` };
    await api.call('GET', path, { headers, ...withKey });
  };
  const logged = async (count: number) =>
    await eventually('the lines', () => lines.length === count || undefined);
  await ask(`${LIST}?status=pending`);
  await logged(1);
  await ask('/files/conv_1.pdf?token=v4.public.secret', {});
  await logged(2);
  await ask(`${BASE}/api-keys/${key}/`);
  await logged(3);
  await ask('/healthz');
  const client = {
    requestId: /^[0-9a-f]{16}$/,
    method: 'GET',
    ms: Number,
    client: /^[0-9a-f]{16}$/,
  };
  t.match(lines, [
    { ...client, path: LIST, status: 200, accountId: id, level: 30 },
    { ...client, path: '/files/…', status: 403, accountId: undefined },
    { ...client, path: `${BASE}/api-keys/…/`, status: 405, accountId: id },
  ]);
  t.match(lines[0]?.['msg'], /^GET \/api\/v1\/conversions\/ 200, \d+ ms$/);
  t.notMatch(JSON.stringify(lines), new RegExp(`${key}|secret|conv_1|r-0|127\\.0\\.0\\.1`));
  t.equal(lines[0]?.['client'], lines[2]?.['client'], 'one client has one name');
  t.not(lines[0]?.['requestId'], lines[2]?.['requestId']);

  // A client that goes away has had no answer.
  const slow = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  const url = `${api.origin}${BASE}/conversions/${String(slow.body['id'])}/`;
  const listeners = countListeners(api.runner);
  const away = new AbortController();
  const headers = { 'X-API-Key': key, Prefer: 'wait=30' };
  const gone = fetch(url, { headers, signal: away.signal });
  await listeners.reached(1);
  away.abort();
  await t.rejects(gone);
  await logged(5);
  t.match(lines[4], { status: undefined, aborted: true, msg: /unanswered/ });
});

void test('a line about a failure holds no secret of the path either', async (t) => {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line));
  const logger = pino({ level: 'warn' }, { write });
  let failure: Error | undefined;
  const api = await startApi(t, {
    replace: ({ store }) => ({
      logger,
      store: { head: () => (failure ? Promise.reject(failure) : store.head()) },
    }),
  });
  const { key } = await api.newAccount();
  for (const error of [new EventStoreUnavailable('away'), new Error('a fault')]) {
    failure = error;
    await api.call('DELETE', `${BASE}/api-keys/${key}/`, { key });
  }
  const path = `${BASE}/api-keys/…/`;
  t.match(lines, [
    { level: 40, path },
    { level: 50, path },
  ]);
  t.notMatch(JSON.stringify(lines), new RegExp(key));
});
