/** Opening an account by a link: an operator invites, or somebody asks for it and confirms the address by mail. */
import { peopleQueries } from '../../../projections/people.ts';
import { assertPlan, networkKey } from '../../accounts/rate-limits.ts';
import {
  askToSignUp,
  endSignUp,
  inviteToSignUp,
  openBySignUp,
  SIGN_UP_GONE,
  signUpOf,
} from '../../accounts/sign-up.ts';
import { firstCommand } from '../../actors/command-context.ts';
import { unlessErased } from '../../documents/keys/vault.ts';
import { ServiceError } from '../../errors/errors.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { compile, validated } from '../../requests/validation.ts';
import { isoTime } from '../../time/clock.ts';
import { type HttpContext, pathParameter } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { Closed, Text, Timestamp } from '../openapi/fields.ts';
import { type Endpoint, type ErrorDoc, wrongField } from '../openapi/operation.ts';
import { NOT_AN_OPERATOR, operatorOf } from '../operator.ts';
import { pageLinks } from '../page-links.ts';
import { PAGE_PARAMETERS, pageOf, pageOfItems, sendPage } from '../pagination.ts';
import { AccountOpening, OpenedAccount } from './operator-accounts.api.ts';

const TOKEN = '06f3k8r1v2w9x4y5z6a7b8c9d0-T0q5vXw2Yh8sKd4fLm9pRz1uBn6cGj3eAi7oQtWyVxE';
const { email, plan, credits } = AccountOpening.properties;
const { id, plan: openedPlan, credits: openedCredits } = OpenedAccount.properties;

/** The body of `POST /sign-up/`. */
export const SignUpRequest = Closed({ email });

/** The answer of `GET /sign-up/{token}/`. */
export const OpenSignUp = Closed({
  email,
  expires_at: Timestamp('The time until which the link is valid.'),
});

/** The body of `POST /sign-up/{token}/accept/`. */
export const SignUpAcceptance = Closed({
  password: Text(
    'correct horse battery',
    'A password of at least 12 characters and at most 1024 bytes.',
    {
      format: 'password',
      maxLength: 1024,
    },
  ),
});

/** The answer. */
export const SignedUp = Closed({ id, email, plan: openedPlan, credits: openedCredits });

/** The body of `POST /operator/sign-ups/`. */
export const SignUpInvitation = Closed({ email, plan, credits });

const ExpiresAt = Timestamp('The time until which it is valid: seven days.');
const LinkId = Text(
  'acct_06f3k8r1v2w9x4y5z6a7b8c9d0',
  'The link, by the id that the account will have.',
);

/** The answer. */
export const SignUpLink = Closed({
  id: LinkId,
  email,
  link: Text(`https://pdf.example.com/sign-up#${TOKEN}`, 'The link. It is shown only this once.'),
  expires_at: ExpiresAt,
});

/** An item of `GET /operator/sign-ups/`. */
export const OpenSignUpLink = Closed({
  id: LinkId,
  email,
  plan: openedPlan,
  credits: openedCredits,
  created_at: Timestamp('The time when it was made.'),
  expires_at: ExpiresAt,
});

const checkRequest = compile(SignUpRequest);
const checkAcceptance = compile(SignUpAcceptance);
const checkInvitation = compile(SignUpInvitation);

const CLOSED: ErrorDoc & { message: string } = {
  when: 'SIGN_UP does not allow it.',
  message: 'Only operators open accounts here. Ask the people who run this service.',
};
const NO_INVITATIONS =
  'SIGN_UP is closed, so no link opens an account. Set it to invitation or open, or open the account yourself.';
const GONE: ErrorDoc = {
  when: 'The link was used, its time is over, or there never was such a link.',
  message: SIGN_UP_GONE,
};
const IN_PATH = {
  name: 'token',
  in: 'path',
  description: 'The token: the part of the link behind #.',
  schema: Text(TOKEN),
} as const;

/** @throws {ServiceError} `forbidden` */
function assertOffered({ config }: RouteDependencies, ...modes: readonly string[]): void {
  if (!modes.includes(config.signUp)) throw new ServiceError('forbidden', CLOSED.message);
}

export const postSignUp: Endpoint = {
  doc: {
    id: 'askToSignUp',
    tag: 'Authentication',
    summary: 'Ask for an account',
    description:
      'Sends a mail to the address with a link that opens an account, for a day. Nothing is opened before. The answer is the same for an address that signs in already, which the mail says. It is offered only with SIGN_UP=open.',
    body: { schema: SignUpRequest },
    answers: { 202: { description: 'If the address takes mail, a link comes. There is no body.' } },
    errors: {
      validation_error: wrongField(
        'email',
        'This is not an email address.',
        'It is not an address.',
      ),
      forbidden: CLOSED,
      rate_limit_exceeded:
        'The rate limit was exceeded, or too many accounts were asked for in 15 minutes: from this client, from its network, or in total.',
    },
  },
  handler: (deps) => async (ctx) => {
    const given = await deps.bodies.readSmall(ctx, deps.config, checkRequest);
    assertOffered(deps, 'open');
    const { clientAddress } = ctx.state;
    await askToSignUp(deps, { ...given, clientAddress, credits: deps.config.freeCredits });
    ctx.body = null;
    ctx.status = 202;
  },
};

export const getSignUp: Endpoint = {
  doc: {
    id: 'getSignUp',
    tag: 'Authentication',
    summary: 'Retrieve what a link opens',
    description:
      'The address of the account that the link opens. The token in it is the credential.',
    parameters: [IN_PATH],
    answers: { 200: { description: 'What the link is for.', schema: OpenSignUp } },
    errors: { forbidden: CLOSED, gone: GONE },
  },
  handler: (deps) => async (ctx) => {
    assertOffered(deps, 'invitation', 'open');
    const { email: address, expiresAt } = await signUpOf(deps, pathParameter(ctx, 'token'));
    ctx.body = { email: address, expires_at: isoTime(expiresAt) };
  },
};

export const postSignUpAcceptance: Endpoint = {
  doc: {
    id: 'signUp',
    tag: 'Authentication',
    summary: 'Open an account with a link',
    description:
      'Opens the account with the password that is given. It opens no session: sign in afterwards.',
    parameters: [IN_PATH],
    body: { schema: SignUpAcceptance },
    answers: { 201: { description: 'The account is open.', schema: SignedUp } },
    errors: {
      validation_error: wrongField(
        'password',
        'A password has at least 12 characters and at most 1024 bytes.',
        'The password is too short or too long, or the address signs in already.',
      ),
      forbidden: CLOSED,
      gone: GONE,
    },
  },
  handler: (deps) => async (ctx) => {
    const { password } = await deps.bodies.readSmall(ctx, deps.config, checkAcceptance);
    assertOffered(deps, 'invitation', 'open');
    const asker = { group: networkKey(ctx.state.clientAddress), trusted: false };
    ctx.body = await openBySignUp(deps, pathParameter(ctx, 'token'), { password, asker });
    ctx.status = 201;
  },
};

/** @throws {ServiceError} `forbidden`, `validation_error` */
async function invite(ctx: HttpContext, deps: RouteDependencies) {
  const given = await deps.bodies.readSmall(ctx, deps.config, checkInvitation);
  if (deps.config.signUp === 'closed') throw new ServiceError('forbidden', NO_INVITATIONS);
  const { email: address, plan: named = 'free', credits: begin = deps.config.freeCredits } = given;
  assertPlan(deps.config, named);
  // The account has no key yet that the id of the request could be sealed with.
  const context = firstCommand(deps.clock.now(), operatorOf(ctx));
  return await inviteToSignUp(deps, { email: address, plan: named, credits: begin }, context);
}

export const postSignUpInvitation: Endpoint = {
  doc: {
    id: 'inviteToSignUp',
    tag: 'Operators',
    summary: 'Make a link that opens an account',
    description:
      'For somebody who is to have an account and to choose the password: hand the link over. It works once, within seven days. Deployments offer it with SIGN_UP=invitation or open.',
    body: { schema: SignUpInvitation },
    answers: { 201: { description: 'The link was made.', schema: SignUpLink } },
    errors: {
      forbidden: {
        when: `${NOT_AN_OPERATOR.when} Or SIGN_UP is closed.`,
        message: NO_INVITATIONS,
      },
      validation_error: wrongField('email', 'This is not an email address.', 'A field is wrong.'),
    },
  },
  handler: (deps) => async (ctx) => {
    const { id: madeFor, email: address, token, expiresAt } = await invite(ctx, deps);
    const link = pageLinks(() => deps.publicUrl).signUp(token);
    ctx.body = { id: madeFor, email: address, link, expires_at: isoTime(expiresAt) };
    ctx.status = 201;
  },
};

export const listSignUpLinks: Endpoint = {
  doc: {
    id: 'listSignUpLinks',
    tag: 'Operators',
    summary: 'List links that open an account',
    description:
      'Those that operators made and nobody has used, newest first. Their secrets are not shown again.',
    parameters: PAGE_PARAMETERS,
    answers: { 200: pageOfItems(OpenSignUpLink) },
  },
  handler: (deps) => async (ctx) => {
    const page = validated((issues) => pageOf(ctx, issues));
    const queries = await consistentQuery(deps, peopleQueries);
    const { rows, total } = queries.signUpLinks(deps.clock.now(), page);
    const records = rows.map(async (row) => ({
      id: row.accountId,
      email: (await unlessErased(deps.vault.unseal(row.personId, row.email))) ?? '',
      plan: row.plan,
      credits: row.credits,
      created_at: isoTime(row.offeredAt),
      expires_at: isoTime(row.expiresAt),
    }));
    sendPage(ctx, deps.publicUrl, page, total, await Promise.all(records));
  },
};

export const deleteSignUpLink: Endpoint = {
  doc: {
    id: 'revokeSignUpLink',
    tag: 'Operators',
    summary: 'Revoke a link that opens an account',
    description: 'The link opens nothing from then on, and its address is forgotten.',
    answers: { 204: { description: 'The link was revoked. There is no body.' } },
  },
  handler: (deps) => async (ctx) => {
    const queries = await consistentQuery(deps, peopleQueries);
    const link = queries.signUpLink(pathParameter(ctx, 'id'));
    if (link === undefined) throw new ServiceError('not_found', 'There is no such link.');
    const context = firstCommand(deps.clock.now(), operatorOf(ctx));
    await endSignUp(deps, link.accountId, link.personId, context);
    ctx.status = 204;
  },
};
