/** How every list is paged, in the document. */
import Type, { type TSchema } from 'typebox';
import { DEFAULT_PAGE_SIZE, MAX_PAGE, MAX_PAGE_SIZE } from '../pagination.ts';
import type { AnswerDoc, ErrorDoc, ParameterDoc } from './operation.ts';

export const PAGE_PARAMETERS: readonly ParameterDoc[] = [
  {
    name: 'page',
    in: 'query',
    description: 'Which page. One past the last is an empty array.',
    schema: Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: 1 }),
  },
  {
    name: 'page_size',
    in: 'query',
    description: 'Items in a page.',
    schema: Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE }),
  },
];

export const pageOfItems = (item: TSchema): AnswerDoc => ({
  description: 'One page, newest first.',
  schema: Type.Array(item),
  headers: ['X-Total-Count', 'Link'],
});

export const WRONG_QUERY: ErrorDoc = {
  when: 'A query parameter is unknown or out of bounds. details names every one of them.',
  message: `page_size: Must be a whole number from 1 to ${MAX_PAGE_SIZE}.`,
  details: { page_size: [`Must be a whole number from 1 to ${MAX_PAGE_SIZE}.`] },
};
