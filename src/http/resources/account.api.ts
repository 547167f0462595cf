import Type from 'typebox';
import { PLANS } from '../../domain/events.ts';
import { type OperationDoc, Timestamp } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOfItems, WRONG_QUERY } from '../pagination.ts';

const closed = { additionalProperties: false } as const;

/** The answer of `GET /account/`. */
export const Account = Type.Object(
  {
    id: Type.String({ examples: ['acct_06f3k8r1v2w9x4y5z6a7b8c9d0'] }),
    email: Type.String({ examples: ['ada@example.com'] }),
    plan: Type.Enum([...PLANS]),
    credits: Type.Integer({ minimum: 0, description: 'What is left.', examples: [99] }),
    created_at: Timestamp('When the account was opened.'),
  },
  closed,
);

/** One item of `GET /account/ledger/`. */
export const LedgerEntry = Type.Object(
  {
    id: Type.String({ examples: ['entry_0ba1f0c26d2c5a8e9a531f1f0f8c1d11'] }),
    type: Type.Enum(['grant', 'debit', 'refund'], { examples: ['debit'] }),
    amount: Type.Integer({ description: 'Signed: a debit is negative.', examples: [-1] }),
    balance: Type.Integer({ minimum: 0, description: 'The credits after it.', examples: [99] }),
    conversion_id: Type.Optional(
      Type.String({
        description: 'What was paid or refunded; a grant has none.',
        examples: ['conv_06f3k8r1v2w9x4y5z6a7b8c9d0'],
      }),
    ),
    created_at: Timestamp('When it was recorded.'),
  },
  closed,
);

export const getAccountDoc: OperationDoc = {
  id: 'getAccount',
  tag: 'Account',
  summary: 'The own account',
  answers: { 200: { description: 'The account that the credential belongs to.', schema: Account } },
};

export const listLedgerDoc: OperationDoc = {
  id: 'listLedger',
  tag: 'Account',
  summary: 'What the credits went into',
  description: 'Every grant, debit and refund, each with the balance after it.',
  parameters: PAGE_PARAMETERS,
  answers: { 200: pageOfItems(LedgerEntry) },
  errors: { validation_error: WRONG_QUERY },
};
