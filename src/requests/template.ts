/** Every rule of the bodies of `/templates/` that their schemas cannot say, and of how a request names a template. */
import { TEMPLATE_ID } from '../domain/ids.ts';
import type { TemplateContent } from '../domain/templates.ts';
import { isBlank, plainText } from '../text/plain-text.ts';
import { checkFiles } from './files.ts';
import { hasElement } from './html.ts';
import {
  PreviewRequest,
  SavedPreviewRequest,
  TEMPLATE_FIELDS,
  TemplateChange,
  TemplateRequest,
  TemplateVersionRequest,
} from './template-schema.ts';
import { checkConversionRequest, type RequestRules } from './validate.ts';
import { compile, ValidationIssues } from './validation.ts';

/** An object of a client, of any form. */
export type AnyObject = Readonly<Record<string, unknown>>;

export const isAnyObject = (value: unknown): value is AnyObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const check = compile(TemplateRequest);
const checkVersion = compile(TemplateVersionRequest);
const checkChange = compile(TemplateChange);
const checkPreviewShape = compile(PreviewRequest);
const checkSavedPreviewShape = compile(SavedPreviewRequest);

/** A check keeps of an object of any form no more than it needs: this is the whole. */
function wholeObject(body: object, name: string): AnyObject | undefined {
  const value: unknown = Reflect.get(body, name);
  return isAnyObject(value) ? value : undefined;
}

/** Adds what is wrong with a name that lists show, on terminals too. */
function checkedName(issues: ValidationIssues, name: string): string {
  if (issues.has('name')) return name;
  if (isBlank(name)) issues.add('name', 'Must not be blank.');
  if (plainText(name) !== name) {
    issues.add('name', 'Must have no control characters, line breaks or marks of text direction.');
  }
  return name.trim();
}

export const checkedTemplateName = (body: object, issues: ValidationIssues): string =>
  checkedName(issues, checkChange(body, issues).name);

function checkOptions(
  issues: ValidationIssues,
  { options, header_html, footer_html, files }: TemplateContent,
  rules: RequestRules,
): void {
  const found = new ValidationIssues();
  const page = {
    html: '<p>',
    ...options,
    ...(header_html !== undefined && { header_html: '<p>' }),
    ...(footer_html !== undefined && { footer_html: '<p>' }),
  };
  checkConversionRequest(page, found, rules);
  if (found.any) issues.addWithin('options', found);
  if (files !== undefined) checkFiles(issues, files, 'html');
}

function contentIn(
  body: object,
  issues: ValidationIssues,
  rules: RequestRules,
  shaped: TemplateContent,
): TemplateContent {
  const known = Object.entries(shaped).filter(
    ([name]) => Object.hasOwn(TEMPLATE_FIELDS, name) && !issues.has(name),
  );
  const [schema, sample] = [wholeObject(body, 'schema'), wholeObject(body, 'sample')];
  const content = {
    html: '',
    ...Object.fromEntries(known),
    ...(schema && { schema }),
    ...(sample && { sample }),
  };
  checkOptions(issues, content, rules);
  return content;
}

/** Adds to `issues` all that is wrong with the body, but for what its texts say; what comes back is to be used only if nothing was. */
export function checkTemplateRequest(
  body: object,
  issues: ValidationIssues,
  rules: RequestRules,
): { readonly name: string; readonly content: TemplateContent } {
  const shaped = check(body, issues);
  const content = contentIn(body, issues, rules, shaped);
  return { name: checkedName(issues, shaped.name), content };
}

export const checkVersionRequest = (
  body: object,
  issues: ValidationIssues,
  rules: RequestRules,
): TemplateContent => contentIn(body, issues, rules, checkVersion(body, issues));

export function checkPreview(body: object, issues: ValidationIssues) {
  const { data: _, schema: __, ...texts } = checkPreviewShape(body, issues);
  const schema = wholeObject(body, 'schema');
  return { texts, ...(schema && { schema }), data: wholeObject(body, 'data') ?? {} };
}

export function checkSavedPreview(body: object, issues: ValidationIssues) {
  const { version } = checkSavedPreviewShape(body, issues);
  return { version, data: wholeObject(body, 'data') };
}

const REFERENCE = new RegExp(`^(${TEMPLATE_ID})(?:@([1-9][0-9]{0,5}))?$`);
const REFERENCE_FORM = 'Must be the id of a template, or of one of its versions, such as tmpl_…@3.';

/** The template that a request names, in a version or in the newest. */
export interface TemplateReference {
  readonly id: string;
  readonly version?: number;
}

/** A request that names a template, without what names it. */
export interface NamedTemplate {
  /** Absent where it is not named as it must be. */
  readonly reference?: TemplateReference;
  readonly data: AnyObject;
  readonly request: AnyObject;
}

/**
 * Reads how a request names a template. Adds to `issues` what is wrong with that.
 * @param usual the template of requests that name no other source
 * @returns undefined for a request without one
 */
export function namedTemplate(
  body: object,
  issues: ValidationIssues,
  usual?: unknown,
): NamedTemplate | undefined {
  const given = Object.entries(body).filter(([, value]) => value !== null);
  const { template: own, data, html, url, ...request } = Object.fromEntries(given) as AnyObject;
  const isPage = (html ?? url) !== undefined;
  const template = own ?? (isPage ? undefined : usual);
  if (template === undefined) {
    if (data !== undefined) issues.add('data', 'Goes with template: name one.');
    return undefined;
  }
  for (const [name, value] of Object.entries({ html, url })) {
    if (value === undefined) continue;
    issues.add(name, `${name} and template cannot be combined: give one of them.`);
  }
  const [, id, version] = (typeof template === 'string' && REFERENCE.exec(template)) || [];
  if (id === undefined) issues.add('template', REFERENCE_FORM);
  if (data !== undefined && !isAnyObject(data)) issues.add('data', 'Must be an object.');
  const reference = id !== undefined && {
    reference: { id, ...(version !== undefined && { version: Number(version) }) },
  };
  return { ...reference, data: isAnyObject(data) ? data : {}, request };
}

/** True for a text that a document and a log can hold. */
const isPlain = (text: unknown): boolean =>
  typeof text !== 'string' || (text.isWellFormed() && !text.includes('\0'));

/**
 * Adds what is wrong with what a template made of the data of a request, which the rules of a page would name otherwise.
 * @returns true if nothing is
 */
export function checkFilled(issues: ValidationIssues, texts: AnyObject): boolean {
  const { html } = texts;
  const isPage = typeof html === 'string' && hasElement(html);
  if (!isPage) issues.add('template', 'What it makes of this data has no HTML element.');
  const areTexts = Object.values(texts).every(isPlain);
  if (!areTexts) issues.add('data', 'Must be well-formed Unicode, without the character NUL.');
  return isPage && areTexts;
}

/** The request as it is judged: with what the version made of its data, and with the version's options and files where it has none. */
export function filledRequest(
  { options, files }: TemplateContent,
  request: AnyObject,
  texts: AnyObject,
): AnyObject {
  const { files: own } = request;
  const all = isAnyObject(own) || own === undefined ? { ...files, ...own } : own;
  return {
    ...options,
    ...texts,
    ...request,
    ...((files ?? own) !== undefined && { files: all }),
  };
}
