/** What a person converts in the playground, and the body of its request. */
import type { Field } from '../../request/schema.ts';
import { bodyOfFields, type Values, valuesOf } from '../../request/values.ts';
import { t } from '../../words/words.ts';

export type Source = 'html' | 'url' | 'template';

export interface TemplateDraft {
  /** The stored template that it is another version of. */
  readonly saved?: { readonly id: string; readonly name: string; readonly version: number };
  readonly html: string;
  /** JSON text. */
  readonly data: string;
  /** JSON text; empty: no schema. */
  readonly schema: string;
}

export const NO_TEMPLATE: TemplateDraft = {
  html: t('<h1>Invoice {{ number }}</h1>\n<p>{{ total | money: "EUR", "en" }}</p>\n'),
  data: t('{\n  "number": "4711",\n  "total": 1284.5\n}'),
  schema: '',
};

/** The object that a JSON text stands for; undefined where it is not one. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

export interface Draft {
  readonly source: Source;
  readonly html: string;
  readonly url: string;
  readonly template: TemplateDraft;
  /** The values that were filled in, by the names of options. */
  readonly options: Values;
  /** It had more files than the browser keeps over a reload. */
  readonly lacksFiles?: boolean;
}

/** The values that may hold files. */
function holdersOfFiles({ files, pdf }: Values): readonly unknown[] {
  const { attachments, invoice, stamp } = valuesOf(pdf);
  return [files, attachments, invoice, stamp];
}

export function changesFiles(before: Values, after: Values): boolean {
  const holders = holdersOfFiles(after);
  return holdersOfFiles(before).some((holder, at) => holder !== holders[at]);
}

const OF_PAGES: readonly Source[] = ['html', 'template'];
const ONLY_WITH: Readonly<Record<string, readonly Source[] | undefined>> = {
  html: [],
  url: [],
  template: [],
  data: [],
  files: OF_PAGES,
  headers: ['url'],
  cookies: ['url'],
};

/** Tells whether the option can be sent with that source. */
export const goesWith = ({ name }: Field, source: Source): boolean =>
  ONLY_WITH[name]?.includes(source) ?? true;

/** The options that differ from their defaults, as they are sent. */
export const optionsBody = (fields: readonly Field[], { source, options }: Draft): Values =>
  bodyOfFields(
    fields.filter((field) => goesWith(field, source)),
    options,
  );

/** An address as people type it, with its scheme: programs on one's own machine seldom have HTTPS. */
export function wholeUrl(typed: string): string {
  const url = typed.trim();
  if (url === '' || /^[a-z][a-z\d+.-]*:\/\//i.test(url)) return url;
  return `${/^(localhost|127\.|\[)/.test(url) ? 'http' : 'https'}://${url}`;
}

/** The body of the request: the source, and the options that differ from their defaults. */
export function requestOf(fields: readonly Field[], draft: Draft): Values {
  const { source, template } = draft;
  const options = optionsBody(fields, draft);
  if (source === 'url') return { url: wholeUrl(draft.url), ...options };
  if (source === 'html') return { html: draft.html, ...options };
  // The version has the options.
  return { template: template.saved?.id ?? 'tmpl_…', data: objectIn(template.data) ?? {} };
}
