/** Mixed traffic of many accounts, and what it saw. */
import { buffer } from 'node:stream/consumers';
import type { PressledgerClient } from '../../client/src/client.ts';
import { isPressledgerError } from '../../client/src/errors.ts';
import type { Conversion } from '../../client/src/types.ts';
import type { Random } from '../../test/support/random.ts';
import { invoice, letter, scripted } from '../documents.ts';

/** Records of an account that are asked for again, at most. */
const REMEMBERED = 50;
const NO_SUCH_ID = 'conv_00000000000000000000000000';

export interface Account {
  readonly client: PressledgerClient;
  readonly ended: Conversion[];
}

/** Each kind of call and its share of the traffic. */
const SHARES = {
  letter: 30,
  invoice: 10,
  'page with a script': 10,
  poll: 20,
  list: 10,
  download: 10,
  key: 3,
  'bad input': 7,
} as const;

export type CallKind = keyof typeof SHARES;

const KINDS = (Object.keys(SHARES) as CallKind[]).flatMap((kind) =>
  Array.from({ length: SHARES[kind] }, () => kind),
);

export interface Seen {
  readonly kind: CallKind;
  readonly ms: number;
  /** `ok`, or the code of an error that the call was not made for. */
  readonly outcome: string;
}

const refused = async (call: Promise<unknown>, code: string): Promise<void> => {
  const error = await call.then(
    () => new Error(`It was taken, and not refused as ${code}.`),
    (reason: unknown) => reason,
  );
  if (!isPressledgerError(error) || error.code !== code) throw error;
};

async function convert({ client, ended }: Account, html: string): Promise<void> {
  const { id } = await client.create({ html });
  const record = await client.wait(id);
  if (record.status !== 'completed') throw new Error(`${id} is ${record.status}.`);
  ended.push(record);
  if (ended.length > REMEMBERED) ended.shift();
}

/** One of the ended conversions of the account, where it has any. */
const anyOf = ({ ended }: Account, random: Random): Conversion | undefined =>
  ended[random.integer(0, Math.max(0, ended.length - 1))];

const CALLS: Readonly<
  Record<CallKind, (account: Account, random: Random, number: number) => Promise<unknown>>
> = {
  letter: (account, _, number) => convert(account, letter(number)),
  invoice: (account, _, number) => convert(account, invoice(number)),
  'page with a script': (account, _, number) => convert(account, scripted(number)),
  poll: async (account, random) => {
    const record = anyOf(account, random);
    return record ? await account.client.get(record.id) : await account.client.account();
  },
  list: ({ client }, random) => client.listConversions({ page: random.integer(1, 3) }),
  download: async (account, random) => {
    const known = anyOf(account, random);
    // A link is valid for an hour: it is asked for again.
    const record = known && (await account.client.get(known.id));
    return record ? await buffer(await account.client.download(record)) : undefined;
  },
  key: async ({ client }, _, number) => {
    const { id } = await client.createKey(`load ${number}`);
    await client.revokeKey(id);
  },
  'bad input': async ({ client }, random) => {
    const bad = [
      () => refused(client.create({ html: '' }), 'validation_error'),
      () => refused(client.create({ url: 'http://127.0.0.1/' }), 'validation_error'),
      () => refused(client.get(NO_SUCH_ID), 'not_found'),
      () => refused(client.create({ html: '<p>', format: 'A9' } as never), 'validation_error'),
    ];
    await bad[random.integer(0, bad.length - 1)]?.();
  },
};

const codeOf = (error: unknown): string => {
  if (isPressledgerError(error)) return error.code;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
};

/** Clients that each make one call after the other, until the signal. */
export async function runTraffic(
  accounts: readonly Account[],
  { clients, random, over }: { clients: number; random: Random; over: AbortSignal },
  see: (seen: Seen) => void,
): Promise<void> {
  let number = 0;
  const work = async (): Promise<void> => {
    while (!over.aborted) {
      number += 1;
      const kind = KINDS[random.integer(0, KINDS.length - 1)] ?? 'letter';
      const account = accounts[random.integer(0, accounts.length - 1)];
      if (account === undefined) return;
      const began = performance.now();
      const outcome = await CALLS[kind](account, random, number).then(() => 'ok', codeOf);
      see({ kind, ms: performance.now() - began, outcome });
    }
  };
  await Promise.all(Array.from({ length: clients }, work));
}
