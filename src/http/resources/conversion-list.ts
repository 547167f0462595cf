/** Lists the conversions of an account: a page of them, or all that the filters let through as CSV. */
import {
  type ConversionQueries,
  type ConversionRow,
  conversionQueries,
  conversions,
} from '../../../projections/conversions.ts';
import { conversionRecord } from '../../accounts/records.ts';
import { wholeList } from '../../accounts/whole-list.ts';
import type { Hold } from '../../conversions/look-back.ts';
import { inOrder } from '../../read-model/rows.ts';
import { ValidationIssues } from '../../requests/validation.ts';
import { lookBacksFor, momentOf, readAsOf } from '../as-of.ts';
import { callerOf, disconnection } from '../context.ts';
import { type Cell, sendCsv, wantsCsv } from '../csv.ts';
import type { RouteDependencies } from '../dependencies.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { pageOf, sendPage, setPageHeaders } from '../pagination.ts';
import { CONVERSION_FILTERS, conversionSearchOf, needsIndex } from './conversion-filter.ts';
import { listConversionsDoc } from './conversions.api.ts';
import { listedRecordOf } from './conversions.ts';

const CSV_PAGE = 1_000;
const COLUMNS = [
  'id',
  'name',
  'status',
  'created_at',
  'completed_at',
  'failed_at',
  'failure_code',
  'error_message',
  'pages',
  'bytes',
  'sha256',
  'duration_ms',
  'reference',
  'batch',
] as const;

async function* cellsOf(
  { vault }: RouteDependencies,
  pages: AsyncIterable<readonly ConversionRow[]>,
): AsyncGenerator<readonly (readonly Cell[])[]> {
  for await (const rows of pages) {
    const records = await Promise.all(rows.map((row) => conversionRecord(vault, row, 'listed')));
    yield records.map((record) => {
      const values: Partial<Record<string, unknown>> = record;
      return [
        ...COLUMNS.map((column) => values[column] as Cell),
        Object.entries(record.tags ?? {})
          .map((tag) => tag.join(':'))
          .join('; '),
        'warnings' in record ? record.warnings.length : 0,
        record.test ? 'true' : 'false',
      ];
    });
  }
}

export const listConversions: Endpoint = {
  doc: listConversionsDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const issues = new ValidationIssues();
    const page = pageOf(ctx, issues, [...CONVERSION_FILTERS, 'as_of']);
    const search = conversionSearchOf(ctx, issues);
    const moment = momentOf(ctx, deps, issues);
    issues.throwIfAny();
    const view = { projection: conversions, queries: conversionQueries };
    const read = <R>(from: (queries: ConversionQueries) => R, hold?: Hold) =>
      readAsOf(ctx, deps, moment, view, from, hold);
    const find = async (slice: { readonly offset: number; readonly limit: number }) => {
      if (!needsIndex(search)) {
        return await read((queries) =>
          inOrder(slice, search.order, (part) => queries.page(accountId, { ...part, ...search })),
        );
      }
      if (moment !== undefined) {
        return await lookBacksFor(ctx, deps).holding((hold) =>
          deps.searches.past(
            accountId,
            search,
            slice,
            (from) => read(from, hold),
            disconnection(ctx),
          ),
        );
      }
      const head = ctx.state.asOf ?? (await deps.store.head());
      return await deps.searches.page(accountId, search, slice, head);
    };
    ctx.vary('Accept');
    if (!wantsCsv(ctx)) {
      const { rows, total } = await find(page);
      const records = await Promise.all(rows.map((row) => listedRecordOf(ctx, deps, row)));
      sendPage(ctx, deps.publicUrl, page, total, records);
      return;
    }
    // A moment is worked out again for each page, and has no more conversions than events.
    const { limit } =
      moment === undefined ? { limit: CSV_PAGE } : deps.budgets.get('maxLookBackEvents');
    // Read before the answer begins: after that, none can be refused.
    const first = await find({ offset: 0, limit });
    const pages = wholeList(
      async (offset) => (offset === 0 ? first : await find({ offset, limit })),
      search.order,
    );
    setPageHeaders(ctx, deps.publicUrl, page, first.total);
    sendCsv(ctx, 'conversions.csv', [...COLUMNS, 'tags', 'warnings', 'test'], cellsOf(deps, pages));
  },
};
