/** Answers with a table as CSV (RFC 4180), row by row. */
import { Readable } from 'node:stream';
import { disconnection, type HttpContext } from './context.ts';

export type Cell = string | number | undefined;
/** Rows that are sent at once. */
type Rows = readonly (readonly Cell[])[];

/** True if the client would rather have CSV than JSON. */
export const wantsCsv = (ctx: HttpContext): boolean => ctx.accepts('json', 'csv') === 'csv';

/** A text that a spreadsheet would take for a formula begins with an apostrophe. Numbers are not texts. */
export function csvCell(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const text = cell ?? '';
  const harmless = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}

const line = (cells: readonly Cell[]): string => `${cells.map(csvCell).join(',')}\r\n`;

async function* textOf(
  ctx: HttpContext,
  columns: readonly string[],
  pages: AsyncIterable<Rows> | Iterable<Rows>,
): AsyncGenerator<string> {
  const gone = disconnection(ctx);
  yield line(columns);
  for await (const rows of pages) {
    if (gone.aborted) return;
    yield rows.map(line).join('');
  }
}

export function sendCsv(
  ctx: HttpContext,
  name: string,
  columns: readonly string[],
  pages: AsyncIterable<Rows> | Iterable<Rows>,
): void {
  ctx.status = 200;
  ctx.attachment(name);
  ctx.type = 'text/csv';
  if (ctx.method === 'HEAD') return;
  ctx.body = Readable.from(textOf(ctx, columns, pages), { objectMode: false });
}
