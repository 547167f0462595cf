import Type from 'typebox';
import { PLANS } from '../../domain/events.ts';
import { type OperationDoc, Timestamp } from '../openapi/operation.ts';
import { AS_OF, WRONG_MOMENT } from '../as-of.ts';
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

export const listLedgerDoc: OperationDoc = {
  id: 'listLedgerEntries',
  tag: 'Account',
  summary: 'List ledger entries',
  description:
    'All grants, debits and refunds of credits, newest first, each with the balance after it.',
  parameters: [...PAGE_PARAMETERS, AS_OF],
  answers: { 200: pageOfItems(LedgerEntry, ['Pressledger-As-Of']) },
  errors: { validation_error: WRONG_QUERY },
};
