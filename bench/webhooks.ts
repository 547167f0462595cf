/**
 * Webhooks of 100 accounts with an endpoint each, to a receiver on this machine: what a delivery adds to the processor
 * time of a conversion (its request, its end and its delivery, without rendering), and how many a second are sent of
 * what waits. Rounds with and without endpoints alternate between accounts; printed are medians. Arguments: rounds,
 * conversions of each, and how many wait. A fourth one has so many more wait that have a URL of their own, of 300 accounts
 * at one host: each tenth of them should take as long as the first.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { BASE, startApi } from '../test/support/api.ts';
import { PDF, startSender } from '../test/support/webhooks.ts';
import { median, print } from './measure.ts';

const ACCOUNTS = 100;
const ACCOUNTS_WITH_URLS = 300;
const AT_ONCE = 16;
const [ROUNDS, CONVERSIONS, BURST, URLS] = [5, 500, 2000, 0].map((usual, n) =>
  Number(process.argv[n + 2] ?? usual),
) as [number, number, number, number];

type Account = { readonly id: string; readonly key: string };

const teardowns: (() => unknown)[] = [];
const api = await startApi(
  { teardown: (end: () => unknown) => void teardowns.push(end) },
  { env: { ALLOW_PRIVATE_NETWORK: 'true' } },
);
const receiver = fork(join(import.meta.dirname, 'webhooks/receiver.ts'));
const [{ port }] = (await once(receiver, 'message')) as [{ readonly port: number }];
const url = `http://127.0.0.1:${port}/hook`;

async function until(count: number): Promise<void> {
  receiver.send(count);
  await once(receiver, 'message');
}

async function accounts(withEndpoint: boolean, count = ACCOUNTS): Promise<readonly Account[]> {
  const made: Account[] = [];
  while (made.length < count) {
    const account = await api.newAccount({ credits: 1_000_000 });
    const { key } = account;
    if (withEndpoint) {
      const types = ['conversion.completed'];
      await api.call('POST', `${BASE}/webhooks/`, { key, body: { url, types } });
    } else await api.call('POST', `${BASE}/webhooks/secret/rotate/`, { key });
    made.push(account);
  }
  return made;
}

/** Requests and ends conversions of the accounts in turn. */
async function convert(of: readonly Account[], count: number, more: object = {}): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (;;) {
      const account = of[next % of.length];
      next += 1;
      if (next > count || account === undefined) return;
      const body = { html: '<p>x</p>', ...more };
      const answer = await api.call('POST', `${BASE}/pdf/`, { key: account.key, body });
      await api.complete(account.id, String(answer.body['id']), PDF);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

const [plain, told] = [await accounts(false), await accounts(true)];
let sender = startSender(api);
let sent = 0;

async function round(of: readonly Account[]): Promise<number> {
  const before = process.cpuUsage();
  await convert(of, CONVERSIONS);
  if (of === told) sent += CONVERSIONS;
  await until(sent);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / CONVERSIONS;
}

/** Waits for so many more, and says what they took. */
async function send(count: number): Promise<string> {
  const before = process.cpuUsage();
  const began = performance.now();
  sent += count;
  await until(sent);
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(before);
  const each = ((user + system) / 1000 / count).toFixed(2);
  return `${Math.round(count / seconds)} deliveries a second, ${each} ms of processor time each`;
}

await round(plain);
await round(told);
const [without, withThem]: [number[], number[]] = [[], []];
for (let n = 0; n < ROUNDS; n += 1) {
  without.push(await round(plain));
  withThem.push(await round(told));
}
const [base, all] = [median(without), median(withThem)];
print(`a conversion without rendering: ${base.toFixed(2)} ms of processor time`);
print(
  `with one delivery:              ${all.toFixed(2)} ms, so a delivery adds ${(all - base).toFixed(2)} ms`,
);

await sender.stop();
await convert(told, BURST);
sender = startSender(api);
print(`${BURST} that waited: ${await send(BURST)}`);
await sender.stop();

if (URLS > 0) {
  await convert(await accounts(false, ACCOUNTS_WITH_URLS), URLS, { webhook_url: url });
  sender = startSender(api);
  for (let n = 1; n <= 10; n += 1) {
    print(`tenth ${n} of ${URLS} to URLs of requests: ${await send(URLS / 10)}`);
  }
  await sender.stop();
}
receiver.kill();
for (const end of teardowns.toReversed()) await end();
