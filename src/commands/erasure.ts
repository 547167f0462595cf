/** Erasing an account, and the hold that keeps it from being erased. */
import { isoTime, systemClock, timeIn } from '../clock.ts';
import { copyableCommand } from '../copyable-command.ts';
import type { Erasure } from '../http/operator-routes.ts';
import { normalAddress } from '../use-cases/accounts.ts';
import { ACCOUNT, holdInWords } from './account.ts';
import { ask } from './ask.ts';
import { type Command, textOption, UsageError } from './command.ts';
import type { Details } from './operator-api.ts';
import { isPressledgerError } from './service.ts';

const NOTHING = 'Nothing was erased.';

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

export const accountErase: Command = {
  name: 'account erase',
  usage: '<email>',
  summary: 'Erase an account for good; asks for the address again, unless --yes is given.',
  positionals: { email: `${ACCOUNT}, or its id` },
  examples: ['account erase ann@example.com', 'account erase ann@example.com --yes --json'],
  options: { yes: { help: 'do not ask' } },
  run: async ({ positionals: [given = ''], values }, { withOperator, output }) => {
    await withOperator(async (api) => {
      const account = encodeURIComponent(given);
      const { id, email, state } = await api.get<Erasure>(`/operator/erasures/${account}/`);
      if (state === 'open' && values['yes'] !== true) await confirm(email);
      await api.post(`/operator/erasures/${id}/`).catch((error: unknown) => {
        if (!isPressledgerError(error, 'forbidden')) throw error;
        const release = copyableCommand(api.dataDir, 'account', 'hold', email, '--release');
        throw new Error(`${error.message} Release it with \`${release}\`.`);
      });
      output.json({ id, email, erased: true });
      output.line(
        state === 'erased'
          ? `${id} was erased before: its key is destroyed, also where it had come back.`
          : `Erased ${id}: its key is destroyed, and its documents are deleted.`,
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
    if (until !== undefined && until <= systemClock.now()) {
      throw new Error(`A hold ends in the future: ${isoTime(until)} has passed.`);
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
