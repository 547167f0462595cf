import Type from 'typebox';
import { accountQueries, accounts } from '../../../projections/accounts.ts';
import { type LedgerRow, ledger, ledgerQueries } from '../../../projections/ledger.ts';
import { namesOf } from '../../accounts/conversion-names.ts';
import { changeLoginPassword } from '../../accounts/logins.ts';
import { checkPassword } from '../../accounts/passwords.ts';
import { accountRecordWithLimit, ledgerRecord } from '../../accounts/records.ts';
import { wholeList } from '../../accounts/whole-list.ts';
import { ServiceError } from '../../errors/errors.ts';
import { compile, validated } from '../../requests/validation.ts';
import { AS_OF, momentOf, readAsOf, WRONG_MOMENT } from '../as-of.ts';
import { callerOf, commandContext } from '../context.ts';
import { type Cell, sendCsv, wantsCsv } from '../csv.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { Closed, Count, example, Flag, OrNull, Text, Timestamp } from '../openapi/fields.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOf, pageOfItems, sendPage, setPageHeaders } from '../pagination.ts';
import { confirmOwnPassword } from './confirm.ts';

/** The answer of `GET /account/`. */
export const Account = Closed({
  id: Text('acct_06f3k8r1v2w9x4y5z6a7b8c9d0'),
  // There is no format: validators refuse admin@localhost, the first account's address.
  email: Text('ada@example.com'),
  plan: Text('pro', 'One of free, starter, pro, and those that the service adds.'),
  credits: OrNull(
    Count('The credits that are left; null: credits are off, and conversions cost nothing.', 99),
  ),
  rate_limit: Count(
    'The requests that the plan allows in a minute, with all API keys together.',
    100,
    1,
  ),
  operator: Flag(
    'True if the account is an operator of the service. The person whom it was opened for acts as one; /account/person/ says who does.',
    false,
  ),
  suspended: Flag('True while an operator has suspended the account.', false),
  must_change_password: Flag(
    'True for the account of the first start while it has the password that the start printed. The routes for operators are closed to it meanwhile.',
    false,
  ),
  created_at: Timestamp('The time when the account was opened.'),
});

/** One item of `GET /account/ledger/`. */
export const LedgerEntry = Closed({
  id: Text('entry_0ba1f0c26d2c5a8e9a531f1f0f8c1d11'),
  type: Type.Enum(['grant', 'debit', 'refund'], { examples: ['debit'] }),
  amount: Type.Integer({ description: 'The change; a debit is negative.', examples: [-1] }),
  balance: Count('The credits after this entry.', 99),
  conversion_id: Type.Optional(
    Text(
      'conv_06f3k8r1v2w9x4y5z6a7b8c9d0',
      'The conversion that was paid or refunded. Grants have none.',
    ),
  ),
  name: Type.Optional(
    Text('Invoice 4711.pdf', 'The name of the conversion, as the list of conversions has it.'),
  ),
  created_at: Timestamp('The time when it was recorded.'),
});

/** The body of `POST /account/password/`. The bounds of the new one: see `checkPassword`. */
export const PasswordChange = Closed({
  current_password: Type.String({
    format: 'password',
    minLength: 1,
    maxLength: 1024,
    examples: ['correct horse battery'],
  }),
  new_password: Text(
    'staple battery horse',
    'A password of at least 12 characters and at most 1024 bytes.',
    { format: 'password' },
  ),
});

const WRONG = 'The current password is wrong.';
const WRONG_PASSWORD = { message: WRONG, details: { current_password: [WRONG] } };

const debit = example(LedgerEntry);
const refund = { ...debit, type: 'refund', amount: 1, balance: 100 };
const { conversion_id: _, name: _name, ...ofGrant } = debit;
const grant = { ...ofGrant, type: 'grant', amount: 100, balance: 100 };

const NOT_YET = 'The account was opened after this moment. Ask for a later one.';

export const getAccount: Endpoint = {
  doc: {
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
  },
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const moment = validated((issues) => momentOf(ctx, deps, issues));
    const view = { projection: accounts, queries: accountQueries };
    const row = await readAsOf(ctx, deps, moment, view, (queries) => queries.byId(accountId));
    // Erased since its credential was read.
    if (row === undefined && moment === undefined) throw new ServiceError('unauthorized');
    if (row === undefined) throw new ServiceError('not_found', NOT_YET);
    ctx.body = await accountRecordWithLimit(deps.vault, deps.config, row);
  },
};

const checkChange = compile(PasswordChange);
const NOT_NEW = 'The new password is the current one. Choose another.';

export const changeOwnPassword: Endpoint = {
  doc: {
    id: 'changePassword',
    tag: 'Account',
    summary: 'Change the password',
    description:
      'Ends all your sessions, this one too: sign in again with the new password. API keys stay valid.',
    body: { schema: PasswordChange },
    answers: { 204: { description: 'The password was changed. There is no body.' } },
    errors: {
      validation_error: {
        when: 'The current password is wrong, the new one is the same, too short or too long, or fields are missing, unknown or invalid. details lists all of them.',
        ...WRONG_PASSWORD,
      },
      rate_limit_exceeded:
        'The rate limit was exceeded, or there were too many wrong passwords in 15 minutes, here and at sign-in.',
    },
  },
  handler: (deps) => async (ctx) => {
    const caller = callerOf(ctx);
    const { accountId } = caller;
    const change = await deps.bodies.readSmall(ctx, deps.config, checkChange);
    checkPassword(change.new_password, 'new_password');
    if (change.new_password === change.current_password) {
      throw new ServiceError('validation_error', NOT_NEW, { details: { new_password: [NOT_NEW] } });
    }
    const present = change.current_password;
    const judged = await confirmOwnPassword(ctx, deps, present, WRONG_PASSWORD);
    const context = await commandContext(ctx, deps, caller);
    await changeLoginPassword(deps, accountId, judged, change.new_password, context);
    ctx.status = 204;
  },
};

const CSV_PAGE = 1_000;
const COLUMNS = ['id', 'type', 'amount', 'balance', 'conversion_id', 'created_at', 'name'] as const;

async function recordsOf(deps: RouteDependencies, rows: readonly LedgerRow[]) {
  const names = await namesOf(
    deps,
    rows.map(({ conversionId }) => conversionId),
  );
  return rows.map((row) => ledgerRecord(row, names.get(row.conversionId)));
}

async function* cellsOf(
  deps: RouteDependencies,
  pages: AsyncIterable<readonly LedgerRow[]>,
): AsyncGenerator<readonly (readonly Cell[])[]> {
  for await (const rows of pages) {
    const records = await recordsOf(deps, rows);
    yield records.map((record) => COLUMNS.map((column) => record[column]));
  }
}

export const listLedger: Endpoint = {
  doc: {
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
  },
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const { page, moment } = validated((issues) => ({
      page: pageOf(ctx, issues, ['as_of']),
      moment: momentOf(ctx, deps, issues),
    }));
    const view = { projection: ledger, queries: ledgerQueries };
    const read = (slice: { readonly offset: number; readonly limit: number }) =>
      readAsOf(ctx, deps, moment, view, (queries) => queries.page(accountId, slice));
    ctx.vary('Accept');
    if (!wantsCsv(ctx)) {
      const { rows, total } = await read(page);
      sendPage(ctx, deps.publicUrl, page, total, await recordsOf(deps, rows));
      return;
    }
    // A moment is worked out again for each page, and has no more entries than events.
    const { limit } =
      moment === undefined ? { limit: CSV_PAGE } : deps.budgets.get('maxLookBackEvents');
    // Read before the answer begins: after that, none can be refused.
    const first = await read({ offset: 0, limit });
    const pages = wholeList(async (offset) =>
      offset === 0 ? first : await read({ offset, limit }),
    );
    setPageHeaders(ctx, deps.publicUrl, page, first.total);
    sendCsv(ctx, 'ledger.csv', COLUMNS, cellsOf(deps, pages));
  },
};
