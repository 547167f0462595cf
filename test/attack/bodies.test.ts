/** Finding 4: bodies that are held back, all but their last byte, take no more memory than their budget. */
import { connect, type Socket } from 'node:net';
import { type Test, test } from 'tap';
import { BASE, PASSWORD, refusal, startApi } from '../support/api.ts';
import { ApiProcess } from '../support/api-process.ts';
import { eventually } from '../support/deadline.ts';
import { partsOf } from '../support/raw-http.ts';

const MIB = 2 ** 20;
const HEAP_MIB = 256;
/** The default budget of 128 MiB, what is parsed of it, and the garbage of both. */
const MOST_GROWTH = 400 * MIB;

interface Body {
  readonly type: string;
  readonly bytes: Buffer;
}

/** Two bytes a character, as text and in UTF-8. */
const JSON_BODY: Body = {
  type: 'application/json',
  bytes: Buffer.from(JSON.stringify({ html: `<p>${'ā'.repeat(2_450_000)}` })),
};

const formPart = (name: string): string =>
  `--b\r\nContent-Disposition: form-data; name="files"; filename="${name}"\r\n\r\n`;
/** A file as large as may be, which grows by a third in base64. */
const FORM_BODY: Body = {
  type: 'multipart/form-data; boundary=b',
  bytes: Buffer.concat([
    Buffer.from(`${formPart('index.html')}<p>\r\n${formPart('image.png')}`),
    Buffer.alloc(9.9 * MIB, 0x80),
    Buffer.from('\r\n--b--\r\n'),
  ]),
};

interface HeldBody {
  /** The status; 0 where the connection broke. */
  readonly answered: Promise<number>;
  readonly retryAfter: () => string | null;
  readonly finish: () => void;
}

/** Sends all but the last byte, whatever is answered meanwhile. */
function holdBody(
  t: Test,
  api: ApiProcess,
  key: string,
  { type, bytes }: Body,
  chunked: boolean,
): HeldBody {
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
  const length = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes.length}`;
  socket.write(
    `POST ${BASE}/pdf/ HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: ${type}\r\n${length}\r\n\r\n`,
  );
  const most = bytes.subarray(0, -1);
  if (chunked) socket.write(`${most.length.toString(16)}\r\n`);
  socket.write(most);
  return {
    answered,
    retryAfter: () => parts().headers.get('retry-after'),
    finish: () => {
      const last = bytes.toString('latin1', most.length);
      socket.write(chunked ? `\r\n1\r\n${last}\r\n0\r\n\r\n` : last);
    },
  };
}

/** Sends `count` bodies, finishes them when no more of them is refused, and says how many fared how. */
async function flood(
  t: Test,
  {
    accounts,
    count,
    body = JSON_BODY,
    chunked = false,
  }: { accounts: number; count: number; body?: Body; chunked?: boolean },
) {
  const api = await ApiProcess.start(t, { accounts, heapMiB: HEAP_MIB });
  const before = api.peakRss();
  const held = Array.from({ length: count }, (_, n) =>
    holdBody(t, api, api.keys[n % accounts] ?? '', body, chunked),
  );
  const budget = async (name: string) => (await api.budgets()).find((each) => each.name === name);
  const counts = async () => {
    const [share, all] = [await budget('maxAccountBodiesBytes'), await budget('maxBodiesBytes')];
    return { used: all?.used ?? 0, refused: (share?.refused ?? 0) + (all?.refused ?? 0) };
  };
  const each = chunked ? 10 * MIB : body.bytes.length;
  const full = await eventually('all are held or refused', async () => {
    const { used, refused } = await counts();
    return used / each + refused === count ? { used, refused } : undefined;
  });
  for (const { finish } of held) finish();
  const statuses = await Promise.all(held.map(({ answered }) => answered));
  t.equal((await fetch(`${api.origin}/healthz`)).status, 200);
  for (const one of held) if ((await one.answered) !== 202) t.match(one.retryAfter(), /^\d+$/);
  t.equal((await counts()).used, 0, 'all is given back');
  const growth = api.peakRss() - before;
  t.ok(growth < MOST_GROWTH, `${Math.round(growth / MIB)} MiB more`);
  const answered = (status: number) => statuses.filter((one) => one === status).length;
  return { full, accepted: answered(202), client: answered(429), service: answered(503) };
}

void test('98 large bodies of one account: its share is taken, the rest is told to wait', async (t) => {
  const { full, accepted, client } = await flood(t, { accounts: 1, count: 98 });
  t.ok(full.used <= 32 * MIB);
  t.equal(accepted, Math.floor((32 * MIB) / JSON_BODY.bytes.length));
  t.equal(client, 98 - accepted, 'each of the others gets its answer, though it sends on');
});

void test('40 large bodies of ten accounts: no more than fit for all', async (t) => {
  const { full, accepted, client, service } = await flood(t, { accounts: 10, count: 40 });
  t.ok(full.used <= 128 * MIB);
  t.ok(full.used > 96 * MIB);
  t.equal(accepted, full.used / JSON_BODY.bytes.length);
  t.equal(accepted + client + service, 40);
});

void test('40 large forms of ten accounts: they count as other bodies do', async (t) => {
  const { full, accepted, client, service } = await flood(t, {
    accounts: 10,
    count: 40,
    body: FORM_BODY,
  });
  t.ok(full.used <= 128 * MIB);
  t.ok(full.used > 96 * MIB);
  t.equal(accepted, full.used / FORM_BODY.bytes.length);
  t.equal(accepted + client + service, 40);
});

/** Connects from `address`, and sends of a body of that length nothing. */
function announceBody(
  t: Test,
  origin: string,
  {
    path,
    length,
    headers = '',
    address,
  }: {
    readonly path: string;
    readonly length: number;
    readonly headers?: string;
    readonly address?: string;
  },
): void {
  const socket = connect({
    port: Number(new URL(origin).port),
    host: '127.0.0.1',
    ...(address !== undefined && { localAddress: address }),
  });
  t.teardown(() => socket.destroy());
  socket.on('error', () => {});
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`,
  );
}

void test('four accounts that send slowly keep no other account out', async (t) => {
  const api = await startApi(t);
  const slow = [];
  for (let n = 0; n < 4; n += 1) slow.push(await api.newAccount());
  const { key } = await api.newAccount();
  const [all, share] = [
    api.budgets.get('maxBodiesBytes'),
    api.budgets.get('maxAccountBodiesBytes'),
  ];
  let announced = 0;
  for (const each of slow) {
    for (const mib of [10, 10, 10, 2]) {
      const headers = `X-API-Key: ${each.key}\r\n`;
      announceBody(t, api.origin, { path: `${BASE}/pdf/`, length: mib * MIB, headers });
      announced += mib * MIB;
    }
  }
  t.equal(announced, 128 * MIB, 'as much as the budget of all');
  await eventually('it is full for the last of them', () => all.count().refused > 0 || undefined);
  t.ok(all.count().used > 96 * MIB);
  const body = { html: `<p>${'x'.repeat(MIB)}` };
  t.equal((await api.call('POST', `${BASE}/pdf/`, { key, body })).status, 202);
  const signIn = { email: 'user1@example.com', password: PASSWORD };
  const signedIn = await api.call('POST', `${BASE}/auth/jwt/create/`, { body: signIn });
  t.equal(signedIn.status, 200);
  t.equal(share.count().refused, 0);
});

void test('strangers that send slowly keep nobody from signing in', async (t) => {
  const api = await startApi(t, { env: { MAX_ACCOUNT_BODIES_BYTES: String(16 * 65_536) } });
  await api.newAccount();
  const path = `${BASE}/auth/jwt/create/`;
  for (const address of ['127.0.0.2', '127.0.0.3', '127.0.0.4']) {
    for (let n = 0; n < 10; n += 1) announceBody(t, api.origin, { path, length: 65_536, address });
  }
  const share = api.budgets.get('maxAccountBodiesBytes');
  const held = 14 * 65_536;
  await eventually('they hold what they may', () => share.count().used === held || undefined);
  const body = { email: 'user1@example.com', password: PASSWORD };
  t.equal((await api.call('POST', path, { body })).status, 200);
});

void test('chunked bodies count as the most that they may be', async (t) => {
  const { full, accepted, client } = await flood(t, { accounts: 1, count: 20, chunked: true });
  t.equal(full.used, 30 * MIB);
  t.equal(accepted, 3);
  t.equal(client, 17);
});

void test('the share is asked for before the body is looked at', async (t) => {
  const api = await startApi(t, { env: { MAX_ACCOUNT_BODIES_BYTES: '100' } });
  const [one, other] = [await api.newAccount(), await api.newAccount()];
  const socket = connect(Number(new URL(api.origin).port), '127.0.0.1');
  t.teardown(() => socket.destroy());
  const head = `POST ${BASE}/pdf/ HTTP/1.1\r\nHost: x\r\nX-API-Key: ${one.key}\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n`;
  socket.write(`${head}{`);
  const share = api.budgets.get('maxAccountBodiesBytes');
  await eventually('it is under way', () => share.count().used === 90 || undefined);
  const odd = { body: 'no JSON at all', headers: { 'Content-Type': 'text/plain' } };
  const ask = async (key: string) => await api.call('POST', `${BASE}/pdf/`, { key, ...odd });
  const refused = await ask(one.key);
  t.strictSame(refusal(refused), { status: 429, error: 'rate_limit_exceeded' });
  t.equal(refused.headers.get('retry-after'), '2');
  t.equal((await ask('pk_live_')).status, 401, 'after the credential');
  t.equal((await ask(other.key)).status, 415, 'another account has its own');
  t.equal(share.count().refused, 1);
  socket.destroy();
  await eventually('it is let go', () => share.count().used === 0 || undefined);
  t.equal((await ask(one.key)).status, 415);
});

void test('what strangers send keeps no account out', async (t) => {
  const api = await startApi(t, { env: { MAX_ACCOUNT_BODIES_BYTES: '65536' } });
  const { key } = await api.newAccount();
  const socket = connect(Number(new URL(api.origin).port), '127.0.0.1');
  t.teardown(() => socket.destroy());
  const path = `${BASE}/auth/jwt/create/`;
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{`,
  );
  const share = api.budgets.get('maxAccountBodiesBytes');
  await eventually('it is under way', () => share.count().used === 65_536 || undefined);
  const body = { email: 'user1@example.com', password: PASSWORD };
  const refused = await api.call('POST', path, { body });
  t.strictSame(refusal(refused), { status: 503, error: 'service_unavailable' });
  t.equal(refused.headers.get('retry-after'), '2');
  const accepted = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>' } });
  t.equal(accepted.status, 202);
  socket.destroy();
  await eventually('it is let go', () => share.count().used === 0 || undefined);
  t.equal((await api.call('POST', path, { body })).status, 200);
});
