/** What a caller says of a document so that it is found again, and what its URL says. */
import { domainToUnicode } from 'node:url';
import type { Format } from '../domain/choices.ts';
import type { RequestTexts } from '../domain/event-fields.ts';
import { isBlank, plainText } from '../text/plain-text.ts';
import { type ConversionRequest, ONE_LINE_FORM, ONE_LINE_PATTERN } from './schema.ts';
import type { ValidationIssues } from './validation.ts';

const TAG_NAME = /^[a-z0-9_-]{1,40}$/;
const ONE_LINE = new RegExp(ONE_LINE_PATTERN);
const TAG_NAME_FORM = 'Its name must have 1 to 40 of the characters a-z, 0-9, _ and -.';
/** Longer paths are cut: it is a name, and the whole URL is in the request. */
const MAX_ADDRESS_CHARACTERS = 500;

function fileNameOf(issues: ValidationIssues, asked: string, format: Format): string {
  const name = asked.trim();
  if (isBlank(name)) issues.add('filename', 'Must not be blank.');
  const end = format === 'jpeg' ? /\.jpe?g$/i : new RegExp(`\\.${format}$`, 'i');
  return end.test(name) ? name : `${name}.${format}`;
}

/**
 * Adds what the schema of the tags cannot say.
 * @param tags as they are sent, so that what the schema finds wrong with one hides nothing of the others
 */
export function checkTags(issues: ValidationIssues, tags: unknown): void {
  if (typeof tags !== 'object' || tags === null) return;
  for (const [name, value] of Object.entries(tags)) {
    const field = `tags.${name}`;
    if (!TAG_NAME.test(name)) issues.add(field, TAG_NAME_FORM);
    if (typeof value !== 'string' || value === '') continue;
    if (isBlank(value)) issues.add(field, 'Must not be blank.');
    if (!ONE_LINE.test(value)) issues.add(field, ONE_LINE_FORM);
  }
}

/** The host and path of a URL as people write them: without what only identifies a session or a user. */
export function addressOf(url: string): string | undefined {
  const { host, hostname, port, pathname } = URL.parse(url) ?? {};
  if (host === undefined || hostname === undefined || pathname === undefined) return undefined;
  const shown = domainToUnicode(hostname) || hostname;
  const path = pathname === '/' ? '' : readable(pathname);
  const address = plainText(`${shown}${port === '' ? '' : `:${port}`}${path}`);
  return address.slice(0, MAX_ADDRESS_CHARACTERS).toWellFormed();
}

function readable(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** Checks the texts by which a conversion is found, but for its tags, and returns those that it has. */
export function requestTexts(
  issues: ValidationIssues,
  { filename, reference, tags, url, format = 'pdf' }: ConversionRequest,
): RequestTexts {
  if (reference !== undefined && isBlank(reference)) issues.add('reference', 'Must not be blank.');
  const address = url === undefined ? undefined : addressOf(url);
  return {
    ...(filename !== undefined && { filename: fileNameOf(issues, filename, format) }),
    ...(reference !== undefined && { reference }),
    ...(tags !== undefined && Object.keys(tags).length > 0 && { tags: JSON.stringify(tags) }),
    ...(address !== undefined && { address }),
  };
}
