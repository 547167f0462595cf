import type { HeaderObject } from './types.ts';

const text = (description: string, example: string, required = true): HeaderObject => ({
  description,
  required,
  schema: { type: 'string', examples: [example] },
});

const count = (description: string, example: number): HeaderObject => ({
  description,
  required: true,
  schema: { type: 'integer', minimum: 0, examples: [example] },
});

/** Every header of an answer that clients may rely on. */
export const HEADERS = {
  'X-Request-Id': text('Names the request: the client’s own X-Request-Id, or a new one.', 'r-4711'),
  'X-RateLimit-Limit': count('Requests allowed in a minute.', 100),
  'X-RateLimit-Remaining': count('Requests left in this minute.', 99),
  'X-RateLimit-Reset': count('When the next minute begins: Unix time in seconds.', 1795248960),
  'Retry-After': count('Seconds after which a retry makes sense.', 12),
  'WWW-Authenticate': text('The way to authenticate.', 'Bearer realm="pressledger"'),
  Allow: text('The methods that the resource has.', 'HEAD, GET'),
  'Idempotent-Replayed': text('true where this is the first answer again.', 'true', false),
  'Preference-Applied': text('The wait that was honoured.', 'wait=30', false),
  'X-Total-Count': count('Items in all pages together.', 42),
  Link: text(
    'The other pages (RFC 8288): first, prev, next, last.',
    '<https://pdf.example.com/api/v1/conversions/?page=2&page_size=20>; rel="next"',
  ),
  ETag: text('The SHA-256 of the file, for If-None-Match and If-Range.', '"9f86d081…"'),
  'Accept-Ranges': text('Ranges of bytes can be asked for.', 'bytes'),
  'Content-Range': text('The part that is sent, and the whole size.', 'bytes 0-1023/51200'),
  'Content-Disposition': text(
    'The file is for saving, under its id.',
    'attachment; filename="conv_….pdf"',
  ),
} as const satisfies Readonly<Record<string, HeaderObject>>;

export type HeaderName = keyof typeof HEADERS;

export const OF_EVERY_ANSWER = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
] as const satisfies readonly HeaderName[];
