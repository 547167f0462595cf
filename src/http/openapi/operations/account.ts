import { Account, LedgerEntry } from '../../schemas/account-answers.ts';
import type { OperationDoc } from '../operation.ts';
import { PAGE_PARAMETERS, pageOfItems, WRONG_QUERY } from '../pages.ts';

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
