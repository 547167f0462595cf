/** What a document fetches, as the page, its frames and its workers tell. Must start before it does. */
import type { ManifestResource } from '../../domain/render-manifest.ts';
import type { Tab } from './tab.ts';

/** More are counted only. */
const MAX_RESOURCES = 1_000;
const MAX_URL_LENGTH = 2_048;
const NETWORK = /^(?:https?|wss?):/i;

export interface LoggedResource {
  readonly requestId: string;
  /** Which DevTools session spoke of it last: that one has its body. */
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

export class ResourceLog {
  readonly #byId = new Map<string, LoggedResource>();
  leftOut = 0;

  /** @param onFinished told of each whose body has come */
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
        if (isMain && request.url.includes(`.${tab.site}/`)) return;
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
    tab.onEach('Network.loadingFailed', ({ requestId, errorText, blockedReason }) => {
      const known = this.#byId.get(requestId);
      if (known !== undefined) known.error = blockedReason ?? errorText.replace(/^net::/, '');
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
