import { accountQueries } from '../../projections/accounts.ts';
import { storedBlobQueries } from '../../projections/stored-blobs.ts';
import { changePassword, endSessions, findAccount, openAccount } from '../use-cases/accounts.ts';
import { operatorContext } from '../use-cases/command-context.ts';
import { isoTime } from '../clock.ts';
import type { Core } from '../core.ts';
import { MAX_BALANCE } from '../domain/account.ts';
import { PLANS, type Plan } from '../domain/events.ts';
import { ServiceError } from '../errors.ts';
import {
  choiceOf,
  type Command,
  counted,
  type Invocation,
  secretFromInput,
  textOption,
  UsageError,
  wholeNumber,
} from './command.ts';

const PAGE = 500;

/** The help of EMAIL in every command that takes it. */
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
  if (email === undefined) throw new UsageError('EMAIL (the sign-in address) is missing.');
  if (given.length > 1) throw new UsageError('Give the address once: as EMAIL or with --email.');
  return email;
}

export const accountCreate: Command = {
  name: 'account create',
  createsStore: true,
  usage: 'EMAIL [--plan PLAN] [--credits COUNT] [--password-stdin]',
  summary: 'Open an account; a password is made and shown once where none is given.',
  positionals: { EMAIL: 'the sign-in address' },
  optionalPositionals: 1,
  examples: ['account create ann@example.com --plan pro --credits 500'],
  options: {
    email: { value: 'email', help: 'the sign-in address, in place of the argument' },
    plan: { value: 'plan', help: `${PLANS.join(', ')} (default free)`, choices: PLANS },
    credits: { value: 'number', help: 'credits to begin with (default FREE_CREDITS)' },
    'password-stdin': { help: 'read the password from standard input' },
  },
  run: async (invocation, { withCore, output }) => {
    const email = emailOf(invocation);
    const plan = parsePlan(textOption(invocation, 'plan') ?? 'free');
    const credits = textOption(invocation, 'credits');
    const wanted =
      credits === undefined ? undefined : wholeNumber(credits, '--credits', 0, MAX_BALANCE);
    const password =
      invocation.values['password-stdin'] === true ? await secretFromInput() : undefined;
    await withCore(async (core) => {
      const opened = await openAccount(
        core,
        {
          email,
          plan,
          credits: wanted ?? core.config.freeCredits,
          ...(password === undefined ? {} : { password }),
        },
        operatorContext(core.clock),
      );
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
  usage: 'EMAIL [--password-stdin]',
  summary: 'Set a new password and end all sessions; one is made if none is given.',
  positionals: { EMAIL: ACCOUNT },
  options: {
    'password-stdin': { help: 'read the password from standard input' },
  },
  run: async ({ positionals: [email = ''], values }, { withCore, output }) => {
    const given = values['password-stdin'] === true ? await secretFromInput() : undefined;
    await withCore(async (core) => {
      const { id } = await accountByEmail(core, email);
      const made = await changePassword(core, id, given, operatorContext(core.clock));
      output.json({ id, email, ...(made === undefined ? {} : { password: made }) });
      output.line(`${email} has another password, and all sessions have ended.`);
      if (made !== undefined) output.line(`Password (shown only now): ${made}`);
    });
  },
};

export const accountSignOut: Command = {
  name: 'account sign-out',
  usage: 'EMAIL',
  summary: 'End all sessions of an account; their tokens are refused from then on.',
  positionals: { EMAIL: ACCOUNT },
  options: {},
  run: async ({ positionals: [email = ''] }, { withCore, output }) => {
    await withCore(async (core) => {
      const { id } = await accountByEmail(core, email);
      const ended = await endSessions(core, id, operatorContext(core.clock));
      output.json({ id, email, sessions_ended: ended });
      output.line(`All sessions of ${email} have ended. Open before: ${ended}.`);
    });
  },
};

export const accountList: Command = {
  name: 'account list',
  usage: '',
  summary: 'List all accounts, oldest first.',
  positionals: {},
  options: {},
  run: async (_, { withCore, output }) => {
    await withCore(async (core) => {
      await core.caughtUp();
      const accounts: object[] = [];
      for (let offset = 0; ; offset += PAGE) {
        const rows = core.readModel.query(accountQueries).all({ offset, limit: PAGE });
        for (const { id, email, plan, credits, createdAt } of rows) {
          const account = {
            id,
            email: await core.vault.unseal(id, email),
            plan,
            credits,
            created_at: isoTime(createdAt),
          };
          accounts.push(account);
          output.line(
            [id, account.email, plan, counted(credits, 'credit'), account.created_at].join('  '),
          );
        }
        if (rows.length < PAGE) break;
      }
      output.json(accounts);
      if (accounts.length === 0) output.line('There is no account yet.');
    });
  },
};

export const accountShow: Command = {
  name: 'account show',
  usage: 'EMAIL',
  summary: 'Show one account by its sign-in address.',
  positionals: { EMAIL: ACCOUNT },
  options: {},
  run: async ({ positionals: [email = ''] }, { withCore, output }) => {
    await withCore(async (core) => {
      const { id, state } = await accountByEmail(core, email);
      await core.caughtUp();
      const row = core.readModel.query(accountQueries).byId(id);
      if (!row) throw new ServiceError('not_found', `There is no account for ${email}.`);
      const shown = {
        id,
        email: await core.vault.unseal(id, state.email),
        plan: row.plan,
        credits: row.credits,
        created_at: isoTime(row.createdAt),
        stored_bytes: core.readModel.query(storedBlobQueries).bytesOf(id),
      };
      output.json(shown);
      for (const [name, value] of Object.entries(shown)) output.line(`${name.padEnd(14)}${value}`);
    });
  },
};
