/** Documents and what a person expects of them on paper. */
import type { Test } from 'tap';
import type { PrintOptions } from '../../src/domain/event-fields.ts';
import type { RequestDocument } from '../../src/domain/request-document.ts';
import { type OpenedPdf, openPdf } from './pdf.ts';
import type { TestRenderer } from './renderer.ts';
import { paint } from './same-pdf.ts';
import { accountId } from './samples.ts';

export interface Expectation {
  /** The line that says what a person expects; docs/rendering-examples.md has it. */
  readonly paper: string;
  readonly html: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly waitFor?: NonNullable<RequestDocument['wait_for']>;
  readonly options?: Partial<PrintOptions>;
  /** The words on paper, and those that are not. */
  readonly has?: RegExp;
  readonly lacks?: RegExp;
  /** Colours that are seen on paper, as `#rrggbb`, and those that are not. */
  readonly shows?: readonly string[];
  readonly hides?: readonly string[];
  readonly holds?: (pdf: OpenedPdf) => boolean;
  /** The message of a document that is not printed. */
  readonly fails?: RegExp;
}

/** By what the documents have; a plural is understood. */
export type Expectations = Readonly<Record<string, Expectation>>;

export const RED = '#d01020';
export const BLUE = '#1040d0';
/** A picture, which is all red. */
export const PICTURE = {
  'red.svg': `<svg xmlns="http://www.w3.org/2000/svg" width="80" height="80"><rect width="80" height="80" fill="${RED}"/></svg>`,
};
/** More than six screens. */
export const FAR = '<div style="height:4000px"></div>';

export const script = (code: string): string => `<script>${code}</script>`;
export const style = (rules: string): string => `<style>${rules}</style>`;
/** A large word, whose colour is on paper where it can be read. */
export const word = (attributes = '', text = 'OVERDUE', colour = RED): string =>
  `<b ${attributes}><span style="font:bold 60px sans-serif;color:${colour}">${text}</span></b>`;

const LEAST_PIXELS = 30;

/** The colours that a reader sees on the pages, those of edges left out. */
async function coloursOf(pdf: Buffer): Promise<ReadonlySet<string>> {
  const counts = new Map<number, number>();
  for (const { pixels } of await paint(pdf, 1)) {
    for (let at = 0; at < pixels.length; at += 4) {
      const [red = 0, green = 0, blue = 0] = pixels.subarray(at, at + 3);
      const colour = red * 0x1_00_00 + green * 0x1_00 + blue;
      counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
  }
  const seen = [...counts].filter(([, count]) => count >= LEAST_PIXELS);
  return new Set(seen.map(([colour]) => `#${colour.toString(16).padStart(6, '0')}`));
}

export function requestOf({
  html,
  files = {},
  waitFor,
}: Pick<Expectation, 'html' | 'files' | 'waitFor'>): RequestDocument {
  const encoded = Object.entries(files).map(
    ([name, text]) => [name, Buffer.from(text).toString('base64')] as const,
  );
  return {
    html: `<!doctype html>${html}`,
    ...(encoded.length > 0 && { files: Object.fromEntries(encoded) }),
    ...(waitFor && { wait_for: waitFor }),
  };
}

/** Prints the document, and looks for what is expected of it. */
export async function holdExpectation(
  t: Test,
  renderer: TestRenderer,
  expectation: Expectation,
): Promise<void> {
  const { options = {}, has, lacks, shows = [], hides = [], holds, fails } = expectation;
  if (fails !== undefined) {
    const result = await renderer.render(requestOf(expectation), options);
    t.match(result, { kind: 'failed', message: fails });
    return;
  }
  const bytes = await renderer.bytes(requestOf(expectation), options, accountId());
  const pdf = await openPdf(bytes);
  // Chrome may write a radical where the text has the character that looks like it.
  const text = pdf.text.trim().normalize('NFKC');
  if (has !== undefined) t.match(text, has);
  if (lacks !== undefined) t.notMatch(text, lacks);
  if (holds !== undefined) t.ok(holds(pdf), 'it does not hold', { text, pages: pdf.pages.length });
  if (shows.length + hides.length === 0) return;
  const colours = await coloursOf(bytes);
  for (const colour of shows) t.ok(colours.has(colour), `${colour} is not seen`, { text });
  for (const colour of hides) t.notOk(colours.has(colour), `${colour} is seen`, { text });
}

const INTRODUCTION = `# What is printed of documents that change

[rendering.md](rendering.md) has the rule. Each line here is about a document in \`test/renderer/expectations/\`, which a test
prints. The last section has what a person would not expect.
`;

/** @param subjects documents by the headings that they stand under */
export const examplesPage = (subjects: Readonly<Record<string, Expectations>>): string =>
  [
    INTRODUCTION,
    ...Object.entries(subjects).map(([heading, documents]) =>
      [
        `## ${heading}\n\n| in the document | on paper |\n|---|---|\n`,
        ...Object.entries(documents).map(([document, { paper }]) => `| ${document} | ${paper} |\n`),
      ].join(''),
    ),
  ].join('\n');
