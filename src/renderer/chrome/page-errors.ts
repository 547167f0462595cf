/**
 * The page's uncaught errors and console errors. Chrome keeps the last 1,000 messages of a page by itself
 * and tells them when asked, so that a page that logs without end floods nobody while it runs. Requests
 * that failed are in the resource log.
 */
import type { ManifestError } from '../../domain/render-manifest.ts';
import type { EventParams } from './connection.ts';
import { unlessLate } from './deadline.ts';
import type { Tab } from './tab.ts';

const MAX_ERRORS = 50;
const MAX_LENGTH = 500;
const CAP_MS = 500;

export interface PageErrors {
  readonly errors: readonly ManifestError[];
  readonly leftOut: number;
}

type Argument = EventParams<'Runtime.consoleAPICalled'>['args'][number];

function textOf({ value, description, unserializableValue, type }: Argument): string {
  const primitive: unknown = value;
  const text = ['string', 'number', 'boolean'].includes(typeof primitive)
    ? `${primitive as string | number | boolean}`
    : (description ?? unserializableValue ?? type);
  return text.slice(0, MAX_LENGTH);
}

/** Never rejects. A page that does not let itself be asked is not to be used again. */
export async function readPageErrors(tab: Tab): Promise<PageErrors> {
  const errors: ManifestError[] = [];
  let leftOut = 0;
  // The synthetic origin of HTML means nothing to whoever reads this.
  const origin = new RegExp(`http://[0-9a-f]+\\.${tab.site.replace('.', '\\.')}/`, 'g');
  const readable = (text: string): string => text.replaceAll(origin, 'document');
  const add = (text: string, url: string | undefined, line: number | undefined): void => {
    if (errors.length >= MAX_ERRORS) {
      leftOut += 1;
      return;
    }
    const at =
      url === undefined || url === ''
        ? {}
        : { at: `${readable(url).slice(0, 300)}:${(line ?? 0) + 1}` };
    errors.push({ text: readable(text).slice(0, MAX_LENGTH), ...at });
  };
  tab.on('Runtime.exceptionThrown', ({ exceptionDetails }) => {
    const { text, exception, url, lineNumber } = exceptionDetails;
    const what = exception === undefined ? '' : textOf(exception).split('\n', 1)[0];
    add(`${text} ${what}`.trim(), url, lineNumber);
  });
  tab.on('Runtime.consoleAPICalled', ({ type, args, stackTrace }) => {
    if (type !== 'error' && type !== 'assert') return;
    const [frame] = stackTrace?.callFrames ?? [];
    add(args.slice(0, 10).map(textOf).join(' '), frame?.url, frame?.lineNumber);
  });
  const asked = Promise.all([
    tab.send('Runtime.enable', undefined),
    tab.send('Runtime.disable', undefined),
  ]).then(
    () => true,
    () => false,
  );
  if ((await unlessLate(asked, CAP_MS)) !== true) tab.doubt();
  return { errors: [...errors], leftOut };
}
