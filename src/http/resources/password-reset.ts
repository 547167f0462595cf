/** A link that sets a password, once: an operator makes it, and who has it needs no credential. */
import {
  askForReset,
  loginByAddress,
  mailPasswordReset,
  offerPasswordReset,
  resetPassword,
} from '../../accounts/password-reset.ts';
import { addressKey, assertAllowed, networkKey } from '../../accounts/rate-limits.ts';
import { RESET_GONE } from '../../domain/standing.ts';
import { compile } from '../../requests/validation.ts';
import { isoTime } from '../../time/clock.ts';
import { commandContext } from '../context.ts';
import { Closed, Text, Timestamp } from '../openapi/fields.ts';
import { type Endpoint, wrongField } from '../openapi/operation.ts';
import { operatorContext } from '../operator.ts';
import { pageLinks } from '../page-links.ts';
import { confirmOperator, PROOF } from './confirm.ts';
import { WRONG_PASSWORD } from './operator-accounts.api.ts';
import { Reason } from './operator-acts.ts';

const TOKEN = 'reset_06f3k8r1v2w9x4y5z6a7b8c9d0_T0q5vXw2Yh8sKd4fLm9pRz1uBn6cGj3eAi7oQtWyVxE';

/** The body of `POST /operator/reset-links/`. */
export const ResetLinkRequest = Closed({
  email: Text('ann@example.com', 'The address that the person signs in with.', { maxLength: 254 }),
  reason: Reason,
  ...PROOF,
});

/** The answer. */
export const ResetLink = Closed({
  link: Text(
    `https://pdf.example.com/reset-password#${TOKEN}`,
    'The link. It is shown only this once.',
  ),
  expires_at: Timestamp('The time until which it is valid: 24 hours.'),
});

/** The body of `POST /auth/password/reset/`. */
export const PasswordReset = Closed({
  token: Text(TOKEN, 'What stands in the link behind #.', {
    minLength: 1,
    maxLength: 100,
  }),
  password: Text(
    'staple battery horse',
    'A password of at least 12 characters and at most 1024 bytes.',
    { format: 'password' },
  ),
});

/** The body of `POST /auth/password/forgot/`. */
export const ForgottenPassword = Closed({
  email: Text('ada@example.com', 'The address that you sign in with.', {
    minLength: 1,
    maxLength: 320,
  }),
});

const SENT = 'If somebody signs in with this address, a mail with a link is on its way.';

/** The answer. */
export const ForgottenPasswordAnswer = Closed({ message: Text(SENT) });

/** Requests for mails from one client, in a quarter of an hour. */
const ASKED = { limit: 10, windowMs: 15 * 60 * 1000 };

const checkForgotten = compile(ForgottenPassword);
const checkLink = compile(ResetLinkRequest);
const checkReset = compile(PasswordReset);

export const postResetLink: Endpoint = {
  doc: {
    id: 'makeResetLink',
    tag: 'Operators',
    summary: 'Make a link that sets a password',
    description:
      'For anybody who has forgotten their password, the founder of an account or a member: hand the link over in a way that you trust. It works once, within 24 hours. Another link ends it. The present password stays valid until the link is used. Each account that the person belongs to has it in its history.',
    body: { schema: ResetLinkRequest },
    answers: { 200: { description: 'The link was made.', schema: ResetLink } },
    errors: {
      validation_error: {
        ...WRONG_PASSWORD,
        when: 'The body is not valid, or the password is not yours.',
      },
      not_found: {
        when: 'Nobody signs in with the address.',
        message: 'Nobody signs in with ann@example.com.',
      },
    },
  },
  handler: (deps) => async (ctx) => {
    const { email, reason, ...proof } = await deps.bodies.readSmall(ctx, deps.config, checkLink);
    await confirmOperator(ctx, deps, proof);
    const login = await loginByAddress(deps, email);
    const now = deps.clock.now();
    const { token, expiresAt } = await offerPasswordReset(deps, login, now, (owner) =>
      operatorContext(ctx, deps, owner, reason),
    );
    ctx.body = {
      link: pageLinks(() => deps.publicUrl).resetPassword(token),
      expires_at: isoTime(expiresAt),
    };
  },
};

export const postPasswordReset: Endpoint = {
  doc: {
    id: 'resetPassword',
    tag: 'Authentication',
    summary: 'Set a password with a link',
    description:
      'Sets the password with the token of a link, mailed or made by an operator. It ends all sessions. API keys stay valid.',
    body: { schema: PasswordReset },
    answers: { 204: { description: 'The password is set. There is no body.' } },
    errors: {
      validation_error: wrongField(
        'password',
        'A password has at least 12 characters and at most 1024 bytes.',
        'The password is too short or too long, or fields are missing or unknown.',
      ),
      gone: {
        when: 'The link was used, another one was made, its time is over, or there never was such a link.',
        message: RESET_GONE,
      },
    },
  },
  handler: (deps) => async (ctx) => {
    const given = await deps.bodies.readSmall(ctx, deps.config, checkReset);
    const asker = { group: networkKey(ctx.state.clientAddress), trusted: false };
    const actor = { kind: 'anonymous' } as const;
    await resetPassword(
      deps,
      { ...given, asker },
      (owner) => commandContext(ctx, deps, { accountId: owner, actor }),
      deps.clock.now(),
    );
    ctx.status = 204;
  },
};

export const postForgottenPassword: Endpoint = {
  doc: {
    id: 'mailResetLink',
    tag: 'Authentication',
    summary: 'Have a link mailed that sets a password',
    description:
      'For people who have forgotten their password, where the service has a mail server. The answer, and its time, are the same for every address. The link works once, within an hour. An address gets at most two mails in a quarter of an hour.',
    body: { schema: ForgottenPassword },
    answers: {
      202: { description: 'The same for every address.', schema: ForgottenPasswordAnswer },
    },
    errors: {
      not_found: {
        when: 'The service has no mail server.',
        message: 'There is no such resource. The API is described at /docs.',
      },
    },
  },
  handler: (deps) => async (ctx) => {
    const { email } = await deps.bodies.readSmall(ctx, deps.config, checkForgotten);
    const asker = `forgotten:${addressKey(ctx.state.clientAddress)}`;
    const status = await deps.rateLimiter.consume(asker, ASKED);
    assertAllowed(status, 'There were too many requests for mails from your address.', deps.clock);
    // Each is kept in the log for ever.
    const all = await deps.rateLimiter.consume('forgotten:all', { ...ASKED, limit: 1000 });
    assertAllowed(all, 'There were too many requests for mails.', deps.clock);
    const now = deps.clock.now();
    const address = await askForReset(deps, email, now);
    if (address !== undefined) {
      const actor = { kind: 'anonymous' } as const;
      // Not waited for: the time would tell a known address from an unknown one.
      mailPasswordReset(deps, address, now, (owner) =>
        commandContext(ctx, deps, { accountId: owner, actor }),
      ).catch((err: unknown) =>
        ctx.state.log.error({ err }, 'A request for a link that sets a password is tried again.'),
      );
    }
    ctx.status = 202;
    ctx.body = { message: SENT };
  },
};
