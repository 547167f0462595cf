/** The mails that people get: which kinds each of them wants, and when owners are told of low credits. */
import Type from 'typebox';
import { mailsOf, chooseMails } from '../../accounts/mail-choices.ts';
import { sendToAccount } from '../../accounts/accounts.ts';
import { accountAggregate } from '../../domain/account.ts';
import { founderOf } from '../../domain/members.ts';
import { compile } from '../../requests/validation.ts';
import { callerOf, commandContext, type HttpContext, isByOperatorSocket } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { signedInOf } from '../middleware/sessions-only.ts';
import { Closed, Flag, OrNull } from '../openapi/fields.ts';
import type { Endpoint } from '../openapi/operation.ts';

const KINDS = {
  credits_low: Flag('true: of low credits, as an owner.', true),
  webhook_disabled: Flag('true: of an endpoint that was switched off, as an owner.', true),
  key_expiring: Flag('true: of one of your API keys, 7 days before it expires.', true),
};

/** The answer about the mails of a person. */
export const Mails = Closed({
  sends_mail: Flag('true if the service has a mail server (SMTP_URL).', true),
  ...KINDS,
});

/** The body of `PATCH /account/mails/`. */
export const MailsChange = Type.Partial(Closed(KINDS), { additionalProperties: false });

const ABOUT_LOW =
  'Owners get a mail once each time that the credits fall below it. null: below a tenth of what was granted last. 0: never.';
const Below = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: ABOUT_LOW,
  examples: [50],
});

/** The answer about the limit. */
export const LowCredits = Closed({ below: OrNull(Below) });
/** The body of `PUT /account/low-credits/`. */
export const LowCreditsChange = Closed({ below: Below });

const checkMails = compile(MailsChange);
const checkLow = compile(LowCreditsChange);

/** Who is signed in; for the command line, the person whom the account was opened for. */
function personOf(ctx: HttpContext): string {
  const caller = callerOf(ctx);
  return isByOperatorSocket(ctx) ? founderOf(caller.accountId) : signedInOf(caller).person;
}

async function sendMails(ctx: HttpContext, deps: RouteDependencies): Promise<void> {
  const person = personOf(ctx);
  const sends = deps.config.smtpUrl !== undefined;
  ctx.body = { sends_mail: sends, ...(await mailsOf(deps, person)) };
}

export const getMails: Endpoint = {
  doc: {
    id: 'getMails',
    tag: 'People',
    summary: 'Retrieve which mails you get',
    description:
      'Yours, in all your accounts. Invitations, links that set a password and mails about sign-ins cannot be switched off.',
    answers: { 200: { description: 'The mails.', schema: Mails } },
  },
  handler: (deps) => (ctx) => sendMails(ctx, deps),
};

export const patchMails: Endpoint = {
  doc: {
    id: 'changeMails',
    tag: 'People',
    summary: 'Change which mails you get',
    description: 'What is not given stays as it is.',
    body: { schema: MailsChange },
    answers: { 200: { description: 'The mails, as they are now.', schema: Mails } },
  },
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const asked = await deps.bodies.readSmall(ctx, deps.config, checkMails);
    await chooseMails(deps, personOf(ctx), accountId, asked, await commandContext(ctx, deps));
    await sendMails(ctx, deps);
  },
};

async function sendLow(ctx: HttpContext, { actors }: RouteDependencies): Promise<void> {
  const { state } = await actors.read(accountAggregate, callerOf(ctx).accountId);
  ctx.body = { below: state.lowCredits ?? null };
}

async function changeLow(
  ctx: HttpContext,
  deps: RouteDependencies,
  limit: { readonly below?: number },
): Promise<void> {
  const { accountId } = callerOf(ctx);
  const command = { type: 'ChangeLowCredits', accountId, ...limit } as const;
  await sendToAccount(deps, command, await commandContext(ctx, deps));
}

export const getLowCredits: Endpoint = {
  doc: {
    id: 'getLowCredits',
    tag: 'Account',
    summary: 'Retrieve when owners are told of low credits',
    description: ABOUT_LOW,
    answers: { 200: { description: 'The limit.', schema: LowCredits } },
  },
  handler: (deps) => (ctx) => sendLow(ctx, deps),
};

export const putLowCredits: Endpoint = {
  doc: {
    id: 'setLowCredits',
    tag: 'Account',
    summary: 'Set when owners are told of low credits',
    description: `${ABOUT_LOW} Where they are below it already, nobody is told.`,
    body: { schema: LowCreditsChange },
    answers: { 200: { description: 'The limit.', schema: LowCredits } },
  },
  handler: (deps) => async (ctx) => {
    await changeLow(ctx, deps, await deps.bodies.readSmall(ctx, deps.config, checkLow));
    await sendLow(ctx, deps);
  },
};

export const deleteLowCredits: Endpoint = {
  doc: {
    id: 'resetLowCredits',
    tag: 'Account',
    summary: 'Remove the limit of low credits',
    description: 'Credits are low below a tenth of what was granted last from then on.',
    answers: { 204: { description: 'The account has no limit of its own. There is no body.' } },
  },
  handler: (deps) => async (ctx) => {
    await changeLow(ctx, deps, {});
    ctx.status = 204;
  },
};
