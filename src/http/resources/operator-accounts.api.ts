import Type from 'typebox';
import { MAX_BALANCE } from '../../domain/credits.ts';
import { idempotencyKeyParameter } from '../idempotency-key.ts';
import { Closed, Count, example, OrNull, Text, Timestamp } from '../openapi/fields.ts';
import { IN_THE_BODY, inQuery, type OperationDoc, wrongField } from '../openapi/operation.ts';
import { NOT_AN_OPERATOR } from '../operator.ts';
import { PAGE_PARAMETERS, pageOfItems } from '../pagination.ts';
import { Account } from './account.ts';
import { OwnPassword, PROOF } from './confirm.ts';
import { REASON, Reason, WRONG_REASON } from './operator-acts.ts';

const reason = Type.Optional(Reason);

const email = Type.String({ minLength: 1, maxLength: 320, examples: ['ada@example.com'] });
const plan = Text('pro', 'One of free, starter, pro, and those that PLANS adds.', {
  maxLength: 32,
});

/** The body of `POST /operator/accounts/`. */
export const AccountOpening = Closed({
  email,
  plan: Type.Optional(Type.String({ default: 'free', maxLength: 32 })),
  credits: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_BALANCE,
      description: 'The credits to begin with; as many as FREE_CREDITS says unless given.',
      examples: [500],
    }),
  ),
  password: Type.Optional(
    Text(
      'correct horse battery',
      'At least 12 characters. Without it, a password is generated and shown in the response.',
      { format: 'password', maxLength: 1024 },
    ),
  ),
});

/** The answer of `POST /operator/accounts/`. */
export const OpenedAccount = Closed({
  id: Account.properties.id,
  email: Account.properties.email,
  plan: Text('free'),
  credits: Type.Integer({ minimum: 0, examples: [100] }),
  password: Type.Optional(
    Text('Vd3mP0qXw8LrT6zYb1NcKe5h', 'The generated password. It is shown only this once.'),
  ),
});

export const PlanChange = Closed({ plan, reason });

export const RetentionChange = Closed({
  retention_seconds: Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'How long documents are kept, at most as long as RETENTION_SECONDS says. 0: until their first complete download, at most an hour.',
    examples: [3600],
  }),
  reason,
});

export const CreditGrant = Closed({
  amount: Type.Integer({
    minimum: 1,
    maximum: MAX_BALANCE,
    description: 'The credits to add.',
    examples: [500],
  }),
  reason,
});

export const HoldRequest = Closed({
  until: Type.Optional(
    Text(
      '2027-06-30T00:00:00Z',
      'The end of the hold, in ISO 8601 with the offset from UTC. Without it, the hold lasts until it is released.',
      { maxLength: 40 },
    ),
  ),
  reason,
});

export const ErasureRequest = Closed({
  password: OwnPassword,
  otp: PROOF.otp,
  email: Text('ada@example.com', 'The address of the account that is to be erased.', {
    minLength: 1,
    maxLength: 320,
  }),
});

/** The answer of `GET /operator/accounts/{id}/`. */
export const AccountDetails = Closed({
  ...Account.properties,
  hold: Type.Union(
    [
      Closed({
        placed_at: Timestamp('The time when the hold was placed.'),
        until: OrNull(Timestamp('The time when it ends by itself; null: it has no end.')),
      }),
      Type.Null(),
    ],
    { examples: [null] },
  ),
  suspension: Type.Union(
    [
      Closed({
        reason: Text('The invoice of October is not paid.', 'What its people are told.'),
        suspended_at: Timestamp('The time when it was suspended.'),
      }),
      Type.Null(),
    ],
    { examples: [null] },
  ),
  retention_seconds: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description: 'How long its documents are kept at most; null: as long as those of others.',
    examples: [null],
  }),
  stored_bytes: Count('The bytes that its documents take.', 51200),
  api_keys: Count('Its valid API keys.', 2),
  sessions: Count('Its open sessions.', 1),
});

export const WRONG_UNTIL = 'Must be an ISO 8601 time to come, such as 2027-06-30T00:00:00Z.';

const EndedSessions = Closed({ sessions_ended: Type.Integer({ minimum: 0, examples: [2] }) });

const Erasing = Closed({ id: Account.properties.id, status: Type.Enum(['erasing']) });

export const changed = {
  200: { description: 'The account after the change.', schema: AccountDetails },
};

export const listOperatorAccountsDoc: OperationDoc = {
  id: 'listOperatorAccounts',
  tag: 'Operators',
  summary: 'List accounts',
  description: 'All accounts that are open, newest first, or the one with the address of email.',
  parameters: [
    ...PAGE_PARAMETERS,
    inQuery('email', 'The whole address. Case does not tell two addresses apart.'),
  ],
  answers: { 200: pageOfItems(Account) },
};

export const getOperatorAccountDoc: OperationDoc = {
  id: 'getOperatorAccount',
  tag: 'Operators',
  summary: 'Retrieve an account of the service',
  description: 'One account that is open, with its hold, and how much it stores and has in force.',
  answers: { 200: { description: 'The account.', schema: AccountDetails } },
};

export const postOperatorAccountDoc: OperationDoc = {
  id: 'openAccount',
  tag: 'Operators',
  summary: 'Open an account',
  description:
    'Opens an account. Without plan, credits or password it gets the plan free, the credits that free accounts begin with, and a password that is shown in this response alone.',
  body: { schema: AccountOpening, examples: { account: { email: 'ada@example.com' } } },
  answers: { 201: { description: 'The account was opened.', schema: OpenedAccount } },
};

export const postPlanDoc: OperationDoc = {
  id: 'changePlan',
  tag: 'Operators',
  summary: 'Change the plan of an account',
  description:
    'Changes the plan of the account at once, and with it the requests that it may send in a minute.',
  body: { schema: PlanChange },
  answers: changed,
};

export const postRetentionDoc: OperationDoc = {
  id: 'changeRetention',
  tag: 'Operators',
  summary: 'Keep the documents of an account shorter',
  description:
    'Holds for the conversions that are requested from then on, each of which may ask for less by its retention_seconds. What was requested before is kept as it was.',
  body: { schema: RetentionChange },
  answers: {
    200: {
      ...changed[200],
      examples: { shorter: example(AccountDetails, { retention_seconds: 3600 }) },
    },
  },
};

export const deleteRetentionDoc: OperationDoc = {
  id: 'resetRetention',
  tag: 'Operators',
  summary: 'Keep the documents of an account as long as others',
  description: 'Conversions that are requested from then on are kept for RETENTION_SECONDS.',
  parameters: [REASON],
  answers: { 204: { description: 'The account has no retention of its own. There is no body.' } },
  errors: { validation_error: WRONG_REASON },
};

export const postCreditsDoc: OperationDoc = {
  id: 'grantCredits',
  tag: 'Operators',
  summary: 'Give an account more credits',
  description:
    'Adds credits to those that the account has. Without an Idempotency-Key, the same request sent twice adds them twice. A later request with the same key adds nothing, also with another amount or from another operator: the answer then has the header Idempotent-Replayed.',
  parameters: [idempotencyKeyParameter('adds credits to the account once')],
  body: { schema: CreditGrant },
  answers: { 200: { ...changed[200], headers: ['Idempotent-Replayed'] } },
};

export const postHoldDoc: OperationDoc = {
  id: 'placeHold',
  tag: 'Operators',
  summary: 'Place a hold',
  description:
    'Until the hold ends or is released, nothing of the account is deleted. It takes the place of a hold that is in force.',
  body: { schema: HoldRequest },
  answers: {
    200: {
      ...changed[200],
      examples: {
        held: example(AccountDetails, {
          hold: { placed_at: '2026-11-21T08:15:30.123Z', until: '2027-06-30T00:00:00.000Z' },
        }),
      },
    },
  },
  errors: {
    validation_error: wrongField('until', WRONG_UNTIL, IN_THE_BODY),
  },
};

export const deleteHoldDoc: OperationDoc = {
  id: 'releaseHold',
  tag: 'Operators',
  summary: 'Release a hold',
  description: 'Ends the hold of the account: retention and erasure delete its documents again.',
  parameters: [REASON],
  answers: { 204: { description: 'The hold was released. There is no body.' } },
  errors: {
    validation_error: WRONG_REASON,
    not_found: {
      when: 'There is no account with this id, or it is under no hold.',
      message: 'The account is under no hold.',
    },
  },
};

export const postEndSessionsDoc: OperationDoc = {
  id: 'endSessions',
  tag: 'Operators',
  summary: 'End all sessions of an account',
  description: 'The next request with any of their tokens is refused. API keys stay valid.',
  parameters: [REASON],
  answers: { 200: { description: 'The sessions were ended.', schema: EndedSessions } },
  errors: { validation_error: WRONG_REASON },
};

export const deleteKeyOfAccountDoc: OperationDoc = {
  id: 'revokeKeyOfAccount',
  tag: 'Operators',
  summary: 'Revoke an API key of an account',
  description:
    'Takes effect at once and cannot be undone: the next request with the key is refused with 401. Other keys and all sessions of the account stay valid.',
  parameters: [REASON],
  answers: { 204: { description: 'The key was revoked. There is no body.' } },
  errors: { validation_error: WRONG_REASON },
};

export const WRONG_PASSWORD = wrongField(
  'password',
  'Is not the password of your account.',
  'The body is not valid, the password is not yours, or the address is not that of the account.',
);

export const postErasureDoc: OperationDoc = {
  id: 'eraseAccount',
  tag: 'Operators',
  summary: 'Erase an account for good',
  description:
    'Ends its keys and sessions at once. Its data key is then destroyed and its documents are deleted. This cannot be undone. Nobody can erase their own account here.',
  body: { schema: ErasureRequest },
  answers: { 202: { description: 'The erasure has begun.', schema: Erasing } },
  errors: {
    validation_error: WRONG_PASSWORD,
    forbidden: {
      ...NOT_AN_OPERATOR,
      when: `${NOT_AN_OPERATOR.when} Or the account is your own, the last operator who can act, or under a hold.`,
    },
  },
};
