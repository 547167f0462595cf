/** Finding 4: bodies that are held back, all but their last byte, take no more memory than their budget. */
import { connect, type Socket } from 'node:net';
import { type Test, test } from 'tap';
import { ApiProcess } from '../support/api-process.ts';
import { BASE } from '../support/api.ts';
import { eventually } from '../support/deadline.ts';
import { partsOf } from '../support/raw-http.ts';

const MIB = 2 ** 20;
const HEAP_MIB = 256;
/** The default budget of 128 MiB, what is parsed of it, and the garbage of both. */
const MOST_GROWTH = 400 * MIB;

/** Two bytes a character, as text and in UTF-8. */
const BODY = Buffer.from(JSON.stringify({ html: `<p>${'ā'.repeat(2_450_000)}` }));

interface HeldBody {
  /** The status; 0 where the connection broke. */
  readonly answered: Promise<number>;
  readonly retryAfter: () => string | null;
  finish(): void;
}

/** Sends all but the last byte, whatever is answered meanwhile. */
function holdBody(t: Test, api: ApiProcess, key: string, chunked: boolean): HeldBody {
  const { promise: answered, resolve } = Promise.withResolvers<number>();
  const socket: Socket = connect(api.port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  let text = '';
  const parts = () => partsOf(text);
  socket.on('data', (chunk) => {
    text += chunk.toString();
    if (text.endsWith('}')) resolve(parts().status);
  });
  socket.on('error', () => {});
  socket.on('close', () => resolve(0));
  const length = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${BODY.length}`;
  socket.write(
    `POST ${BASE}/pdf/ HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\n${length}\r\n\r\n`,
  );
  const most = BODY.subarray(0, -1);
  if (chunked) socket.write(`${most.length.toString(16)}\r\n`);
  socket.write(most);
  return {
    answered,
    retryAfter: () => parts().headers.get('retry-after'),
    finish: () => void socket.write(chunked ? '\r\n1\r\n}\r\n0\r\n\r\n' : '}'),
  };
}

/** Sends `count` bodies, finishes them when no more of them is refused, and says how many fared how. */
async function flood(
  t: Test,
  { accounts, count, chunked = false }: { accounts: number; count: number; chunked?: boolean },
) {
  const api = await ApiProcess.start(t, { accounts, heapMiB: HEAP_MIB });
  const before = api.peakRss();
  const held = Array.from({ length: count }, (_, n) =>
    holdBody(t, api, api.keys[n % accounts] ?? '', chunked),
  );
  const budget = async (name: string) => (await api.budgets()).find((each) => each.name === name);
  const counts = async () => {
    const [share, all] = [await budget('maxAccountBodiesBytes'), await budget('maxBodiesBytes')];
    return { used: all?.used ?? 0, refused: (share?.refused ?? 0) + (all?.refused ?? 0) };
  };
  const each = chunked ? 10 * MIB : BODY.length;
  const full = await eventually('all are held or refused', async () => {
    const { used, refused } = await counts();
    return used / each + refused === count ? { used, refused } : undefined;
  });
  for (const body of held) body.finish();
  const statuses = await Promise.all(held.map(({ answered }) => answered));
  t.equal((await fetch(`${api.origin}/healthz`)).status, 200);
  for (const body of held) if ((await body.answered) !== 202) t.match(body.retryAfter(), /^\d+$/);
  t.equal((await counts()).used, 0, 'all is given back');
  const growth = api.peakRss() - before;
  t.ok(growth < MOST_GROWTH, `${Math.round(growth / MIB)} MiB more`);
  const answered = (status: number) => statuses.filter((one) => one === status).length;
  return { full, accepted: answered(202), client: answered(429), service: answered(503) };
}

void test('98 large bodies of one account: its share is taken, the rest is told to wait', async (t) => {
  const { full, accepted, client } = await flood(t, { accounts: 1, count: 98 });
  t.ok(full.used <= 32 * MIB);
  t.equal(accepted, Math.floor((32 * MIB) / BODY.length));
  t.equal(client, 98 - accepted, 'each of the others gets its answer, though it sends on');
});

void test('100 large bodies of ten accounts: no more than fit for all', async (t) => {
  const { full, accepted, client, service } = await flood(t, { accounts: 10, count: 100 });
  t.ok(full.used <= 128 * MIB);
  t.equal(accepted, Math.floor((128 * MIB) / BODY.length));
  t.equal(accepted + client + service, 100);
});

void test('chunked bodies count as the most that they may be', async (t) => {
  const { full, accepted, client } = await flood(t, { accounts: 1, count: 20, chunked: true });
  t.equal(full.used, 30 * MIB);
  t.equal(accepted, 3);
  t.equal(client, 17);
});
