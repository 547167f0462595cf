import type { PrintOptions } from '../../../src/domain/event-fields.ts';
import type { RequestDocument } from '../../../src/domain/request-document.ts';

export interface CorpusDocument {
  readonly name: string;
  readonly html: string;
  /** Options that it is made for; others are chosen at random. */
  readonly options?: Partial<PrintOptions>;
  readonly frame?: Pick<RequestDocument, 'header_html' | 'footer_html'>;
}

/** Parts of a document by its name: style sheet and body. */
export type Cases = Readonly<Record<string, readonly [css: string, body: string]>>;

/** A whole document of today: doctype, language, title. */
export const page = (title: string, css: string, body: string, lang = 'en'): string =>
  `<!doctype html><html lang=${lang}><head><meta charset=utf-8><title>${title}</title>` +
  `<style>${css}</style></head><body>${body}</body></html>`;

export const fromCases = (family: string, cases: Cases): CorpusDocument[] =>
  Object.entries(cases).map(([name, [css, body]]) => ({
    name: `${family}: ${name}`,
    html: page(name, css, body),
  }));

export const times = (count: number, make: (number: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index + 1)).join('');

export const TEXT =
  'The goods were delivered on the third of May and have been examined since. We found them to be ' +
  'complete, well packed and in good order, and we thank you for the care that was taken with them. ';

export const paragraphs = (count: number): string =>
  times(count, (number) => `<p>${number}. ${TEXT.repeat(1 + (number % 3))}</p>`);
