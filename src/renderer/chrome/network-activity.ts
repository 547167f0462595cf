/** Which requests of a page, its frames and its workers are under way. Must start before the page does. */
import type { Tab } from './tab.ts';

/** As browsers' tools have it: nothing under way for this long. */
const QUIET_MS = 500;

export class NetworkActivity {
  /** The session that spoke of a request last, by the request. */
  readonly #open = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;
  #tell: (() => void) | undefined;

  constructor(tab: Tab) {
    tab.onEach('Network.requestWillBeSent', ({ requestId, type, request }, session) => {
      // A stream never ends, and what lies in the document itself is no traffic.
      if (type === 'EventSource' || request.url.startsWith('data:')) return;
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

  /** Resolves once nothing has been under way for half a second; perhaps never: the caller sets a cap. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#tell = resolve;
      this.#changed();
    });
  }

  #changed(): void {
    clearTimeout(this.#timer);
    if (this.#tell !== undefined && this.#open.size === 0) {
      this.#timer = setTimeout(this.#tell, QUIET_MS);
    }
  }
}
