/** What the account requires of everybody who signs in to it. */
import Type from 'typebox';
import { changeSignInPolicy } from '../../accounts/second-factors.ts';
import { accountAggregate } from '../../domain/account.ts';
import { SIGN_IN_REQUIREMENTS } from '../../domain/choices.ts';
import { compile } from '../../requests/validation.ts';
import { callerOf, commandContext, type HttpContext } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { Closed } from '../openapi/fields.ts';
import { type Endpoint, wrongField } from '../openapi/operation.ts';

/** The answer about the policy, and the body that changes it. */
export const SignInPolicy = Closed({
  require: Type.Enum([...SIGN_IN_REQUIREMENTS], {
    description:
      'none: the password is enough; second_factor: a code of an authenticator, a passkey or the identity provider is needed; oidc: the identity provider alone.',
    examples: ['none'],
  }),
});

const check = compile(SignInPolicy);

async function send(ctx: HttpContext, { actors }: RouteDependencies): Promise<void> {
  const { state } = await actors.read(accountAggregate, callerOf(ctx).accountId);
  ctx.body = { require: state.signInRequirement };
}

const answers = { 200: { description: 'The policy.', schema: SignInPolicy } };

export const getSignInPolicy: Endpoint = {
  doc: {
    id: 'getSignInPolicy',
    tag: 'People',
    summary: 'Retrieve how people must sign in',
    description: 'What the account requires of everybody who signs in to it.',
    answers,
  },
  handler: (deps) => (ctx) => send(ctx, deps),
};

export const patchSignInPolicy: Endpoint = {
  doc: {
    id: 'changeSignInPolicy',
    tag: 'People',
    summary: 'Change how people must sign in',
    description:
      'It holds at once, also for open sessions: those that lack what is required may do nothing but set it up. API keys go on.',
    body: { schema: SignInPolicy },
    answers,
    errors: {
      validation_error: wrongField(
        'require',
        'Your own session lacks a second factor. Set one up first.',
        'The session itself does not meet it, or the service has no identity provider.',
      ),
    },
  },
  handler: (deps) => async (ctx) => {
    const { accountId, actor, methods } = callerOf(ctx);
    const { require } = await deps.bodies.readSmall(ctx, deps.config, check);
    const personId = actor.kind === 'session' ? actor.person : undefined;
    const context = await commandContext(ctx, deps);
    const asker = { personId, methods, hasProvider: deps.identityProvider !== undefined };
    await changeSignInPolicy(deps, accountId, require, asker, context);
    await send(ctx, deps);
  },
};
