import Type, { type TSchema } from 'typebox';
import type { ValidationIssues } from '../requests/validation.ts';
import type { HttpContext } from './context.ts';
import {
  type AnswerDoc,
  type HeaderName,
  inQuery,
  type ParameterDoc,
  wrongField,
} from './openapi/operation.ts';

export const DEFAULT_PAGE_SIZE = 20;
const MAX_PAGE_SIZE = 100;
/** Keeps `offset` within what the database counts exactly. */
export const MAX_PAGE = 1_000_000_000;

export interface Page {
  readonly page: number;
  readonly size: number;
  readonly offset: number;
  readonly limit: number;
}

function wholeNumber(
  ctx: HttpContext,
  issues: ValidationIssues,
  name: string,
  usual: number,
  max: number,
): number {
  const text = ctx.query[name];
  if (text === undefined) return usual;
  const number = Number(text);
  if (typeof text === 'string' && /^\d{1,10}$/.test(text) && number >= 1 && number <= max) {
    return number;
  }
  issues.add(name, `Must be a whole number from 1 to ${max}.`);
  return usual;
}

/** Adds an issue for each query parameter that is not known. */
export function checkQuery(
  ctx: HttpContext,
  issues: ValidationIssues,
  known: readonly string[],
): void {
  for (const name of Object.keys(ctx.query)) {
    if (!known.includes(name)) issues.addUnknown([name], known, 'query parameter');
  }
}

/** Reads which page of a list is asked for. Adds an issue for each query parameter the list does not know. */
export function pageOf(
  ctx: HttpContext,
  issues: ValidationIssues,
  filters: readonly string[] = [],
): Page {
  checkQuery(ctx, issues, ['page', 'page_size', ...filters]);
  const page = wholeNumber(ctx, issues, 'page', 1, MAX_PAGE);
  const size = wholeNumber(ctx, issues, 'page_size', DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
  return { page, size, offset: (page - 1) * size, limit: size };
}

/** Sets the headers of a list: its length, and the way to its pages (RFC 8288). */
export function setPageHeaders(
  ctx: HttpContext,
  publicUrl: string,
  { page, size }: Page,
  total: number,
): void {
  const last = Math.max(1, Math.ceil(total / size));
  const link = (to: number, rel: string) => {
    const query = new URLSearchParams(ctx.querystring);
    query.set('page', String(to));
    query.set('page_size', String(size));
    return `<${publicUrl}${ctx.path}?${query.toString()}>; rel="${rel}"`;
  };
  ctx.set('X-Total-Count', String(total));
  ctx.set(
    'Link',
    [
      link(1, 'first'),
      ...(page > 1 ? [link(Math.min(page - 1, last), 'prev')] : []),
      ...(page < last ? [link(page + 1, 'next')] : []),
      link(last, 'last'),
    ].join(', '),
  );
}

/** Answers with one page of a list: a bare array. */
export function sendPage(
  ctx: HttpContext,
  publicUrl: string,
  page: Page,
  total: number,
  items: readonly object[],
): void {
  setPageHeaders(ctx, publicUrl, page, total);
  ctx.body = items;
}

/** The documentation that all lists share. */

export const PAGE_PARAMETERS: readonly ParameterDoc[] = [
  inQuery(
    'page',
    'The number of the page. A page after the last is an empty array.',
    Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: 1 }),
  ),
  inQuery(
    'page_size',
    'The number of items on a page.',
    Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE }),
  ),
];

export const pageOfItems = (item: TSchema, more: readonly HeaderName[] = []): AnswerDoc => ({
  description: 'One page of the list, newest first.',
  schema: Type.Array(item),
  headers: ['X-Total-Count', 'Link', ...more],
});

export const WRONG_QUERY = wrongField(
  'page_size',
  `Must be a whole number from 1 to ${MAX_PAGE_SIZE}.`,
  'A query parameter is unknown or invalid. details lists all of them.',
);
