/** What a document fetches, as its page's process tells it. Must start before the page does. */
import type { ManifestResource } from '../../domain/render-manifest.ts';
import type { Tab } from './tab.ts';

/** More are counted only. */
const MAX_RESOURCES = 1_000;
const MAX_URL_LENGTH = 2_048;
const NETWORK = /^(?:https?|wss?):/i;

export interface LoggedResource {
  readonly requestId: string;
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

  constructor(tab: Tab) {
    tab.on(
      'Network.requestWillBeSent',
      ({ requestId, request, type, frameId, redirectResponse }) => {
        if (!NETWORK.test(request.url)) return;
        const known = this.#byId.get(requestId);
        if (known !== undefined && redirectResponse !== undefined) {
          known.redirects.push({ url: known.url, status: redirectResponse.status });
          known.url = cut(request.url);
          return;
        }
        // The client's own HTML, on its synthetic origin, is in the conversion's request.
        const isMain = type === 'Document' && frameId === tab.frameId;
        if (isMain && request.url.includes(`.${tab.site}/`)) return;
        this.#add(requestId, request.url, type ?? 'Other');
      },
    );
    tab.on('Network.responseReceived', ({ requestId, response, type }) => {
      const known = this.#byId.get(requestId);
      if (known === undefined) return;
      known.status = response.status;
      known.type = response.mimeType.slice(0, 128);
      known.kind = type;
    });
    tab.on('Network.dataReceived', ({ requestId, dataLength }) => {
      const known = this.#byId.get(requestId);
      if (known !== undefined) known.bytes += dataLength;
    });
    tab.on('Network.loadingFinished', ({ requestId }) => {
      const known = this.#byId.get(requestId);
      if (known !== undefined) known.finished = true;
    });
    tab.on('Network.loadingFailed', ({ requestId, errorText, blockedReason }) => {
      const known = this.#byId.get(requestId);
      if (known !== undefined) known.error = blockedReason ?? errorText.replace(/^net::/, '');
    });
    tab.on('Network.webSocketCreated', ({ requestId, url }) => {
      this.#add(requestId, url, 'WebSocket');
    });
    tab.on('Network.webSocketHandshakeResponseReceived', ({ requestId, response }) => {
      const known = this.#byId.get(requestId);
      if (known !== undefined) known.status = response.status;
    });
    tab.on('Network.webSocketFrameError', ({ requestId, errorMessage }) => {
      const known = this.#byId.get(requestId);
      if (known !== undefined) known.error = errorMessage.slice(0, 200);
    });
  }

  get resources(): readonly LoggedResource[] {
    return [...this.#byId.values()];
  }

  #add(requestId: string, url: string, kind: string): void {
    if (this.#byId.size >= MAX_RESOURCES) {
      this.leftOut += 1;
      return;
    }
    this.#byId.set(requestId, {
      requestId,
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
