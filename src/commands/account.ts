import { type AccountQueries, accountQueries, accounts } from '../../projections/accounts.ts';
import { storedBlobQueries, storedBlobs } from '../../projections/stored-blobs.ts';
import { changePassword, endSessions, findAccount, openAccount } from '../use-cases/accounts.ts';
import { operatorContext } from '../use-cases/command-context.ts';
import { accountRecord, holdRecord } from '../use-cases/records.ts';
import { everyRow, openerUnlessErased, withFoldedLog } from '../use-cases/state.ts';
import { isoTime } from '../clock.ts';
import type { Core } from '../core.ts';
import { MAX_BALANCE } from '../domain/account.ts';
import { PLANS, type Plan } from '../domain/events.ts';
import { type Hold, holdInForce } from '../domain/hold.ts';
import { ServiceError } from '../errors.ts';
import { AS_OF, momentOption, readAsOf } from './as-of.ts';
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

export function holdInWords(hold: Hold | undefined): string {
  if (hold === undefined) return 'none';
  const { placedAt, until } = hold;
  return `since ${isoTime(placedAt)}, ${until === undefined ? 'without an end' : `until ${isoTime(until)}`}`;
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
  usage: '<email>',
  summary: 'Change the password and end all sessions; without --password-stdin, one is generated.',
  positionals: { email: ACCOUNT },
  examples: ['account password ann@example.com'],
  options: {
    'password-stdin': { help: 'read the password from standard input' },
  },
  run: async ({ positionals: [email = ''], values }, { withCore, output }) => {
    const given = values['password-stdin'] === true ? await secretFromInput() : undefined;
    await withCore(async (core) => {
      const { id } = await accountByEmail(core, email);
      const made = await changePassword(core, id, given, operatorContext(core.clock));
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
  run: async ({ positionals: [email = ''] }, { withCore, output }) => {
    await withCore(async (core) => {
      const { id } = await accountByEmail(core, email);
      const ended = await endSessions(core, id, operatorContext(core.clock));
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
  run: async (invocation, { withCore, output }) => {
    momentOption(invocation);
    await withCore(async (core) => {
      const moment = momentOption(invocation, await core.store.head());
      await core.caughtUp();
      const opener = openerUnlessErased(core.vault);
      const recordsOf = async (queries: AccountQueries) => {
        const rows = [...everyRow((page) => queries.all(page))];
        const records = [];
        // One by one: a keyring on a server is asked for the key of each.
        for (const row of rows) records.push(await accountRecord(opener, row));
        return records;
      };
      const listed =
        moment === undefined
          ? await recordsOf(core.readModel.query(accountQueries))
          : await withFoldedLog(core.store, [accounts], moment, (fold) =>
              recordsOf(fold.query(accountQueries)),
            );
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
    });
  },
};

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
  run: async (invocation, { withCore, output }) => {
    const [email = ''] = invocation.positionals;
    momentOption(invocation);
    await withCore(async (core) => {
      const moment = momentOption(invocation, await core.store.head());
      const { id: accountId, state } = await accountByEmail(core, email);
      const view = { accountId, projection: accounts, queries: accountQueries };
      const row = await readAsOf(core, moment, view, (queries) => queries.byId(accountId));
      if (!row) {
        const then = moment === undefined ? '' : ' yet at this moment';
        throw new ServiceError('not_found', `There is no account for ${email}${then}.`);
      }
      const blobs = { accountId, projection: storedBlobs, queries: storedBlobQueries };
      // The hold of an earlier moment is in the history alone.
      const hold = holdInForce(state, core.clock.now());
      const shown = {
        ...(await accountRecord(core.vault, row)),
        stored_bytes: await readAsOf(core, moment, blobs, (queries) => queries.bytesOf(accountId)),
      };
      output.json({ ...shown, ...(moment === undefined && { hold: holdRecord(hold) }) });
      output.table(
        [],
        Object.entries({
          ...shown,
          operator: shown.operator ? 'yes' : 'no',
          must_change_password: shown.must_change_password ? 'yes' : 'no',
          created_at: new Date(row.createdAt),
          ...(moment === undefined && { hold: holdInWords(hold) }),
        }),
      );
    });
  },
};
