/** Which requests of a page are under way. Must start before the page does. */
import type { Tab } from './tab.ts';

/** As browsers' tools have it: nothing under way for this long. */
const QUIET_MS = 500;

export class NetworkActivity {
  readonly #open = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #tell: (() => void) | undefined;

  constructor(tab: Tab) {
    tab.on('Network.requestWillBeSent', ({ requestId, type, request }) => {
      // A stream never ends, and what lies in the document itself is no traffic.
      if (type === 'EventSource' || request.url.startsWith('data:')) return;
      this.#open.add(requestId);
      this.#changed();
    });
    const ended = ({ requestId }: { requestId: string }): void => {
      this.#open.delete(requestId);
      this.#changed();
    };
    tab.on('Network.loadingFinished', ended);
    tab.on('Network.loadingFailed', ended);
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
