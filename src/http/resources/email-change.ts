/** Another address to sign in with: asked for by the person, and changed by the link that is sent there. */
import { askForEmail, OTHER_PERSON, useEmailLink } from '../../accounts/email-change.ts';
import { loginOf } from '../../accounts/logins.ts';
import { ADDRESS_LINK_GONE } from '../../domain/sign-in-address.ts';
import { ServiceError } from '../../errors/errors.ts';
import { compile } from '../../requests/validation.ts';
import { callerOf, commandContext } from '../context.ts';
import { signedInOf } from '../middleware/sessions-only.ts';
import { Closed, Flag, Text } from '../openapi/fields.ts';
import { type Endpoint, wrongField } from '../openapi/operation.ts';
import { confirmPerson, OwnPassword } from './confirm.ts';
import Type from 'typebox';

/** The body of `POST /account/email/`. */
export const EmailChange = Closed({
  email: Text('ada@new.example.com', 'The address to sign in with.', {
    minLength: 1,
    maxLength: 320,
  }),
  password: Type.Optional(OwnPassword),
});

/** The answer. */
export const EmailChangeAnswer = Closed({
  sends_mail: Flag(
    'Always true: a link is sent to the address, which changes once you use it.',
    true,
  ),
});

/** The body of `POST /auth/email/confirm/`. */
export const EmailConfirmation = Closed({
  token: Text(
    'email_06f3k8r1v2w9x4y5z6a7b8c9d0_T0q5vXw2Yh8sKd4fLm9pRz1uBn6cGj3eAi7oQtWyVxE',
    'What stands in the link behind #.',
    { minLength: 1, maxLength: 100 },
  ),
});

const checkChange = compile(EmailChange);
const checkConfirmation = compile(EmailConfirmation);

const NO_MAIL =
  "The service has no mail server, so nothing proves that the address is yours. An operator of the service can change it: on the page Accounts, or with 'pressledger account prove EMAIL --new ADDRESS --reason TEXT'.";

export const postEmailChange: Endpoint = {
  doc: {
    id: 'changeEmail',
    tag: 'People',
    summary: 'Change the address you sign in with',
    description:
      'Sends a link to the address, which works once, within an hour. Until it is used, nothing changes. Then the other address does not sign in any more and is told so by mail, and all your sessions end. API keys stay valid. The answer is the same for an address that somebody else has. If the service has no mail server, only an operator can change the address. `password` may be left out by somebody who has none, within 5 minutes of signing in with the identity provider.',
    body: { schema: EmailChange },
    answers: { 200: { description: 'What happens.', schema: EmailChangeAnswer } },
    errors: {
      validation_error: wrongField(
        'password',
        'The password is wrong.',
        'The password is wrong or missing, or the address is not one, or is yours already.',
      ),
      forbidden: {
        when: 'The service has no mail server, or the credential is an API key.',
        message: NO_MAIL,
      },
      rate_limit_exceeded:
        'The rate limit was exceeded, or there were too many requests for another address, or wrong passwords, in 15 minutes.',
    },
  },
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const { email, password } = await deps.bodies.readSmall(ctx, deps.config, checkChange);
    if (deps.config.smtpUrl === undefined) throw new ServiceError('forbidden', NO_MAIL);
    // Before the password is judged: what ends sessions meanwhile ends this, too.
    const login = await loginOf(deps, signedInOf(callerOf(ctx)).person);
    if (login === undefined) throw new ServiceError('unauthorized');
    await confirmPerson(ctx, deps, password, 'Is required.');
    await askForEmail(deps, login, { email, accountId }, () => commandContext(ctx, deps));
    ctx.body = { sends_mail: true };
  },
};

export const postEmailConfirmation: Endpoint = {
  doc: {
    id: 'confirmEmail',
    tag: 'Authentication',
    summary: 'Change the address with a link',
    description:
      'Changes the address that you sign in with, with the token of the link that was sent to it. It needs a session of yours: the link proves the address, and the session that you asked for it. It ends all your sessions. API keys stay valid. If nobody has proven your address before, your password, passkeys, second factor and memberships end, too.',
    body: { schema: EmailConfirmation },
    answers: { 204: { description: 'The address is changed. There is no body.' } },
    errors: {
      gone: {
        when: 'The link was used, another one was made, the password was changed since, its time is over, somebody else signs in with the address, or there never was such a link.',
        message: ADDRESS_LINK_GONE,
      },
      forbidden: {
        when: 'The link is for somebody else, or the credential is an API key.',
        message: OTHER_PERSON,
      },
    },
  },
  handler: (deps) => async (ctx) => {
    const { token } = await deps.bodies.readSmall(ctx, deps.config, checkConfirmation);
    const { actor } = callerOf(ctx);
    const { person: personId } = signedInOf(callerOf(ctx));
    await useEmailLink(deps, { token, personId }, (owner) =>
      commandContext(ctx, deps, { accountId: owner, actor }),
    );
    ctx.status = 204;
  },
};
