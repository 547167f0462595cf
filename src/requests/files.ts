/** The files that come with `html`, and the form that a request with files may come as. */
import type { TProperties, TSchema } from 'typebox';
import Type from 'typebox';
import { jsonLimitIssue } from './json-limits.ts';
import type { ValidationIssues } from './validation.ts';

export const MAX_FILES = 200;
const MAX_NAME_BYTES = 255;
/** The longest value of a form's field that is parsed as JSON. */
const MAX_JSON_BYTES = 512 * 1024;
/** The name of the page itself in a form. */
const PAGE = 'index.html';
/** The files of a form that stand for a field. */
const FIELD_OF_FILE = new Map([
  [PAGE, 'html'],
  ['header.html', 'header_html'],
  ['footer.html', 'footer_html'],
]);

/** One part of `multipart/form-data`. */
export interface FormPart {
  readonly name: string;
  readonly fileName: string | undefined;
  readonly content: Buffer;
}

/** A body that came as a form rather than as JSON. */
export class FormBody {
  readonly parts: readonly FormPart[];

  constructor(parts: readonly FormPart[]) {
    this.parts = parts;
  }
}

/** @returns what is wrong with the name of a file that comes with a page */
export function issueOfName(name: string): string | undefined {
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) {
    return `Its name must have at most ${MAX_NAME_BYTES} bytes.`;
  }
  if (!name.isWellFormed() || /[\p{Cc}\\]/u.test(name)) {
    return 'Its name must not contain control characters or a backslash.';
  }
  if (name.split('/').some((step) => step === '' || step === '.' || step === '..')) {
    return 'Its name must be a path below the page, such as img/logo.png, without . or .. in it.';
  }
  return name === PAGE ? 'Is the name of the page itself: give its text as html.' : undefined;
}

export const BASE64_FORM = 'Must be base64 with its padding, and without line breaks.';

/** Base64 of RFC 4648, section 4, with its padding. */
export function isBase64(text: string): boolean {
  if (text.length % 4 !== 0 || Buffer.byteLength(text) !== text.length) return false;
  // Decoding leaves out what is not of the alphabet, and takes that of URLs, too. It is 20 times as fast as a search.
  const decoded = Buffer.from(text, 'base64').length;
  return (
    decoded === Buffer.byteLength(text, 'base64') && !text.includes('-') && !text.includes('_')
  );
}

/** Checks the files that are served beside the HTML. */
export function checkFiles(
  issues: ValidationIssues,
  files: Readonly<Record<string, string>>,
  source: 'html' | 'url',
): void {
  if (source === 'url') issues.add('files', 'Goes with html only.');
  for (const [name, content] of Object.entries(files)) {
    const issue = issueOfName(name);
    if (issue !== undefined) issues.add(`files.${name}`, issue);
    if (!isBase64(content)) {
      issues.add(`files.${name}`, BASE64_FORM);
    }
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function textOf(issues: ValidationIssues, field: string, content: Buffer): string {
  try {
    return utf8.decode(content);
  } catch {
    issues.add(field, 'Must be UTF-8.');
    return '';
  }
}

/** The value of a form's field: text where the schema wants text, and JSON where it wants anything else. */
export function valueOf(
  issues: ValidationIssues,
  field: string,
  schema: TSchema | undefined,
  content: Buffer,
): unknown {
  const text = textOf(issues, field, content);
  if (schema === undefined || Type.IsString(schema) || Type.IsEnum(schema)) return text;
  if (content.length > MAX_JSON_BYTES) {
    issues.add(field, `Must have at most ${MAX_JSON_BYTES} bytes in a form.`);
    return undefined;
  }
  const issue = jsonLimitIssue(content);
  if (issue !== undefined) {
    issues.add(field, `The field ${issue}`);
    return undefined;
  }
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The JSON body that the form stands for. What only a form can do wrong is added to `issues`. */
export function bodyOfForm(
  { parts }: FormBody,
  properties: TProperties,
  issues: ValidationIssues,
): object {
  const fields = new Map<string, unknown>();
  const files = new Map<string, string>();
  for (const { name, fileName = '', content } of parts) {
    const ofFile = name === 'files' ? FIELD_OF_FILE.get(fileName) : undefined;
    const isFile = name === 'files' && ofFile === undefined;
    const field = ofFile ?? name;
    if (isFile && fileName === '') {
      issues.add('files', 'Each part named files needs a file name, such as img/logo.png.');
    } else if (isFile ? files.has(fileName) : fields.has(field)) {
      issues.add(isFile ? `files.${fileName}` : field, 'Is given twice.');
    } else if (isFile) files.set(fileName, content.toString('base64'));
    else {
      const schema = Object.hasOwn(properties, field) ? properties[field] : undefined;
      fields.set(field, valueOf(issues, field, schema, content));
    }
  }
  if (files.size > 0) {
    fields.set('files', Object.fromEntries(files));
    if (!['html', 'url', 'template'].some((source) => fields.has(source))) {
      issues.add('files', `One of them must be ${PAGE}, the page itself.`);
    }
  }
  return Object.fromEntries(fields);
}
