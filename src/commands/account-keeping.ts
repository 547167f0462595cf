/** The commands about what is kept of an account: its retention, holds, and its erasure. */
import { normalAddress } from '../accounts/accounts.ts';
import { copyableCommand } from '../config/copyable-command.ts';
import type { Erasure } from '../http/operator-routes.ts';
import { isoTime, systemClock, timeIn } from '../time/clock.ts';
import { OPTIONAL_MAILS, type OptionalMail } from '../domain/choices.ts';
import {
  choiceOf,
  type Invocation,
  type Run,
  textOption,
  UsageError,
  wholeNumber,
} from './command.ts';
import { counted } from '../domain/counted.ts';
import { neededReason, onAccount, reasonIn, reasonQuery } from './on-account.ts';
import { type Details, ofAccount, type Proven } from './operator-api.ts';
import { ask } from './output.ts';
import { isPressledgerError } from './service.ts';

export function holdInWords(hold: Details['hold']): string {
  if (hold === null) return 'none';
  const { placed_at, until } = hold;
  return `since ${placed_at}, ${until === null ? 'without an end' : `until ${until}`}`;
}

/** @throws {UsageError} it is not a time @throws {Error} one line: it has passed */
function untilOf(invocation: Invocation): { readonly until?: string } {
  const given = textOption(invocation, 'until');
  if (given === undefined) return {};
  const until = timeIn(given);
  if (until === undefined) {
    throw new UsageError('--until is a time with its offset, such as 2027-06-30T00:00:00Z.');
  }
  if (until > systemClock.now()) return { until: isoTime(until) };
  throw new Error(`A hold ends in the future: ${isoTime(until)} has passed.`);
}

export const accountRetention: Run = async (invocation, context) => {
  const given = invocation.positionals[1];
  const reset = invocation.values['reset'] === true;
  if (reset === (given !== undefined)) throw new UsageError('Give <seconds> or --reset.');
  const seconds =
    given === undefined ? null : wholeNumber(given, '<seconds>', 0, Number.MAX_SAFE_INTEGER);
  const [reason, query] = [reasonIn(invocation), reasonQuery(invocation)];
  await onAccount(invocation, context, async (api, id, email) => {
    const path = ofAccount(id, 'retention/');
    if (seconds === null) await api.delete(path + query);
    else await api.post(path, { retention_seconds: seconds, ...reason });
    context.output.json({ id, email, retention_seconds: seconds });
    context.output.line(
      seconds === null
        ? `New documents of ${email} are kept as long as those of others.`
        : `New documents of ${email} are kept for ${counted(seconds, 'second')} at most.`,
    );
  });
};

export const accountPublicName: Run = async (invocation, context) => {
  const [, given] = invocation.positionals;
  const remove = invocation.values['remove'] === true;
  if (remove && given !== undefined) throw new UsageError('Give <name> or --remove, not both.');
  await onAccount(invocation, context, async (api, id, email) => {
    const client = api.as(id);
    if (remove) await client.removePublicName();
    const { name } =
      given === undefined ? await client.publicName() : await client.setPublicName(given);
    context.output.json({ id, email, public_name: name });
    context.output.line(
      name === null
        ? `${email} is not named to people who check its PDFs.`
        : `People who check a PDF of ${email} are told the name ${name}.`,
    );
  });
};

export const accountLowCredits: Run = async (invocation, context) => {
  const [, given] = invocation.positionals;
  const reset = invocation.values['reset'] === true;
  if (reset && given !== undefined) throw new UsageError('Give <credits> or --reset, not both.');
  if (given !== undefined && !/^\d{1,15}$/.test(given)) {
    throw new UsageError(`<credits> must be a whole number from 0 up, not ${given}.`);
  }
  await onAccount(invocation, context, async (api, id, email) => {
    const client = api.as(id);
    if (reset) await client.resetLowCredits();
    const { below } =
      given === undefined ? await client.lowCredits() : await client.setLowCredits(Number(given));
    context.output.json({ id, email, low_credits: below });
    const when =
      below === null
        ? 'when less than a tenth of the last grant is left'
        : `when the account has fewer than ${counted(below, 'credit')}`;
    context.output.line(
      below === 0
        ? `Owners of ${email} get no mail about low credits.`
        : `Owners of ${email} get a mail ${when}.`,
    );
  });
};

/** The kinds of an option, separated by commas. @throws {UsageError} */
function mailsIn(invocation: Invocation, option: 'on' | 'off'): readonly OptionalMail[] {
  const given = textOption(invocation, option)?.split(',') ?? [];
  return given.map((text) => {
    const kind = choiceOf(text.trim(), OPTIONAL_MAILS);
    if (kind !== undefined) return kind;
    throw new UsageError(`--${option} takes ${OPTIONAL_MAILS.join(', ')}, not ${text}.`);
  });
}

export const accountMails: Run = async (invocation, context) => {
  const [on, off] = [mailsIn(invocation, 'on'), mailsIn(invocation, 'off')];
  const both = on.find((kind) => off.includes(kind));
  if (both !== undefined) throw new UsageError(`Give ${both} to --on or --off, not both.`);
  const change = Object.fromEntries([
    ...on.map((kind) => [kind, true] as const),
    ...off.map((kind) => [kind, false] as const),
  ]);
  await onAccount(invocation, context, async (api, id, email) => {
    const { members } = api.as(id);
    const isChange = on.length + off.length > 0;
    const mails = isChange ? await members.changeMails(change) : await members.mails();
    context.output.json({ id, email, ...mails });
    for (const kind of OPTIONAL_MAILS) {
      context.output.line(`${kind}: ${mails[kind] ? 'on' : 'off'}`);
    }
    if (!mails.sends_mail) context.output.line('This service sends no mail: set SMTP_URL.');
  });
};

export const accountHold: Run = async (invocation, context) => {
  const asked = untilOf(invocation);
  const release = invocation.values['release'] === true;
  if (release && asked.until !== undefined) {
    throw new UsageError('Give --until or --release, not both.');
  }
  const { output } = context;
  const [reason, query] = [reasonIn(invocation), reasonQuery(invocation)];
  await onAccount(invocation, context, async (api, id, email) => {
    const { hold: replaced } = await api.get<Details>(ofAccount(id));
    const path = ofAccount(id, 'hold/');
    const placing = release
      ? api.delete(path + query)
      : api.post<Details>(path, { ...asked, ...reason });
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
};

export const accountSuspend: Run = async (invocation, context) => {
  const asked = neededReason(
    invocation,
    'why the account is suspended. Its people read it at each request that is refused.',
  );
  await onAccount(invocation, context, async (api, id, email) => {
    const { suspension } = await api.post<Details>(ofAccount(id, 'suspend/'), asked);
    context.output.json({ id, email, suspension });
    context.output.line(
      `${email} is suspended: nothing new is accepted, and nobody signs in. What was accepted is finished.`,
    );
  });
};

export const accountResume: Run = async (invocation, context) => {
  const asked = reasonIn(invocation);
  await onAccount(invocation, context, async (api, id, email) => {
    await api.post(ofAccount(id, 'resume/'), asked);
    context.output.json({ id, email, suspension: null });
    context.output.line(`${email} is resumed: its API keys and sessions work again.`);
  });
};

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

export const accountErase: Run = async ({ positionals: [given = ''], values }, context) => {
  const { open, output } = context;
  await open.withOperator(async (api) => {
    const account = encodeURIComponent(given);
    const { id, email, state } = await api.get<Erasure>(`/operator/erasures/${account}/`);
    if (state === 'open' && values['yes'] !== true) await confirm(email);
    await api.post(`/operator/erasures/${id}/`).catch(async (error: unknown) => {
      if (!isPressledgerError(error, 'forbidden')) throw error;
      if ((await api.get<Details>(ofAccount(id))).hold === null) throw error;
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
};

export const accountRemoveSecondFactor: Run = async (invocation, { open, output }) => {
  const [email = ''] = invocation.positionals;
  const which = 'why it is removed. Each account of the person reads it.';
  const asked = { email, ...neededReason(invocation, which) };
  await open.withOperator(async (api) => {
    await api.post('/operator/second-factors/remove/', asked);
    output.json({ email, second_factor: false });
    output.line(`${email} signs in with the password alone from now on.`);
  });
};

export const accountProve: Run = async (invocation, { open, output }) => {
  const [email = ''] = invocation.positionals;
  const other = textOption(invocation, 'new');
  const which = 'why you are sure who it is. Each account of the person reads it.';
  const asked = { email, ...neededReason(invocation, which) };
  await open.withOperator(async (api) => {
    const changed = other === undefined ? {} : { new_email: other };
    const proven = await api.post<Proven>('/operator/addresses/prove/', { ...asked, ...changed });
    output.json(proven);
    output.line(
      proven.is_first
        ? `The address ${proven.email} is proven. What was there before has ended: an owner invites the person again.`
        : `The person signs in with ${proven.email} from now on, and all their sessions have ended.`,
    );
  });
};
