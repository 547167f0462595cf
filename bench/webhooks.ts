/**
 * Webhooks of 100 accounts with an endpoint each, to a receiver on this machine: what a delivery adds to the processor
 * time of a conversion (its request, its end and its delivery, without rendering), and how many a second are sent of
 * what waits. Rounds with and without endpoints alternate between accounts; printed are medians. Arguments: rounds,
 * conversions of each, and how many wait.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { BASE, startApi } from '../test/support/api.ts';
import { PDF, startSender } from '../test/support/webhooks.ts';
import { median, print } from './measure.ts';

const ACCOUNTS = 100;
const AT_ONCE = 16;
const [ROUNDS, CONVERSIONS, BURST] = [5, 500, 2000].map((usual, n) =>
  Number(process.argv[n + 2] ?? usual),
) as [number, number, number];

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

async function accounts(withEndpoint: boolean): Promise<readonly Account[]> {
  const made: Account[] = [];
  while (made.length < ACCOUNTS) {
    const account = await api.newAccount({ credits: 1_000_000 });
    if (withEndpoint) {
      const types = ['conversion.completed'];
      await api.call('POST', `${BASE}/webhooks/`, { key: account.key, body: { url, types } });
    }
    made.push(account);
  }
  return made;
}

/** Requests and ends conversions of the accounts in turn. */
async function convert(of: readonly Account[], count: number): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (;;) {
      const account = of[next % of.length];
      next += 1;
      if (next > count || account === undefined) return;
      const body = { html: '<p>x</p>' };
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
const before = process.cpuUsage();
const began = performance.now();
sender = startSender(api);
sent += BURST;
await until(sent);
const seconds = (performance.now() - began) / 1000;
const { user, system } = process.cpuUsage(before);
print(
  `${BURST} that waited: ${Math.round(BURST / seconds)} deliveries a second, ` +
    `${((user + system) / 1000 / BURST).toFixed(2)} ms of processor time each`,
);
await sender.stop();
receiver.kill();
for (const end of teardowns.toReversed()) await end();
