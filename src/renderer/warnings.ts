/** Says in words for the client what was missing when a page was printed. */
import { lackingInWords } from '../domain/lacking-resource.ts';
import {
  MAX_WARNING_CHARACTERS,
  MAX_WARNINGS,
  type ManifestResource,
  type ManifestWait,
  type PageManifest,
} from '../domain/render-manifest.ts';
import type { Shortcoming } from '../domain/request-document.ts';
import { plainText } from '../text/plain-text.ts';
import { PageFailure } from './browser/failure.ts';

/** Nothing on paper depends on these. */
const INVISIBLE = new Set(['Ping', 'CSPViolationReport', 'Preflight', 'Prefetch', 'WebSocket']);
const MAX_URL_CHARACTERS = 150;
/** Those that a failure names. */
const MAX_NAMED = 3;

interface Warning {
  readonly of: Shortcoming;
  readonly text: string;
}

function ofResource({ url, kind = '', status = 0, error }: ManifestResource): readonly Warning[] {
  if (INVISIBLE.has(kind)) return [];
  const name = url.length > MAX_URL_CHARACTERS ? `${url.slice(0, MAX_URL_CHARACTERS)}…` : url;
  // First, for Chrome itself aborts fonts, style sheets and modules with such a status.
  if (status >= 400) {
    return [{ of: 'http_status', text: lackingInWords({ url: name, reason: status }) }];
  }
  // A page that aborts a request needs no answer; one of ours, when time is up, is told as a wait.
  if (error === undefined || error === 'ERR_ABORTED') return [];
  const reason = error.replace(/\.$/, '');
  return [{ of: 'resource_error', text: lackingInWords({ url: name, reason }) }];
}

const GIVEN_UP: Partial<Readonly<Record<ManifestWait['for'], string>>> = {
  load: 'The page had not finished loading',
  delay: 'The delay was cut short',
  network_idle: 'The network was not quiet',
  fonts: 'Fonts were still being loaded',
  images: 'Images were still being loaded',
  requests: 'The page was still fetching data',
  view: 'Not all of the page could be shown to its scripts',
  drawing: 'The page was still being drawn',
  timers: 'A timer of the page had not run out',
};

/** Of several waits for one thing, the longest tells all. */
function ofWaits(waits: readonly ManifestWait[]): readonly Warning[] {
  const longest = new Map<string, number>();
  for (const { for: what, ms, capped } of waits) {
    const text = capped ? GIVEN_UP[what] : undefined;
    if (text !== undefined) longest.set(text, Math.max(ms, longest.get(text) ?? 0));
  }
  return Array.from(longest, ([text, ms]) => {
    const seconds = Math.round(ms / 100) / 10;
    return { of: 'timeout', text: seconds === 0 ? `${text}.` : `${text} after ${seconds} s.` };
  });
}

type Page = Pick<PageManifest, 'resources' | 'waits' | 'console_errors'>;

function short(text: string): string {
  const plain = plainText(text);
  const cut = plain.slice(0, MAX_WARNING_CHARACTERS - 1).toWellFormed();
  return plain.length > MAX_WARNING_CHARACTERS ? `${cut}…` : plain.toWellFormed();
}

/** Each of them once. The texts quote the page and servers. */
function shortcomings({ resources, waits, console_errors }: Page): readonly Warning[] {
  const all: readonly Warning[] = [
    ...resources.flatMap(ofResource),
    ...ofWaits(waits),
    ...console_errors.map(({ text, at }) => ({
      of: 'console_error' as const,
      text: `The page reported an error: ${text}${at === undefined ? '' : ` (${at})`}`,
    })),
  ];
  const byText = new Map(
    all.map(({ of, text }) => {
      const told = short(text);
      return [told, { of, text: told }] as const;
    }),
  );
  return [...byText.values()];
}

/** The warnings for the record, those of the PDF itself first; the last one says how many more there are. */
export function warningsOf(page: Page, shortfalls: readonly string[] = []): string[] {
  const texts = [
    ...new Set([...shortfalls.map(short), ...shortcomings(page).map(({ text }) => text)]),
  ];
  if (texts.length <= MAX_WARNINGS) return texts;
  const told = texts.slice(0, MAX_WARNINGS - 1);
  return [...told, `There are ${texts.length - told.length} more warnings.`];
}

/** The failure that a page is, where it has what its client wants no PDF with. */
export function incompleteness(
  page: Page,
  failOn: readonly Shortcoming[] = [],
): PageFailure | undefined {
  const found = shortcomings(page).filter(({ of }) => failOn.includes(of));
  if (found.length === 0) return undefined;
  const named = found.slice(0, MAX_NAMED).map(({ text }) => text);
  const more = found.length - named.length;
  const rest = more === 0 ? '' : ` And ${more} more.`;
  return new PageFailure('incomplete', `The page is not complete. ${named.join(' ')}${rest}`);
}
