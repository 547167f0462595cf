import { isIP } from 'node:net';
import type { ConversionRequest } from './schema.ts';
import type { ValidationIssues } from './validation.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
/** Visible characters, spaces and tabs: nothing that could end a header and begin another. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const COOKIE_VALUE = /^[\x20\x21\x23-\x3a\x3c-\x5b\x5d-\x7e]*$/;
const HOST_NAME = /^\.?(?!-)[0-9a-z-]{1,63}(?:\.[0-9a-z-]{1,63})*$/i;

/** Headers that belong to the connection or to the browser, or that steer proxies on the way. */
const FORBIDDEN = new Set([
  'accept-charset',
  'accept-encoding',
  'connection',
  'content-length',
  'cookie',
  'date',
  'dnt',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'origin',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
]);
const FORBIDDEN_PREFIX = /^(?:proxy-|sec-|access-control-|x-forwarded-)/;

function checkHeaders(issues: ValidationIssues, headers: Readonly<Record<string, string>>): void {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const field = `headers.${name}`;
    const lower = name.toLowerCase();
    if (!TOKEN.test(name)) issues.add(field, 'Is not a header name.');
    else if (lower === 'cookie') issues.add(field, 'Give cookies in the field cookies.');
    else if (FORBIDDEN.has(lower) || FORBIDDEN_PREFIX.test(lower)) {
      issues.add(field, 'Cannot be set: the browser sets it.');
    } else if (seen.has(lower)) issues.add(field, 'Is given twice.');
    if (!HEADER_VALUE.test(value)) {
      issues.add(field, 'Its value must be printable text on one line.');
    }
    seen.add(lower);
  }
}

type Cookies = NonNullable<ConversionRequest['cookies']>;

function checkCookie(issues: ValidationIssues, field: string, cookie: Cookies[number]): void {
  const { name, value, domain, path, secure, same_site: sameSite } = cookie;
  if (!TOKEN.test(name)) issues.add(`${field}.name`, 'Is not a cookie name.');
  if (!COOKIE_VALUE.test(value)) issues.add(`${field}.value`, 'Is not a cookie value.');
  if (domain !== undefined && !HOST_NAME.test(domain) && isIP(domain) === 0) {
    issues.add(`${field}.domain`, 'Is not a host name.');
  }
  if (path !== undefined && !/^[\x20-\x3a\x3c-\x7e]*$/.test(path)) {
    issues.add(`${field}.path`, 'Is not a cookie path.');
  }
  const prefix = /^__(?:Host|Secure)-/i.exec(name)?.[0].toLowerCase();
  if (secure !== true && (sameSite === 'None' || prefix !== undefined)) {
    const reason = sameSite === 'None' ? 'with same_site None' : `for a name with ${prefix}`;
    issues.add(`${field}.secure`, `Must be true ${reason}.`);
  }
  if (prefix === '__host-' && (domain !== undefined || path !== '/')) {
    issues.add(`${field}.name`, 'A name with __Host- needs the path / and no domain.');
  }
}

/** Checks the headers and cookies that are sent with the request for a `url`. */
export function checkUrlOptions(
  issues: ValidationIssues,
  { headers, cookies }: Pick<ConversionRequest, 'headers' | 'cookies'>,
  source: 'html' | 'url',
): void {
  if (source === 'html') {
    if (headers !== undefined) issues.add('headers', 'Goes with url only.');
    if (cookies !== undefined) issues.add('cookies', 'Goes with url only.');
  }
  if (headers !== undefined) checkHeaders(issues, headers);
  for (const [n, cookie] of (cookies ?? []).entries()) checkCookie(issues, `cookies.${n}`, cookie);
}
