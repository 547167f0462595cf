import { readFileSync } from 'node:fs';
import { test } from 'tap';
import { ERRORS, type ErrorCode, ServiceError } from '../../src/errors/errors.ts';

const STATUS: Readonly<Record<ErrorCode, number>> = {
  validation_error: 400,
  unauthorized: 401,
  insufficient_credits: 402,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  not_ready: 409,
  on_hold: 409,
  gone: 410,
  payload_too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  conversion_failed: 422,
  rate_limit_exceeded: 429,
  internal_error: 500,
  service_unavailable: 503,
};

void test('each code has the status that the interface gives it, and a text', (t) => {
  t.strictSame(
    Object.fromEntries(Object.entries(ERRORS).map(([code, { status }]) => [code, status])),
    STATUS,
  );
  for (const [code, { message }] of Object.entries(ERRORS)) t.match(message, /^[A-Z].*\.$/, code);
  t.end();
});

void test('an error carries what the client may see beside what only the log may', (t) => {
  const cause = new Error('SQLITE_FULL');
  const error = new ServiceError('service_unavailable', 'Later.', {
    retryAfter: 3,
    details: { html: ['too long'] },
    cause,
  });
  t.match(error, {
    name: 'ServiceError',
    code: 'service_unavailable',
    status: 503,
    message: 'Later.',
    retryAfter: 3,
    details: { html: ['too long'] },
  });
  t.equal(error.cause, cause);
  const plain = new ServiceError('gone');
  t.equal(plain.message, ERRORS.gone.message);
  t.equal(plain.details, undefined);
  t.equal(plain.retryAfter, undefined);
  t.end();
});

void test('docs/errors.md has exactly these codes with these statuses', (t) => {
  const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` \| (\d+) \| \S.*\.? \| \S.* \|$/gm)];
  t.strictSame(
    rows.map(([, code, status]) => [code, Number(status)]),
    Object.entries(STATUS),
  );
  const lines = page.split('\n').filter((line) => line.startsWith('| `'));
  t.equal(lines.length, rows.length, 'every row has all its cells');
  t.end();
});
