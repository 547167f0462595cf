/** For the render manifest of a document: the hashes of what it fetched, and what it reported as errors. */
import { createHash } from 'node:crypto';
import { resultWithin } from '../../async/with-timeout.ts';
import type { ManifestError } from '../../domain/render-manifest.ts';
import type { EventParams } from '../browser/connection.ts';
import type { Deadline } from './deadline.ts';
import type { PageRequest } from './requests.ts';
import type { Tab } from './tab.ts';

/** Decoded bytes of one body, and of all. Every body crosses the DevTools pipe as text once more. */
const MAX_BODY_BYTES = 8 * 1024 * 1024;
const MAX_BYTES = 32 * 1024 * 1024;
const BODIES_CAP_MS = 1_500;

/** Hashes of what came encrypted, which the proxy cannot read: Chrome is asked for the bodies. */
export class BodyHashes {
  readonly #tab: Tab;
  readonly #asked: Promise<void>[] = [];
  #budget = MAX_BYTES;

  constructor(tab: Tab) {
    this.#tab = tab;
  }

  /** Asks for a body. This must be at once: bodies go with the document or worker that they are of. */
  ask(resource: PageRequest): void {
    const { url, bytes } = resource;
    if (!/^https:/i.test(url) || bytes > MAX_BODY_BYTES || bytes > this.#budget) return;
    this.#budget -= bytes;
    // A body that Chrome no longer holds stays without a hash.
    this.#asked.push(this.#hash(resource).catch(() => {}));
  }

  /** Resolves when all are there, or have taken too long. */
  async settled(): Promise<void> {
    await resultWithin(Promise.all(this.#asked), BODIES_CAP_MS);
  }

  async #hash(resource: PageRequest): Promise<void> {
    const { requestId, session } = resource;
    const { body, base64Encoded } = await this.#tab.sendTo(session, 'Network.getResponseBody', {
      requestId,
    });
    const content = Buffer.from(body, base64Encoded ? 'base64' : 'utf8');
    resource.body = {
      sha256: createHash('sha256').update(content).digest('hex'),
      hashed: base64Encoded ? 'decoded' : 'text',
      bytes: content.length,
    };
  }
}

const MAX_ERRORS = 50;
const MAX_LENGTH = 500;
/** A page that tells nothing for this long has a script that keeps it from answering. */
const SILENCE_MS = 500;

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

/**
 * Reads the page's uncaught errors and console errors. Chrome keeps the last 1,000 messages of a page and
 * tells them when asked, so that a page that logs without end floods nobody while it runs. Requests that
 * failed are in the resource log. Never rejects. The tab of a page that cannot be asked is not used again.
 */
export async function readPageErrors(tab: Tab, deadline: Deadline): Promise<PageErrors> {
  const errors: ManifestError[] = [];
  let leftOut = 0;
  let heard = 0;
  // The made-up origin of HTML means nothing to a reader.
  const origin = new RegExp(`http://[0-9a-f]+\\.${tab.site.replace('.', '\\.')}/([\\w%.~-]?)`, 'g');
  const readable = (text: string): string =>
    text.replaceAll(origin, (_, file: string) => (file === '' ? 'document' : file));
  const add = (text: string, url: string | undefined, line: number | undefined): void => {
    if (errors.length >= MAX_ERRORS) {
      leftOut += 1;
      return;
    }
    const at =
      url === undefined || url === ''
        ? {}
        : { at: readable(`${url.slice(0, 300)}:${(line ?? 0) + 1}`) };
    errors.push({ text: readable(text).slice(0, MAX_LENGTH), ...at });
  };
  tab.on('Runtime.exceptionThrown', ({ exceptionDetails }) => {
    heard += 1;
    const { text, exception, url, lineNumber } = exceptionDetails;
    const what = exception === undefined ? '' : textOf(exception).split('\n', 1)[0];
    add(`${text} ${what}`.trim(), url, lineNumber);
  });
  tab.on('Runtime.consoleAPICalled', ({ type, args, stackTrace }) => {
    heard += 1;
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
  const end = performance.now() + deadline.share('errors');
  let isDone = false;
  let before: number;
  // On a busy machine all messages may take longer than the silence.
  do {
    before = heard;
    isDone = (await resultWithin(asked, SILENCE_MS)) === true;
  } while (!isDone && heard > before && performance.now() < end);
  if (!isDone) tab.markTainted();
  return { errors: [...errors], leftOut };
}
