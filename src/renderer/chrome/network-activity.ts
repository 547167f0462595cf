/** The requests of a document that are under way. */
import type { Tab } from './tab.ts';

/** The silence that counts as idle, as in browsers' tools. */
export const IDLE_MS = 500;
/** Kinds that never end, or that nothing on paper waits for. */
const ENDLESS = new Set(['EventSource', 'Media', 'Ping', 'CSPViolationReport', 'Prefetch']);

/** The requests under way of a page, its frames and its workers. It must start before the page does. */
export class NetworkActivity {
  /** The session that spoke of a request last, by the request. */
  readonly #open = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #tell: (() => void) | undefined;
  #quietMs = 0;
  #used = false;

  constructor(tab: Tab) {
    tab.onEach('Network.requestWillBeSent', ({ requestId, type, frameId, request }, session) => {
      // Data of the document itself does not count as traffic, unless a script asks for it.
      const isOwn = request.url.startsWith('data:') && type !== 'Fetch' && type !== 'XHR';
      if (ENDLESS.has(type ?? '') || isOwn) return;
      this.#used ||= !(type === 'Document' && frameId === tab.frameId);
      this.#open.set(requestId, session);
      this.#changed();
    });
    const ended = ({ requestId }: { requestId: string }): void => {
      this.#open.delete(requestId);
      this.#changed();
    };
    tab.onEach('Network.responseReceived', ({ requestId }, session) => {
      if (this.#open.has(requestId)) this.#open.set(requestId, session);
    });
    tab.onEach('Network.webSocketCreated', ({ requestId }, session) => {
      this.#open.set(requestId, session);
      this.#changed();
    });
    // Nobody knows if a message is still to come.
    tab.onEach('Network.webSocketHandshakeResponseReceived', ended);
    tab.onEach('Network.webSocketFrameError', ended);
    tab.onEach('Network.webSocketClosed', ended);
    tab.onEach('Network.loadingFinished', ended);
    tab.onEach('Network.loadingFailed', ended);
    // A worker that ends, or a frame that is removed, takes its requests with it.
    tab.onEach('Target.detachedFromTarget', ({ sessionId }) => {
      for (const [requestId, session] of this.#open) {
        if (session === sessionId) this.#open.delete(requestId);
      }
      this.#changed();
    });
  }

  /** True once it asked for anything but its document. */
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
      this.#tell = resolve;
      this.#changed();
    });
  }

  #changed(): void {
    clearTimeout(this.#timer);
    if (this.#tell !== undefined && this.#open.size === 0) {
      this.#timer = setTimeout(this.#tell, this.#quietMs);
    }
  }
}
