/** The commands that administrate accounts. */
import { accountQueries, accounts } from '../../projections/accounts.ts';
import { storedBlobQueries, storedBlobs } from '../../projections/stored-blobs.ts';
import { type OpenedAccount, recordLook } from '../accounts/accounts.ts';
import { accountRecord } from '../accounts/records.ts';
import { operatorContext } from '../actors/command-context.ts';
import { copyableCommand } from '../config/copyable-command.ts';
import { PLAN_NAME, PLANS } from '../domain/choices.ts';
import { MAX_BALANCE } from '../domain/credits.ts';
import { ServiceError } from '../errors/errors.ts';
import type { Core } from '../service/core.ts';
import { holdInWords } from './account-keeping.ts';
import { momentOption, readAsOf } from './as-of.ts';
import {
  type Invocation,
  type Output,
  type Run,
  secretFromInput,
  textOption,
  UsageError,
  wholeNumber,
} from './command.ts';
import { counted } from '../domain/counted.ts';
import { onAccount, reasonIn, reasonQuery } from './on-account.ts';
import {
  type Account,
  type Activity,
  type Details,
  type OperatorApi,
  ofAccount,
} from './operator-api.ts';
import { dateOf, isPressledgerError, PressledgerUnreachable, take } from './service.ts';

/** The service says which others there are. */
function parsePlan(value: string): string {
  const plan = value.toLowerCase();
  if (new RegExp(`^${PLAN_NAME}$`).test(plan)) return plan;
  throw new UsageError(`A plan is one of ${PLANS.join(', ')}, or a name in PLANS.`);
}

/** @throws {ServiceError} `not_found` */
export async function accountByEmail(core: Core, email: string) {
  // Only with a store open: commands that ask a service start sooner without it.
  const { findAccount } = await import('../accounts/accounts.ts');
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

interface NewPassword {
  /** The person's. */
  readonly id: string;
  readonly password?: string;
}

const givenPassword = async ({ values }: Invocation): Promise<{ readonly password?: string }> =>
  values['password-stdin'] === true ? { password: await secretFromInput() } : {};

/** The plan and the credits that an account is to begin with. */
export function termsOf(invocation: Invocation) {
  const plan = parsePlan(textOption(invocation, 'plan') ?? 'free');
  const wanted = textOption(invocation, 'credits');
  const credits =
    wanted === undefined ? {} : { credits: wholeNumber(wanted, '--credits', 0, MAX_BALANCE) };
  return { plan, ...credits };
}

export const accountCreate: Run = async (invocation, { open, output }) => {
  const email = emailOf(invocation);
  const terms = termsOf(invocation);
  const { plan } = terms;
  const asked = { email, ...terms, ...(await givenPassword(invocation)) };
  const create = async (api: OperatorApi): Promise<void> => {
    if ((await api.find(email)) !== undefined) {
      throw new Error(`There is an account for ${email} already.`);
    }
    const opened = await api.post<OpenedAccount>('/operator/accounts/', asked);
    output.json(opened);
    output.line(
      `Opened ${opened.id} for ${opened.email}: plan ${plan}, ${counted(opened.credits, 'credit')}.`,
    );
    if (opened.password !== undefined) {
      output.line(`Password (shown only now): ${opened.password}`);
    }
  };
  // A store is made for the first account: other commands would find nothing in an empty one.
  await open.withOperator(create, { create: true });
};

export const accountPassword: Run = async (invocation, { open, output }) => {
  const [email = ''] = invocation.positionals;
  const asked = { email, ...reasonIn(invocation), ...(await givenPassword(invocation)) };
  await open.withOperator(async (api) => {
    const { id, password } = await api.post<NewPassword>('/operator/passwords/', asked);
    output.json({ id, email, ...(password !== undefined && { password }) });
    output.line(`${email} has a new password, and all sessions have ended.`);
    if (password !== undefined) output.line(`Password (shown only now): ${password}`);
  });
};

export const accountActivity: Run = async (invocation, context) => {
  const query = reasonQuery(invocation);
  await onAccount(invocation, context, async (api, id, email) => {
    const { keys, days } = await api.get<Activity>(ofAccount(id, `activity/${query}`));
    const { output } = context;
    output.json({ id, email, keys, days });
    output.table(
      ['KEY', 'PREFIX', 'CREATED', 'LAST USED'],
      keys.map((each) => [
        each.id,
        each.prefix,
        new Date(each.created_at),
        dateOf(each.last_used_at),
      ]),
      `${email} has no API key.`,
    );
    output.line('');
    output.table(
      ['DAY', 'ACCEPTED', 'COMPLETED', 'FAILED', 'PAGES', 'FAILURES'],
      days.map(({ day, accepted, completed, failed, pages, failures }) => {
        const codes = Object.entries(failures).map(([code, count]) => `${code} ${count}`);
        return [day, accepted, completed, failed, pages, codes.join(', ')];
      }),
      `${email} asked for nothing in the last 30 days.`,
    );
  });
};

export const accountSignOut: Run = async (invocation, context) => {
  const query = reasonQuery(invocation);
  await onAccount(invocation, context, async (api, id, email) => {
    const ended = await api.post<{ sessions_ended: number }>(
      ofAccount(id, `sessions/end/${query}`),
    );
    context.output.json({ id, email, ...ended });
    context.output.line(
      `${email} is signed out: ${counted(ended.sessions_ended, 'session')} ended.`,
    );
  });
};

const CREDITS_OFF = 'Credits are off (CREDITS=off): conversions cost nothing.';

export const creditsShow: Run = async ({ positionals: [email = ''] }, { open, output }) => {
  await open.withOperator(async (api) => {
    const account = await api.account(email);
    output.json({ email, credits: account.credits });
    output.line(
      account.credits === null
        ? CREDITS_OFF
        : `${email} has ${counted(account.credits, 'credit')}.`,
    );
  });
};

export const creditsGrant: Run = async (invocation, context) => {
  const amount = wholeNumber(invocation.positionals[1] ?? '', '<credits>', 1, MAX_BALANCE);
  const asked = { amount, ...reasonIn(invocation) };
  await onAccount(invocation, context, async (api, id, email) => {
    const { credits } = await grant(api, id, email, asked);
    context.output.json({ email, credits });
    context.output.line(
      credits === null
        ? `The credits were added. ${CREDITS_OFF}`
        : `${email} now has ${counted(credits, 'credit')}.`,
    );
  });
};

/** @throws {Error} one line: no answer came, also from the event store, so they may have been added */
async function grant(api: OperatorApi, id: string, email: string, asked: object) {
  try {
    return await api.postOnce<Account>(ofAccount(id, 'credits/'), asked);
  } catch (error) {
    const isUnknown =
      error instanceof PressledgerUnreachable || isPressledgerError(error, 'service_unavailable');
    if (!isUnknown) throw error;
    const show = copyableCommand(api.dataDir, 'credits', email);
    throw new Error(
      `${error.message} The credits may have been added: look with \`${show}\` before you repeat this.`,
      { cause: error },
    );
  }
}

export const planSet: Run = async (invocation, context) => {
  const plan = parsePlan(invocation.positionals[1] ?? '');
  const reason = reasonIn(invocation);
  await onAccount(invocation, context, async (api, id, email) => {
    await api.post(ofAccount(id, 'plan/'), { plan, ...reason });
    context.output.json({ email, plan });
    context.output.line(`${email} is on plan ${plan}.`);
  });
};

export const accountOperator: Run = async (invocation, context) => {
  const operator = invocation.values['grant'] === true;
  if (operator === (invocation.values['revoke'] === true)) {
    throw new UsageError('Give --grant or --revoke.');
  }
  const reason = reasonIn(invocation);
  await onAccount(invocation, context, async (api, id, email) => {
    await api.post(ofAccount(id, 'operator/'), { operator, ...reason });
    context.output.json({ id, email, operator });
    context.output.line(`${email} is ${operator ? 'an' : 'no'} operator of the service.`);
  });
};

export const accountList: Run = async (invocation, { open, output }) => {
  if (momentOption(invocation) === undefined) {
    await open.withOperator(async (api) => {
      const newestFirst = await take(Infinity, () => api.accounts());
      tellAccounts(output, newestFirst.toReversed().map(recordIn));
    });
    return;
  }
  await open.withCore(async ({ store, vault }) => {
    const moment = momentOption(invocation, await store.head());
    if (moment === undefined) return;
    const { everyRow, openerUnlessErased, withFoldedLog } = await import('../conversions/state.ts');
    const opener = openerUnlessErased(vault);
    const records: Awaited<ReturnType<typeof accountRecord<string | undefined>>>[] = [];
    await withFoldedLog(store, [accounts], moment, async (fold) => {
      const rows = everyRow((page) => fold.query(accountQueries).all(page));
      // One by one: a keyring on a server is asked for the key of each.
      for (const row of rows) records.push(await accountRecord(opener, row));
    });
    tellAccounts(output, records);
  });
};

/** Its own fields, without what the API adds to them. */
function recordIn(account: Account) {
  const { id, email, plan, credits, operator, suspended, must_change_password, created_at } =
    account;
  return { id, email, plan, credits, operator, suspended, must_change_password, created_at };
}

/** @param listed an account that was erased since has no address any more */
function tellAccounts(
  output: Output,
  listed: readonly (Omit<ReturnType<typeof recordIn>, 'email'> & { email: string | undefined })[],
): void {
  output.json(listed);
  output.table(
    ['ID', 'PLAN', 'CREDITS', 'CREATED', 'EMAIL'],
    listed.map((each) => [
      each.id,
      each.plan,
      each.credits ?? 'off',
      new Date(each.created_at),
      each.email,
    ]),
    'There is no account yet.',
  );
}

export const accountShow: Run = async (invocation, context) => {
  const { open, output } = context;
  if (momentOption(invocation) === undefined) {
    await onAccount(invocation, context, async (api, id) => {
      const { stored_bytes, hold, suspension, ...account } = await api.get<Details>(ofAccount(id));
      const shown = { ...recordIn(account), stored_bytes };
      output.json({ ...shown, hold, suspension });
      const reason = suspension === null ? {} : { suspended_because: suspension.reason };
      tellAccount(output, { ...shown, hold: holdInWords(hold), ...reason });
    });
    return;
  }
  await open.withCore(async (core) => {
    const [email = ''] = invocation.positionals;
    const moment = momentOption(invocation, await core.store.head());
    const { id: accountId } = await accountByEmail(core, email);
    await recordLook(core, accountId, operatorContext(core.clock), 'account');
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
};

function tellAccount(
  output: Output,
  shown: ReturnType<typeof recordIn> & {
    readonly hold?: string;
    readonly suspended_because?: string;
  },
): void {
  const { operator, suspended, must_change_password, created_at } = shown;
  output.table(
    [],
    Object.entries({
      ...shown,
      credits: shown.credits ?? 'off',
      operator: operator ? 'yes' : 'no',
      suspended: suspended ? 'yes' : 'no',
      must_change_password: must_change_password ? 'yes' : 'no',
      created_at: new Date(created_at),
    }),
  );
}
