/** The one table of a document's requests: those of the page, its frames and its workers. */
import type { ManifestResource } from '../../domain/render-manifest.ts';
import type { EventParams } from '../browser/connection.ts';
import type { Tab } from './tab.ts';
import { isOwnPage } from './window.ts';

/** The number of resources listed. More are counted only. */
const MAX_RESOURCES = 1_000;
const MAX_URL_LENGTH = 2_048;
const NETWORK = /^(?:https?|wss?):/i;
/** Kinds that never end, or that nothing on paper waits for. */
const ENDLESS = new Set(['EventSource', 'Media', 'Ping', 'CSPViolationReport', 'Prefetch']);

export interface PageRequest {
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
  /** Chrome's name of the error that ended it. */
  failure: string | undefined;
  /** The same in words for the manifest. */
  error: string | undefined;
  body: Pick<ManifestResource, 'sha256' | 'hashed' | 'bytes'> | undefined;
  /** True for a document of the main frame. Its loader has the id of the request. */
  readonly isDocument: boolean;
  /** True if the manifest lists it. */
  readonly isListed: boolean;
}

type Sent = EventParams<'Network.requestWillBeSent'>;
type New = Pick<PageRequest, 'requestId' | 'session' | 'url' | 'kind' | 'isDocument'>;

const cut = (url: string): string => url.slice(0, MAX_URL_LENGTH);

/** It must start before the document does. */
export class Requests {
  readonly #tab: Tab;
  /** Addresses that the browser asked for, and not the page. */
  readonly icons: string[] = [];
  /** Those that are listed, under way, or for a document. */
  readonly #byId = new Map<string, PageRequest>();
  /** Those under way that something on paper may wait for. */
  readonly #open = new Set<PageRequest>();
  #listed = 0;
  #leftOut = 0;
  #used = false;
  #document: PageRequest | undefined;
  #quietTimer: NodeJS.Timeout | undefined;
  #quietMs = 0;
  #onQuiet: (() => void) | undefined;
  /** Called when the content of a document has come, or broke off. */
  onDocumentEnd: ((request: PageRequest) => void) | undefined;

  /** @param onFinished is called for each resource whose body has come */
  constructor(tab: Tab, onFinished: (request: PageRequest) => void) {
    this.#tab = tab;
    tab.onEach('Network.requestWillBeSent', (sent, session) => this.#send(sent, session));
    tab.onEach('Network.responseReceived', ({ requestId, response, type }, session) => {
      const { status, mimeType } = response;
      this.#change(requestId, { session, status, type: mimeType.slice(0, 128), kind: type });
    });
    tab.onEach('Network.dataReceived', ({ requestId, dataLength }) => {
      const known = this.#byId.get(requestId);
      if (known !== undefined) known.bytes += dataLength;
    });
    tab.onEach('Network.loadingFinished', ({ requestId }, session) => {
      const known = this.#byId.get(requestId);
      // A service worker that is of two pages is heard twice.
      if (known?.isListed === true && !known.finished) {
        known.finished = true;
        known.session = session;
        onFinished(known);
      }
      this.#end(known);
    });
    tab.onEach('Network.loadingFailed', ({ requestId, errorText: failure, ...why }) => {
      const reason = why.blockedReason ?? why.corsErrorStatus?.corsError;
      const error = reason ?? failure.replace(/^net::/, '');
      this.#end(this.#change(requestId, { failure, error }));
    });
    tab.onEach('Network.webSocketCreated', ({ requestId, url }, session) => {
      this.#begin(this.#add({ requestId, session, url, kind: 'WebSocket', isDocument: false }));
    });
    // Nobody knows if a message is still to come.
    tab.onEach('Network.webSocketHandshakeResponseReceived', ({ requestId, response }) =>
      this.#end(this.#change(requestId, { status: response.status })),
    );
    tab.onEach('Network.webSocketFrameError', ({ requestId, errorMessage }) =>
      this.#end(this.#change(requestId, { error: errorMessage.slice(0, 200) })),
    );
    tab.onEach('Network.webSocketClosed', ({ requestId }) => this.#end(this.#byId.get(requestId)));
    // A worker that ends, or a frame that is removed, takes its requests with it.
    tab.onEach('Target.detachedFromTarget', ({ sessionId }) => {
      for (const each of this.#open) if (each.session === sessionId) this.#end(each);
      this.#end(undefined);
    });
  }

  /** The resources for the manifest, in the order of their requests. */
  get resources(): readonly PageRequest[] {
    return [...this.#byId.values()].filter(({ isListed }) => isListed);
  }

  /** The number of resources beyond the limit. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** The latest request for a document of the main frame. */
  get document(): PageRequest | undefined {
    return this.#document;
  }

  /** True while content of the document of a loader is under way. HTML that is written is whole from the start. */
  isComing(loaderId: string): boolean {
    const known = this.#byId.get(loaderId);
    return known?.isDocument === true && this.#open.has(known);
  }

  /** True once the page asked for anything but its document. */
  get used(): boolean {
    return this.#used;
  }

  get busy(): boolean {
    return this.#open.size > 0;
  }

  /** Resolves once nothing has been under way for so long; perhaps never: the caller sets a cap. */
  idle(quietMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#quietMs = quietMs;
      this.#onQuiet = resolve;
      this.#changed();
    });
  }

  /** Notes that an image came and cannot be decoded. What lies in the document itself is listed only then. */
  noteBroken(image: string): void {
    const url = cut(image);
    if (url.startsWith('data:')) {
      this.#add({ requestId: url, session: '', url, kind: 'Image', isDocument: false });
    }
    for (const each of this.resources) {
      if (each.url !== url && !each.redirects.some((redirect) => redirect.url === url)) continue;
      if ((each.status ?? 0) < 400) each.error ??= 'it is not an image that can be shown';
    }
  }

  #send(sent: Sent, session: string): void {
    const { requestId, request, type, frameId, redirectResponse } = sent;
    const { url } = request;
    if (isOfTheBrowser(sent)) {
      if (this.icons.length < MAX_RESOURCES) this.icons.push(cut(url));
      return;
    }
    const isMain = type === 'Document' && frameId === this.#tab.frameId;
    // The client's own HTML, on its synthetic origin, is in the conversion's request.
    const isOwn = isMain && isOwnPage(this.#tab, url);
    const isNetwork = NETWORK.test(url);
    // Data of the document itself is not traffic, unless a script asks for it.
    const isInline = url.startsWith('data:') && type !== 'Fetch' && type !== 'XHR';
    const isAwaited = !ENDLESS.has(type ?? '') && !isInline;
    let known = this.#byId.get(requestId);
    if (known !== undefined && redirectResponse !== undefined && isNetwork) {
      known.redirects.push({ url: known.url, status: redirectResponse.status });
      known.url = cut(url);
    }
    // The page asks for a worker's script, and the worker tells of the answer: then it is known.
    if (known === undefined && (isAwaited || isNetwork)) {
      const added = { requestId, session, url, kind: type ?? 'Other', isDocument: isMain };
      known = this.#add(added, isNetwork && !isOwn);
    }
    if (known === undefined) return;
    if (!isAwaited) {
      this.#forget(known);
      return;
    }
    if (isMain) this.#document = known;
    else this.#used = true;
    known.session = session;
    this.#begin(known);
  }

  /** @param mayList false for what the manifest does not tell of */
  #add(added: New, mayList = true): PageRequest {
    const isListed = mayList && this.#listed < MAX_RESOURCES;
    if (isListed) this.#listed += 1;
    else if (mayList) this.#leftOut += 1;
    const request: PageRequest = {
      ...added,
      url: cut(added.url),
      redirects: [],
      status: undefined,
      type: '',
      bytes: 0,
      finished: false,
      failure: undefined,
      error: undefined,
      body: undefined,
      isListed,
    };
    this.#byId.set(added.requestId, request);
    return request;
  }

  #change(requestId: string, change: Partial<PageRequest>): PageRequest | undefined {
    const known = this.#byId.get(requestId);
    return known && Object.assign(known, change);
  }

  #begin(request: PageRequest): void {
    this.#open.add(request);
    this.#changed();
  }

  #end(request: PageRequest | undefined): void {
    if (request !== undefined) {
      this.#open.delete(request);
      this.#forget(request);
      if (request.isDocument) this.onDocumentEnd?.(request);
    }
    this.#changed();
  }

  #forget({ requestId, isListed, isDocument }: PageRequest): void {
    if (!isListed && !isDocument) this.#byId.delete(requestId);
  }

  #changed(): void {
    clearTimeout(this.#quietTimer);
    if (this.#onQuiet !== undefined && this.#open.size === 0) {
      this.#quietTimer = setTimeout(this.#onQuiet, this.#quietMs);
    }
  }
}

/** True for a request that no document made: a full Chrome asks for the page's icon, to show it in a tab that nobody sees. */
const isOfTheBrowser = ({ type, initiator }: Sent): boolean =>
  type === 'Other' && initiator.type === 'other';
