/** Rows of random documents, each a list of parts, so that a part can be left out when a failure is made smaller. */
import type { PrintOptions } from '../../src/domain/event-fields.ts';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { DOCTYPES, type Part, THEMES } from './document-parts.ts';
import type { Random } from './random.ts';
import { SCRIPTED_THEMES, TAB_ENDING } from './scripted-parts.ts';

export type Parts = readonly Part[];

export interface RandomDocument {
  readonly request: RequestDocument;
  readonly options: Partial<PrintOptions>;
}

/** Puts the parts together, each at its place. */
export function compose(parts: Parts): RandomDocument {
  const textAt = (place: string): string =>
    parts.map((part) => ('place' in part && part.place === place ? part.text : '')).join('');
  const [html, body] = [textAt('html'), textAt('body')];
  const document =
    `${textAt('doctype')}${html === '' ? '' : `<html${html}>`}${textAt('head')}` +
    `${body === '' ? '' : `<body${body}>`}<p>text</p>${textAt('content')}${textAt('end')}`;
  const requests = parts.map((part) => ('request' in part ? part.request : {}));
  const options = parts.map((part) => ('options' in part ? part.options : {}));
  return {
    request: Object.assign({ html: document }, ...requests) as RequestDocument,
    options: Object.assign({}, ...options) as Partial<PrintOptions>,
  };
}

const RUNS_SCRIPT = /<script|\son\w+=/;
const LONGEST_ROW = 50;
const MIN_PERCENT = 4;
const MAX_PERCENT = 25;

/**
 * Makes documents of one account in the order in which they are printed. A row has themes of its own: a document of
 * every theme at once would seldom let one effect be seen.
 */
export function randomRow(random: Random): Parts[] {
  const isChosen = (percent: number): boolean => random.integer(1, 100) <= percent;
  const groups: [parts: Parts, percent: number][] = [];
  const take = (themes: Readonly<Record<string, Parts>>, percent: number): void => {
    for (const parts of Object.values(themes)) {
      if (isChosen(percent)) groups.push([parts, random.integer(MIN_PERCENT, MAX_PERCENT)]);
    }
  };
  // Documents without any script are printed in another way. They meet each other in half of the rows.
  const isScripted = isChosen(50);
  const isAllowed = (part: Part): boolean =>
    isScripted || !('text' in part && RUNS_SCRIPT.test(part.text));
  take(THEMES, 45);
  if (isScripted) take(SCRIPTED_THEMES, 60);
  take(TAB_ENDING, 12);
  const document = (): Part[] => {
    const doctype = isChosen(50) ? DOCTYPES[random.integer(0, DOCTYPES.length - 1)] : undefined;
    const chosen = groups.flatMap(([parts, percent]) =>
      parts.filter((part) => isAllowed(part) && isChosen(percent)),
    );
    // Chosen parts come in any order: a rule may stand before a font or after it.
    const ordered = chosen.map((part) => [random.integer(0, 1_000), part] as const);
    const mixed = ordered.toSorted(([a], [b]) => a - b).map(([, part]) => part);
    return doctype ? [doctype, ...mixed] : mixed;
  };
  return Array.from({ length: random.integer(1, LONGEST_ROW) }, document);
}
