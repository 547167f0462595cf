/** Erasing an account, and the hold that keeps it from being erased. */
import { isoTime, timeIn } from '../clock.ts';
import { copyableCommand } from '../copyable-command.ts';
import type { Core } from '../core.ts';
import { accountAggregate } from '../domain/account.ts';
import { ACCOUNT_ID } from '../domain/ids.ts';
import { ServiceError } from '../errors.ts';
import { normalAddress } from '../use-cases/accounts.ts';
import { operatorContext } from '../use-cases/command-context.ts';
import { findHolder } from '../use-cases/accounts.ts';
import { completeErasure, eraseAccount } from '../use-cases/erasure.ts';
import { ACCOUNT, holdInWords } from './account.ts';
import { ask } from './ask.ts';
import { type Command, textOption, UsageError } from './command.ts';
import type { Details } from './operator-api.ts';

const NOTHING = 'Nothing was erased.';
const WHOLE_ID = new RegExp(`^${ACCOUNT_ID}$`);

/** @throws {Error} the user does not confirm */
async function confirm(email: string): Promise<void> {
  if (!process.stdin.isTTY) {
    throw new UsageError('There is no terminal to ask at: give --yes to erase without a question.');
  }
  const question =
    `This erases the account of ${email} for good: its documents, its API keys and all that is personal ` +
    'in its history.\nType the address again to confirm: ';
  const typed = await ask(question, { cancelled: NOTHING });
  if (normalAddress(typed) !== normalAddress(email))
    throw new Error(`That is another address. ${NOTHING}`);
}

/** Another account may have taken the address of one that was erased: its id still names it. */
async function findErasable(core: Core, given: string) {
  if (!WHOLE_ID.test(given)) {
    const holder = await findHolder(core, given);
    return holder && { ...holder, email: given };
  }
  const { state } = await core.actors.read(accountAggregate, given);
  if (state.status === 'none') return undefined;
  const email = state.status === 'open' ? await core.vault.unseal(given, state.email) : given;
  return { id: given, state, email };
}

export const accountErase: Command = {
  name: 'account erase',
  usage: '<email>',
  summary: 'Erase an account for good; asks for the address again, unless --yes is given.',
  positionals: { email: `${ACCOUNT}, or its id` },
  examples: ['account erase ann@example.com', 'account erase ann@example.com --yes --json'],
  options: { yes: { help: 'do not ask' } },
  run: async ({ positionals: [given = ''], values }, { withCore, output }) => {
    await withCore(async (core) => {
      const found = await findErasable(core, given);
      if (!found) throw new ServiceError('not_found', `There is no account for ${given}.`);
      const { id, state, email } = found;
      const isNews = !state.erasureCompleted;
      if (state.status === 'open') {
        if (values['yes'] !== true) await confirm(email);
        await core.caughtUp();
        await eraseAccount(core, id, operatorContext(core.clock)).catch((error: unknown) => {
          if (!(error instanceof ServiceError) || error.code !== 'forbidden') throw error;
          const release = copyableCommand(
            core.config.dataDir,
            'account',
            'hold',
            email,
            '--release',
          );
          throw new ServiceError('forbidden', `${error.message} Release it with \`${release}\`.`);
        });
      } else if (isNews) {
        await core.caughtUp();
        await completeErasure(core, id);
      } else {
        // A copy of the keyring from before, in use again, has its key: the log does not show that.
        await core.vault.erase(id);
      }
      output.json({ id, email, erased: true });
      output.line(
        isNews
          ? `Erased ${id}: its key is destroyed, and its documents are deleted.`
          : `${id} was erased before: its key is destroyed, also where it had come back.`,
      );
    });
  },
};

export const accountHold: Command = {
  name: 'account hold',
  usage: '<email>',
  summary: 'Keep an account and its documents from being deleted, by retention or by erasing.',
  positionals: { email: ACCOUNT },
  examples: [
    'account hold ann@example.com',
    'account hold ann@example.com --until 2027-06-30T00:00:00Z',
    'account hold ann@example.com --release',
  ],
  options: {
    until: {
      value: 'time',
      help: 'the end of the hold, in ISO 8601 (default: until its release); takes the place of a hold in force',
    },
    release: { help: 'end the hold that is in force' },
  },
  run: async (invocation, { withOperator, output }) => {
    const [email = ''] = invocation.positionals;
    const given = textOption(invocation, 'until');
    const until = given === undefined ? undefined : timeIn(given);
    if (given !== undefined && until === undefined) {
      throw new UsageError('--until is a time with its offset, such as 2027-06-30T00:00:00Z.');
    }
    const release = invocation.values['release'] === true;
    if (release && given !== undefined) {
      throw new UsageError('Give --until or --release, not both.');
    }
    await withOperator(async (api) => {
      const { id } = await api.account(email);
      const path = `/operator/accounts/${id}/`;
      const { hold: replaced } = await api.get<Details>(path);
      const asked = until === undefined ? {} : { until: isoTime(until) };
      const placing = release
        ? api.delete(`${path}hold/`)
        : api.post<Details>(`${path}hold/`, asked);
      const hold = (await placing)?.hold ?? null;
      output.json({ id, email, hold });
      output.line(
        hold === null
          ? `${email} is under no hold any more: its retention goes on.`
          : `${email} is under a hold, ${holdInWords(hold)}: nothing of it is deleted.`,
      );
      if (!release && replaced !== null && replaced.until !== hold?.until) {
        output.note(`The hold before is no longer in force: ${holdInWords(replaced)}.`);
      }
    });
  },
};
