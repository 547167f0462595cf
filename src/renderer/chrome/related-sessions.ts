/**
 * Frames of other sites and workers have processes or threads of their own, of which the page's session
 * tells nothing. Chrome attaches a session to each before it runs, so that none of its requests is missed.
 */
import type { Command, Connection, EventParams, Params } from './connection.ts';

/** The most that are followed. More of them run unwatched: a page may start workers without end. */
const MAX_SESSIONS = 100;
const TIMEOUT_MS = 10_000;

type AutoAttach = Params<'Target.setAutoAttach'>;
const attachTo = (...types: readonly string[]): AutoAttach => ({
  autoAttach: true,
  waitForDebuggerOnStart: true,
  flatten: true,
  filter: types.map((type) => ({ type })),
});
const OF_A_PAGE = attachTo('iframe', 'worker', 'service_worker');
// Pages may share them, so they are the browser's.
const OF_THE_BROWSER = attachTo('shared_worker');

export class RelatedSessions {
  readonly #connection: Connection;
  readonly #contextId: string;
  readonly #pageSession: string;
  readonly #clockSource: string;
  readonly #sessions: Set<string>;
  readonly #workers = new Set<string>();
  readonly #off: (() => void)[];
  #attached = 0;

  /**
   * @param clockSource is run in each frame before its document's scripts
   * @param onClosed is called when the page's own window is closed
   */
  constructor(
    connection: Connection,
    contextId: string,
    pageSession: string,
    clockSource: string,
    onClosed: () => void,
  ) {
    this.#connection = connection;
    this.#contextId = contextId;
    this.#pageSession = pageSession;
    this.#clockSource = clockSource;
    this.#sessions = new Set([pageSession]);
    this.#off = [
      connection.on('Target.attachedToTarget', (attached, by) => this.#attach(attached, by)),
      connection.on('Target.detachedFromTarget', ({ sessionId }) => {
        if (sessionId === pageSession) onClosed();
        this.#sessions.delete(sessionId);
        this.#workers.delete(sessionId);
      }),
    ];
  }

  async start(): Promise<void> {
    await Promise.all([
      this.#connection.send('Target.setAutoAttach', OF_THE_BROWSER, TIMEOUT_MS),
      this.#connection.send('Target.setAutoAttach', OF_A_PAGE, TIMEOUT_MS, this.#pageSession),
    ]);
  }

  /** True for the session of the page and those of what it started. */
  has(sessionId: string): boolean {
    return this.#sessions.has(sessionId);
  }

  /** The sessions of the workers that run, but for service workers, which end by themselves. */
  get workers(): ReadonlySet<string> {
    return this.#workers;
  }

  close(): void {
    for (const off of this.#off.splice(0)) off();
  }

  #attach({ sessionId, targetInfo }: EventParams<'Target.attachedToTarget'>, by?: string): void {
    const ours =
      by === undefined
        ? targetInfo.type === 'shared_worker' && targetInfo.browserContextId === this.#contextId
        : this.#sessions.has(by);
    if (!ours) return;
    const send = <M extends Command>(method: M, params: Params<M>): void => {
      // It may be gone again before it is heard.
      this.#connection.send(method, params, TIMEOUT_MS, sessionId).catch(() => {});
    };
    this.#attached += 1;
    if (this.#attached <= MAX_SESSIONS) {
      this.#sessions.add(sessionId);
      if (targetInfo.type === 'iframe') {
        send('Page.enable', {});
        send('Page.addScriptToEvaluateOnNewDocument', { source: this.#clockSource });
      } else if (targetInfo.type !== 'service_worker') this.#workers.add(sessionId);
      send('Network.enable', {});
      send('Target.setAutoAttach', OF_A_PAGE);
    }
    send('Runtime.runIfWaitingForDebugger', undefined);
  }
}
