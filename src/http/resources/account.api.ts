import Type from 'typebox';
import { PLANS } from '../../domain/choices.ts';
import { AS_OF, WRONG_MOMENT } from '../as-of.ts';
import { type OperationDoc, Timestamp } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOfItems, WRONG_QUERY } from '../pagination.ts';

const closed = { additionalProperties: false } as const;

/** The answer of `GET /account/`. */
export const Account = Type.Object(
  {
    id: Type.String({ examples: ['acct_06f3k8r1v2w9x4y5z6a7b8c9d0'] }),
    // There is no format: validators refuse admin@localhost, the first account's address.
    email: Type.String({ examples: ['ada@example.com'] }),
    plan: Type.Enum([...PLANS], { examples: ['pro'] }),
    credits: Type.Integer({
      minimum: 0,
      description: 'The credits that are left.',
      examples: [99],
    }),
    rate_limit: Type.Integer({
      minimum: 1,
      description: 'The requests that the plan allows in a minute, with all API keys together.',
      examples: [100],
    }),
    operator: Type.Boolean({
      description: 'True if the account is an operator of the service.',
      examples: [false],
    }),
    must_change_password: Type.Boolean({
      description:
        'True for the account of the first start while it has the password that the start printed. The routes for operators are closed to it meanwhile.',
      examples: [false],
    }),
    created_at: Timestamp('The time when the account was opened.'),
  },
  closed,
);

/** One item of `GET /account/ledger/`. */
export const LedgerEntry = Type.Object(
  {
    id: Type.String({ examples: ['entry_0ba1f0c26d2c5a8e9a531f1f0f8c1d11'] }),
    type: Type.Enum(['grant', 'debit', 'refund'], { examples: ['debit'] }),
    amount: Type.Integer({ description: 'The change; a debit is negative.', examples: [-1] }),
    balance: Type.Integer({
      minimum: 0,
      description: 'The credits after this entry.',
      examples: [99],
    }),
    conversion_id: Type.Optional(
      Type.String({
        description: 'The conversion that was paid or refunded. Grants have none.',
        examples: ['conv_06f3k8r1v2w9x4y5z6a7b8c9d0'],
      }),
    ),
    created_at: Timestamp('The time when it was recorded.'),
  },
  closed,
);

/** The body of `POST /account/password/`. The bounds of the new one: see `checkPassword`. */
export const PasswordChange = Type.Object(
  {
    current_password: Type.String({
      format: 'password',
      minLength: 1,
      maxLength: 1024,
      examples: ['correct horse battery'],
    }),
    new_password: Type.String({
      format: 'password',
      description: 'A password of at least 12 characters and at most 1024 bytes.',
      examples: ['staple battery horse'],
    }),
  },
  closed,
);

export const WRONG_PASSWORD = {
  message: 'The current password is wrong.',
  details: { current_password: ['The current password is wrong.'] },
};

export const changePasswordDoc: OperationDoc = {
  id: 'changePassword',
  tag: 'Account',
  summary: 'Change the password',
  description:
    'Ends all sessions of the account, this one too: sign in again with the new password. API keys stay valid.',
  body: {
    schema: PasswordChange,
    examples: {
      change: { current_password: 'correct horse battery', new_password: 'staple battery horse' },
    },
  },
  answers: { 204: { description: 'The password was changed. There is no body.' } },
  errors: {
    validation_error: {
      when: 'The current password is wrong, the new one is the same, too short or too long, or fields are missing, unknown or invalid. details lists all of them.',
      ...WRONG_PASSWORD,
    },
    rate_limit_exceeded: {
      when: 'The rate limit was exceeded, or there were too many wrong passwords in 15 minutes, here and at sign-in.',
    },
  },
};

export const getAccountDoc: OperationDoc = {
  id: 'getAccount',
  tag: 'Account',
  summary: 'Retrieve the account',
  description: 'The account that the credential belongs to, with its plan and its credits.',
  parameters: [AS_OF],
  answers: {
    200: { description: 'The account.', schema: Account, headers: ['Pressledger-As-Of'] },
  },
  errors: {
    validation_error: WRONG_MOMENT,
    not_found: {
      when: 'The account was opened after the moment of as_of.',
      message: 'The account was opened after this moment. Ask for a later one.',
    },
  },
};

const grant = {
  id: 'entry_1c2f0a7e5b8d4c3f9a60712e8d4b5c36',
  type: 'grant',
  amount: 100,
  balance: 100,
  created_at: '2026-11-20T09:00:00.000Z',
};
const debit = {
  id: 'entry_0ba1f0c26d2c5a8e9a531f1f0f8c1d11',
  type: 'debit',
  amount: -1,
  balance: 99,
  conversion_id: 'conv_06f3k8r1v2w9x4y5z6a7b8c9d0',
  created_at: '2026-11-21T08:15:30.123Z',
};
const refund = {
  ...debit,
  id: 'entry_7d3e6c1a4d1b4a6f8d1e2f3a4b5c6d7e',
  type: 'refund',
  amount: 1,
  balance: 100,
  created_at: '2026-11-21T08:15:31.502Z',
};

export const listLedgerDoc: OperationDoc = {
  id: 'listLedgerEntries',
  tag: 'Account',
  summary: 'List ledger entries',
  description:
    'All grants, debits and refunds of credits, newest first, each with the balance after it. With `Accept: text/csv`, the response is all of them as one table, whatever the page.',
  parameters: [...PAGE_PARAMETERS, AS_OF],
  answers: {
    200: {
      ...pageOfItems(LedgerEntry, ['Pressledger-As-Of']),
      examples: { entries: [refund, debit, grant] },
      media: 'text/csv',
    },
  },
  errors: { validation_error: WRONG_QUERY },
};
