/** Suspending an account and resuming it. */
import Type from 'typebox';
import { resumeAccount, suspendAccount } from '../../accounts/suspension.ts';
import { ServiceError } from '../../errors/errors.ts';
import { compile } from '../../requests/validation.ts';
import { Closed, example } from '../openapi/fields.ts';
import type { Endpoint, OperationDoc } from '../openapi/operation.ts';
import { NOT_AN_OPERATOR } from '../operator.ts';
import { AccountDetails, changed } from './operator-accounts.api.ts';
import { change, notOwn, Reason } from './operator-acts.ts';

export const SuspensionRequest = Closed({ reason: Reason });
export const Resumption = Closed({ reason: Type.Optional(Reason) });

const checkSuspension = compile(SuspensionRequest);
const checkResumption = compile(Resumption);

const postSuspensionDoc: OperationDoc = {
  id: 'suspendAccount',
  tag: 'Operators',
  summary: 'Suspend an account',
  description:
    'From the next request on, its API keys and sessions get 403 with the reason, and so does a right password at sign-in. What was accepted is finished, and webhooks are told of it. Links to files that were given out stay valid until they expire. Keys and sessions work again after the account is resumed. It takes the place of an earlier suspension.',
  body: { schema: SuspensionRequest },
  answers: {
    200: {
      ...changed[200],
      examples: {
        suspended: example(AccountDetails, {
          suspended: true,
          suspension: {
            reason: 'The invoice of October is not paid.',
            suspended_at: '2026-11-21T08:15:30.123Z',
          },
        }),
      },
    },
  },
  errors: {
    forbidden: {
      ...NOT_AN_OPERATOR,
      when: `${NOT_AN_OPERATOR.when} Or the account is your own, or the last operator who can act.`,
    },
  },
};

const postResumptionDoc: OperationDoc = {
  id: 'resumeAccount',
  tag: 'Operators',
  summary: 'Resume an account',
  description: 'Ends the suspension of the account: its API keys and sessions work again.',
  body: { schema: Resumption },
  answers: changed,
  errors: {
    not_found: {
      when: 'There is no account with this id, or it is not suspended.',
      message: 'The account is not suspended.',
    },
  },
};

export const postSuspension: Endpoint = {
  doc: postSuspensionDoc,
  handler: (deps) =>
    change(deps, checkSuspension, async (accountId, { reason }, context, ctx) => {
      if (accountId === ctx.state.caller?.accountId) {
        throw new ServiceError('forbidden', notOwn('suspend', 'suspend'));
      }
      return await suspendAccount(
        deps,
        accountId,
        await deps.vault.seal(accountId, reason),
        context,
      );
    }),
};

export const postResumption: Endpoint = {
  doc: postResumptionDoc,
  handler: (deps) =>
    change(deps, checkResumption, (accountId, _, context) =>
      resumeAccount(deps, accountId, context),
    ),
};
