/** Collects what a document fetched and what it reported as errors, for its render manifest. */
import { createHash } from 'node:crypto';
import type { ManifestError, ManifestResource } from '../../domain/render-manifest.ts';
import type { EventParams } from './connection.ts';
import { resultWithin } from './deadline.ts';
import type { Tab } from './tab.ts';
import { isOwnPage } from './window.ts';

/** The number of resources listed. More are counted only. */
const MAX_RESOURCES = 1_000;
const MAX_URL_LENGTH = 2_048;
const NETWORK = /^(?:https?|wss?):/i;

export interface LoggedResource {
  readonly requestId: string;
  /** The DevTools session that spoke of it last: that one has its body. */
  session: string;
  url: string;
  readonly redirects: { url: string; status: number }[];
  kind: string;
  status: number | undefined;
  type: string;
  /** Decoded bytes that the page was given. */
  bytes: number;
  finished: boolean;
  error: string | undefined;
  body: Pick<ManifestResource, 'sha256' | 'hashed' | 'bytes'> | undefined;
}

const cut = (url: string): string => url.slice(0, MAX_URL_LENGTH);

/** The requests of the page, its frames and its workers. It must start before the document does. */
export class ResourceLog {
  readonly #byId = new Map<string, LoggedResource>();
  leftOut = 0;

  /** @param onFinished is called for each resource whose body has come */
  constructor(tab: Tab, onFinished: (resource: LoggedResource) => void) {
    tab.onEach(
      'Network.requestWillBeSent',
      ({ requestId, request, type, frameId, redirectResponse }, session) => {
        if (!NETWORK.test(request.url)) return;
        const known = this.#byId.get(requestId);
        if (known !== undefined && redirectResponse !== undefined) {
          known.redirects.push({ url: known.url, status: redirectResponse.status });
          known.url = cut(request.url);
          return;
        }
        // The page asks for a worker's script, and the worker tells of the answer.
        if (known !== undefined) return;
        // The client's own HTML, on its synthetic origin, is in the conversion's request.
        const isMain = type === 'Document' && frameId === tab.frameId;
        if (isMain && isOwnPage(tab, request.url)) return;
        this.#add(requestId, session, request.url, type ?? 'Other');
      },
    );
    tab.onEach('Network.responseReceived', ({ requestId, response, type }, session) => {
      const known = this.#byId.get(requestId);
      if (known === undefined) return;
      known.session = session;
      known.status = response.status;
      known.type = response.mimeType.slice(0, 128);
      known.kind = type;
    });
    tab.onEach('Network.dataReceived', ({ requestId, dataLength }) => {
      const known = this.#byId.get(requestId);
      if (known !== undefined) known.bytes += dataLength;
    });
    tab.onEach('Network.loadingFinished', ({ requestId }, session) => {
      const known = this.#byId.get(requestId);
      // A service worker that is of two pages is heard twice.
      if (known === undefined || known.finished) return;
      known.finished = true;
      known.session = session;
      onFinished(known);
    });
    tab.onEach('Network.loadingFailed', ({ requestId, errorText, ...why }) => {
      const known = this.#byId.get(requestId);
      if (known === undefined) return;
      const reason = why.blockedReason ?? why.corsErrorStatus?.corsError;
      known.error = reason ?? errorText.replace(/^net::/, '');
    });
    tab.onEach('Network.webSocketCreated', ({ requestId, url }, session) => {
      this.#add(requestId, session, url, 'WebSocket');
    });
    tab.onEach('Network.webSocketHandshakeResponseReceived', ({ requestId, response }) => {
      const known = this.#byId.get(requestId);
      if (known !== undefined) known.status = response.status;
    });
    tab.onEach('Network.webSocketFrameError', ({ requestId, errorMessage }) => {
      const known = this.#byId.get(requestId);
      if (known !== undefined) known.error = errorMessage.slice(0, 200);
    });
  }

  /** Notes that an image came and cannot be decoded. What lies in the document itself is listed only then. */
  noteBroken(image: string): void {
    const address = cut(image);
    if (address.startsWith('data:')) this.#add(address, '', address, 'Image');
    for (const each of this.resources) {
      if (each.url !== address && !each.redirects.some(({ url }) => url === address)) continue;
      if ((each.status ?? 0) < 400) each.error ??= 'it is not an image that can be shown';
    }
  }

  get resources(): readonly LoggedResource[] {
    return [...this.#byId.values()];
  }

  #add(requestId: string, session: string, url: string, kind: string): void {
    if (this.#byId.size >= MAX_RESOURCES) {
      this.leftOut += 1;
      return;
    }
    this.#byId.set(requestId, {
      requestId,
      session,
      url: cut(url),
      redirects: [],
      kind,
      status: undefined,
      type: '',
      bytes: 0,
      finished: false,
      error: undefined,
      body: undefined,
    });
  }
}

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
  ask(resource: LoggedResource): void {
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

  async #hash(resource: LoggedResource): Promise<void> {
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
const ERRORS_CAP_MS = 500;

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
export async function readPageErrors(tab: Tab): Promise<PageErrors> {
  const errors: ManifestError[] = [];
  let leftOut = 0;
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
  if ((await resultWithin(asked, ERRORS_CAP_MS)) !== true) tab.markTainted();
  return { errors: [...errors], leftOut };
}
