import { accountQueries, accounts } from '../../projections/accounts.ts';
import { storedBlobQueries, storedBlobs } from '../../projections/stored-blobs.ts';
import type { Core } from '../core.ts';
import { MAX_BALANCE } from '../domain/account.ts';
import { PLANS, type Plan } from '../domain/events.ts';
import { ServiceError } from '../errors.ts';
import { findAccount, type OpenedAccount } from '../use-cases/accounts.ts';
import { accountRecord } from '../use-cases/records.ts';
import { everyRow, openerUnlessErased, withFoldedLog } from '../use-cases/state.ts';
import { AS_OF, momentOption, readAsOf } from './as-of.ts';
import {
  choiceOf,
  type Command,
  counted,
  type Invocation,
  type Output,
  secretFromInput,
  textOption,
  UsageError,
  wholeNumber,
} from './command.ts';
import type { Account, Details } from './operator-api.ts';
import { take } from './service.ts';

/** The help of <email> in every command that takes it. */
export const ACCOUNT = "the account's sign-in address";

export function parsePlan(value: string): Plan {
  const plan = choiceOf(value, PLANS);
  if (!plan) throw new UsageError(`A plan is one of ${PLANS.join(', ')}.`);
  return plan;
}

/** @throws {ServiceError} `not_found` */
export async function accountByEmail(core: Core, email: string) {
  const account = await findAccount(core, email);
  if (!account) throw new ServiceError('not_found', `There is no account for ${email}.`);
  return account;
}

/** @throws {UsageError} it is not there, or there twice, or no address */
function emailOf(invocation: Invocation): string {
  const given = [...invocation.positionals, textOption(invocation, 'email') ?? []].flat();
  const [email] = given;
  if (email === undefined) throw new UsageError('<email> (the sign-in address) is missing.');
  if (given.length > 1)
    throw new UsageError('Give the address once: as an argument or with --email.');
  return email;
}

export function holdInWords(hold: Details['hold']): string {
  if (hold === null) return 'none';
  const { placed_at, until } = hold;
  return `since ${placed_at}, ${until === null ? 'without an end' : `until ${until}`}`;
}

export const accountCreate: Command = {
  name: 'account create',
  createsStore: true,
  usage: '<email>',
  summary: 'Open an account; without --password-stdin, a password is generated and shown.',
  positionals: { email: 'the sign-in address' },
  optionalPositionals: 1,
  examples: [
    'account create ann@example.com --plan pro --credits 500',
    'account create ann@example.com --password-stdin < password.txt',
  ],
  options: {
    email: { value: 'email', help: 'the sign-in address, instead of the argument' },
    plan: { value: 'plan', help: `${PLANS.join(', ')} (default free)`, choices: PLANS },
    credits: { value: 'credits', help: 'credits to begin with (default FREE_CREDITS)' },
    'password-stdin': { help: 'read the password from standard input' },
  },
  run: async (invocation, { withOperator, output }) => {
    const email = emailOf(invocation);
    const plan = parsePlan(textOption(invocation, 'plan') ?? 'free');
    const wanted = textOption(invocation, 'credits');
    const credits =
      wanted === undefined ? undefined : wholeNumber(wanted, '--credits', 0, MAX_BALANCE);
    const password =
      invocation.values['password-stdin'] === true ? await secretFromInput() : undefined;
    await withOperator(async (api) => {
      if ((await api.find(email)) !== undefined) {
        throw new Error(`There is an account for ${email} already.`);
      }
      const opened = await api.post<OpenedAccount>('/operator/accounts/', {
        email,
        plan,
        ...(credits === undefined ? {} : { credits }),
        ...(password === undefined ? {} : { password }),
      });
      output.json(opened);
      output.line(
        `Opened ${opened.id} for ${opened.email}: plan ${plan}, ${counted(opened.credits, 'credit')}.`,
      );
      if (opened.password !== undefined) {
        output.line(`Password (shown only now): ${opened.password}`);
      }
    });
  },
};

export const accountPassword: Command = {
  name: 'account password',
  usage: '<email>',
  summary: 'Change the password and end all sessions; without --password-stdin, one is generated.',
  positionals: { email: ACCOUNT },
  examples: ['account password ann@example.com'],
  options: {
    'password-stdin': { help: 'read the password from standard input' },
  },
  run: async ({ positionals: [email = ''], values }, { withOperator, output }) => {
    const given = values['password-stdin'] === true ? await secretFromInput() : undefined;
    await withOperator(async (api) => {
      const { id } = await api.account(email);
      const path = `/operator/accounts/${id}/password/`;
      const body = given === undefined ? {} : { password: given };
      const { password: made } = await api.post<Pick<OpenedAccount, 'password'>>(path, body);
      output.json({ id, email, ...(made === undefined ? {} : { password: made }) });
      output.line(`${email} has a new password, and all sessions have ended.`);
      if (made !== undefined) output.line(`Password (shown only now): ${made}`);
    });
  },
};

export const accountSignOut: Command = {
  name: 'account sign-out',
  usage: '<email>',
  summary: 'End all sessions of an account; their tokens are refused from then on.',
  examples: ['account sign-out ann@example.com'],
  positionals: { email: ACCOUNT },
  options: {},
  run: async ({ positionals: [email = ''] }, { withOperator, output }) => {
    await withOperator(async (api) => {
      const { id } = await api.account(email);
      const path = `/operator/accounts/${id}/sessions/end/`;
      const { sessions_ended: ended } = await api.post<{ sessions_ended: number }>(path);
      output.json({ id, email, sessions_ended: ended });
      output.line(`${email} is signed out: ${counted(ended, 'session')} ended.`);
    });
  },
};

export const accountList: Command = {
  name: 'account list',
  usage: '',
  summary: 'List all accounts, oldest first.',
  examples: ['account list', 'account list --as-of 2026-11-21T08:15:30Z'],
  positionals: {},
  options: { 'as-of': AS_OF },
  run: async (invocation, { withCore, withOperator, output }) => {
    if (momentOption(invocation) === undefined) {
      await withOperator(async (api) => {
        const newestFirst = await take(Infinity, () => api.accounts());
        tellAccounts(output, newestFirst.toReversed().map(recordIn));
      });
      return;
    }
    await withCore(async ({ store, vault }) => {
      const moment = momentOption(invocation, await store.head());
      if (moment === undefined) return;
      const opener = openerUnlessErased(vault);
      const records: Awaited<ReturnType<typeof accountRecord<string | undefined>>>[] = [];
      await withFoldedLog(store, [accounts], moment, async (fold) => {
        const rows = everyRow((page) => fold.query(accountQueries).all(page));
        // One by one: a keyring on a server is asked for the key of each.
        for (const row of rows) records.push(await accountRecord(opener, row));
      });
      tellAccounts(output, records);
    });
  },
};

/** Its own fields, without what the API adds to them. */
function recordIn(account: Account) {
  const { id, email, plan, credits, operator, must_change_password, created_at } = account;
  return { id, email, plan, credits, operator, must_change_password, created_at };
}

/** @param listed an account that was erased since has no address any more */
function tellAccounts(
  output: Output,
  listed: readonly (Omit<ReturnType<typeof recordIn>, 'email'> & { email: string | undefined })[],
): void {
  output.json(listed);
  output.table(
    ['ID', 'PLAN', 'CREDITS', 'CREATED', 'EMAIL'],
    listed.map(({ id, email, plan, credits, created_at }) => [
      id,
      plan,
      credits,
      new Date(created_at),
      email,
    ]),
    'There is no account yet.',
  );
}

export const accountShow: Command = {
  name: 'account show',
  usage: '<email>',
  summary: 'Show one account by its sign-in address.',
  examples: [
    'account show ann@example.com',
    'account show ann@example.com --as-of 2026-11-21T08:15:30Z',
  ],
  positionals: { email: ACCOUNT },
  options: { 'as-of': AS_OF },
  run: async (invocation, { withCore, withOperator, output }) => {
    const [email = ''] = invocation.positionals;
    if (momentOption(invocation) === undefined) {
      await withOperator(async (api) => {
        const { id } = await api.account(email);
        const { stored_bytes, hold, ...account } = await api.get<Details>(
          `/operator/accounts/${id}/`,
        );
        const shown = { ...recordIn(account), stored_bytes };
        output.json({ ...shown, hold });
        tellAccount(output, { ...shown, hold: holdInWords(hold) });
      });
      return;
    }
    await withCore(async (core) => {
      const moment = momentOption(invocation, await core.store.head());
      const { id: accountId } = await accountByEmail(core, email);
      const view = { accountId, projection: accounts, queries: accountQueries };
      const row = await readAsOf(core, moment, view, (queries) => queries.byId(accountId));
      if (!row) {
        const text = `There is no account for ${email} yet at this moment.`;
        throw new ServiceError('not_found', text);
      }
      const blobs = { accountId, projection: storedBlobs, queries: storedBlobQueries };
      // The hold of an earlier moment is in the history alone.
      const shown = {
        ...(await accountRecord(core.vault, row)),
        stored_bytes: await readAsOf(core, moment, blobs, (queries) => queries.bytesOf(accountId)),
      };
      output.json(shown);
      tellAccount(output, shown);
    });
  },
};

function tellAccount(
  output: Output,
  shown: ReturnType<typeof recordIn> & { readonly hold?: string },
): void {
  const { operator, must_change_password, created_at } = shown;
  output.table(
    [],
    Object.entries({
      ...shown,
      operator: operator ? 'yes' : 'no',
      must_change_password: must_change_password ? 'yes' : 'no',
      created_at: new Date(created_at),
    }),
  );
}
