import Type from 'typebox';
import { MAX_BALANCE } from '../../domain/account.ts';
import { PLANS } from '../../domain/choices.ts';
import { idempotencyKeyParameter } from '../idempotency-key.ts';
import {
  IN_THE_BODY,
  type OperationDoc,
  type ParameterDoc,
  Timestamp,
} from '../openapi/operation.ts';
import { NOT_AN_OPERATOR } from '../operator.ts';
import { PAGE_PARAMETERS, pageOfItems, WRONG_QUERY } from '../pagination.ts';
import { Account } from './account.api.ts';

const closed = { additionalProperties: false } as const;
const email = Type.String({ minLength: 1, maxLength: 320, examples: ['ada@example.com'] });
const plan = Type.Enum([...PLANS], { examples: ['pro'] });

/** The body of `POST /operator/accounts/`. */
export const AccountOpening = Type.Object(
  {
    email,
    plan: Type.Optional(Type.Enum([...PLANS], { default: 'free' })),
    credits: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_BALANCE,
        description: 'The credits to begin with; as many as FREE_CREDITS says unless given.',
        examples: [500],
      }),
    ),
    password: Type.Optional(
      Type.String({
        format: 'password',
        maxLength: 1024,
        description:
          'At least 12 characters. Without it, a password is generated and shown in the response.',
        examples: ['correct horse battery'],
      }),
    ),
  },
  closed,
);

/** The answer of `POST /operator/accounts/`. */
export const OpenedAccount = Type.Object(
  {
    id: Account.properties.id,
    email: Account.properties.email,
    plan: Type.Enum([...PLANS], { examples: ['free'] }),
    credits: Type.Integer({ minimum: 0, examples: [100] }),
    password: Type.Optional(
      Type.String({
        description: 'The generated password. It is shown only this once.',
        examples: ['Vd3mP0qXw8LrT6zYb1NcKe5h'],
      }),
    ),
  },
  closed,
);

export const PlanChange = Type.Object({ plan }, closed);

export const CreditGrant = Type.Object(
  {
    amount: Type.Integer({
      minimum: 1,
      maximum: MAX_BALANCE,
      description: 'The credits to add.',
      examples: [500],
    }),
  },
  closed,
);

export const HoldRequest = Type.Object(
  {
    until: Type.Optional(
      Type.String({
        maxLength: 40,
        description:
          'The end of the hold, in ISO 8601 with the offset from UTC. Without it, the hold lasts until it is released.',
        examples: ['2027-06-30T00:00:00Z'],
      }),
    ),
  },
  closed,
);

export const ErasureRequest = Type.Object(
  {
    password: Type.String({
      format: 'password',
      minLength: 1,
      maxLength: 1024,
      description: 'Your own password.',
      examples: ['correct horse battery'],
    }),
    email: Type.String({
      minLength: 1,
      maxLength: 320,
      description: 'The address of the account that is to be erased.',
      examples: ['ada@example.com'],
    }),
  },
  closed,
);

/** The answer of `GET /operator/accounts/{id}/`. */
export const AccountDetails = Type.Object(
  {
    ...Account.properties,
    hold: Type.Union(
      [
        Type.Object(
          {
            placed_at: Timestamp('The time when the hold was placed.'),
            until: Type.Union([
              Timestamp('The time when it ends by itself; null: it has no end.'),
              Type.Null(),
            ]),
          },
          closed,
        ),
        Type.Null(),
      ],
      { examples: [null] },
    ),
    stored_bytes: Type.Integer({
      minimum: 0,
      description: 'The bytes that its documents take.',
      examples: [51200],
    }),
    api_keys: Type.Integer({ minimum: 0, description: 'Its valid API keys.', examples: [2] }),
    sessions: Type.Integer({ minimum: 0, description: 'Its open sessions.', examples: [1] }),
  },
  closed,
);

export const WRONG_UNTIL = 'Must be an ISO 8601 time to come, such as 2027-06-30T00:00:00Z.';

const EndedSessions = Type.Object(
  { sessions_ended: Type.Integer({ minimum: 0, examples: [2] }) },
  closed,
);

const Erasing = Type.Object({ id: Account.properties.id, status: Type.Enum(['erasing']) }, closed);

const ID: ParameterDoc = {
  name: 'id',
  in: 'path',
  description: 'The id of the account.',
  schema: Type.String({ examples: ['acct_06f3k8r1v2w9x4y5z6a7b8c9d0'] }),
};

const errors = {
  not_found: {
    when: 'There is no account with this id, or it was erased.',
    message: 'There is no such account.',
  },
} as const;

const changed = { 200: { description: 'The account after the change.', schema: AccountDetails } };

const held = {
  id: 'acct_06f3k8r1v2w9x4y5z6a7b8c9d0',
  email: 'ada@example.com',
  plan: 'pro',
  credits: 99,
  rate_limit: 100,
  operator: false,
  must_change_password: false,
  created_at: '2026-11-20T09:00:00.000Z',
  hold: { placed_at: '2026-11-21T08:15:30.123Z', until: '2027-06-30T00:00:00.000Z' },
  stored_bytes: 51_200,
  api_keys: 2,
  sessions: 1,
};

export const listOperatorAccountsDoc: OperationDoc = {
  id: 'listOperatorAccounts',
  tag: 'Operators',
  summary: 'List accounts',
  description: 'All accounts that are open, newest first, or the one with the address of email.',
  parameters: [
    ...PAGE_PARAMETERS,
    {
      name: 'email',
      in: 'query',
      description: 'The whole address. Case does not tell two addresses apart.',
      schema: Type.String(),
    },
  ],
  answers: { 200: pageOfItems(Account) },
  errors: { validation_error: WRONG_QUERY },
};

export const getOperatorAccountDoc: OperationDoc = {
  id: 'getOperatorAccount',
  tag: 'Operators',
  summary: 'Retrieve an account of the service',
  description: 'One account that is open, with its hold, and how much it stores and has in force.',
  parameters: [ID],
  answers: { 200: { description: 'The account.', schema: AccountDetails } },
  errors,
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
  parameters: [ID],
  body: { schema: PlanChange, examples: { plan: { plan: 'pro' } } },
  answers: changed,
  errors,
};

export const postCreditsDoc: OperationDoc = {
  id: 'grantCredits',
  tag: 'Operators',
  summary: 'Give an account more credits',
  description:
    'Adds credits to those that the account has. Without an Idempotency-Key, the same request sent twice adds them twice. A later request with the same key adds nothing, also with another amount or from another operator: the answer then has the header Idempotent-Replayed.',
  parameters: [ID, idempotencyKeyParameter('adds credits to the account once')],
  body: { schema: CreditGrant, examples: { credits: { amount: 500 } } },
  answers: { 200: { ...changed[200], headers: ['Idempotent-Replayed'] } },
  errors,
};

export const postHoldDoc: OperationDoc = {
  id: 'placeHold',
  tag: 'Operators',
  summary: 'Place a hold',
  description:
    'Until the hold ends or is released, nothing of the account is deleted. It takes the place of a hold that is in force.',
  parameters: [ID],
  body: { schema: HoldRequest, examples: { hold: { until: '2027-06-30T00:00:00Z' } } },
  answers: { 200: { ...changed[200], examples: { held } } },
  errors: {
    ...errors,
    validation_error: {
      when: IN_THE_BODY,
      message: `until: ${WRONG_UNTIL}`,
      details: { until: [WRONG_UNTIL] },
    },
  },
};

export const deleteHoldDoc: OperationDoc = {
  id: 'releaseHold',
  tag: 'Operators',
  summary: 'Release a hold',
  description: 'Ends the hold of the account: retention and erasure delete its documents again.',
  parameters: [ID],
  answers: { 204: { description: 'The hold was released. There is no body.' } },
  errors: {
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
  parameters: [ID],
  answers: { 200: { description: 'The sessions were ended.', schema: EndedSessions } },
  errors,
};

export const WRONG_PASSWORD = {
  message: 'password: Is not the password of your account.',
  details: { password: ['Is not the password of your account.'] },
};

export const postErasureDoc: OperationDoc = {
  id: 'eraseAccount',
  tag: 'Operators',
  summary: 'Erase an account for good',
  description:
    'Ends its keys and sessions at once. Its data key is then destroyed and its documents are deleted. This cannot be undone. Nobody can erase their own account here.',
  parameters: [ID],
  body: {
    schema: ErasureRequest,
    examples: { erasure: { password: 'correct horse battery', email: 'ada@example.com' } },
  },
  answers: { 202: { description: 'The erasure has begun.', schema: Erasing } },
  errors: {
    ...errors,
    validation_error: {
      when: 'The body is not valid, the password is not yours, or the address is not that of the account.',
      ...WRONG_PASSWORD,
    },
    forbidden: {
      ...NOT_AN_OPERATOR,
      when: `${NOT_AN_OPERATOR.when} Or the account is your own or under a hold.`,
    },
  },
};
