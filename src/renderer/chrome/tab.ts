/** One tab in a browser context of its own: what one conversion sees of Chrome, and nothing else. */
import {
  type Command,
  CommandTimeout,
  type Connection,
  type EventName,
  type EventParams,
  type Params,
  type Result,
} from './connection.ts';
import type { Deadline } from './deadline.ts';
import { ChromeGone } from './failure.ts';

const CLOSE_TIMEOUT_MS = 1_000;
/** A browser that takes longer for a step of opening a tab is not going to. */
const OPEN_TIMEOUT_MS = 10_000;

export class Tab {
  readonly #connection: Connection;
  readonly #deadline: Deadline;
  readonly #contextId: string;
  readonly #sessionId: string;
  /** Of the main frame, which has its tab's id. */
  readonly frameId: string;
  /** Rejects when the tab dies; never resolves. */
  readonly #gone: Promise<never>;
  /** Takes every handler of this tab off the connection, which outlives it. */
  readonly #cleanups: (() => void)[] = [];

  private constructor(
    connection: Connection,
    deadline: Deadline,
    ids: { contextId: string; targetId: string; sessionId: string },
  ) {
    this.#connection = connection;
    this.#deadline = deadline;
    this.#contextId = ids.contextId;
    this.#sessionId = ids.sessionId;
    this.frameId = ids.targetId;
    this.#gone = new Promise<never>((_, reject) => {
      this.on('Inspector.targetCrashed', () => {
        reject(new ChromeGone('The tab crashed.'));
      });
      this.#cleanups.push(
        connection.onDisconnect(() => {
          reject(new ChromeGone('Chrome ended unexpectedly.'));
        }),
      );
    });
    this.#gone.catch(() => {});
  }

  /** A new, empty tab whose every command ends by the deadline. Downloads are refused in it. */
  static async open(connection: Connection, deadline: Deadline): Promise<Tab> {
    const send = <M extends Command>(method: M, params: Params<M>): Promise<Result<M>> =>
      connection
        .send(method, params, deadline.share(1, OPEN_TIMEOUT_MS))
        .catch((error: unknown) => {
          // A browser that does not even open a tab is broken, whatever the page would have been.
          throw error instanceof CommandTimeout
            ? new ChromeGone('Chrome does not answer.', { cause: error })
            : error;
        });
    const { browserContextId } = await send('Target.createBrowserContext', {
      disposeOnDetach: true,
    });
    const [{ targetId }] = await Promise.all([
      send('Target.createTarget', { url: 'about:blank', browserContextId }),
      send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId }),
    ]);
    const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
    const tab = new Tab(connection, deadline, {
      contextId: browserContextId,
      targetId,
      sessionId,
    });
    await Promise.all([tab.#answerDialogs(), tab.#closePopups(), tab.send('Page.enable', {})]);
    return tab;
  }

  /**
   * @throws {PageFailure} `timeout` when the deadline passes first
   * @throws {ChromeGone} when the tab or the browser dies
   */
  async send<M extends Command>(method: M, params: Params<M>): Promise<Result<M>> {
    try {
      return await this.untilGone(
        this.#connection.send(method, params, this.#deadline.remaining(), this.#sessionId),
      );
    } catch (error) {
      throw error instanceof CommandTimeout ? this.#deadline.failure() : error;
    }
  }

  on<E extends EventName>(event: E, handler: (params: EventParams<E>) => void): () => void {
    const off = this.#connection.on(event, handler, this.#sessionId);
    this.#cleanups.push(off);
    return off;
  }

  /** Settles as `promise` does, but rejects at once when the tab dies. */
  async untilGone<T>(promise: Promise<T>): Promise<T> {
    return await Promise.race([promise, this.#gone]);
  }

  /** @returns whether Chrome confirmed that everything of this tab is gone */
  async close(): Promise<boolean> {
    for (const cleanup of this.#cleanups) cleanup();
    try {
      await this.#connection.send(
        'Target.disposeBrowserContext',
        { browserContextId: this.#contextId },
        CLOSE_TIMEOUT_MS,
      );
      return true;
    } catch {
      return false;
    }
  }

  async #answerDialogs(): Promise<void> {
    this.on('Page.javascriptDialogOpening', ({ type }) => {
      // A page may not keep itself from being left; every other question is answered with no.
      this.send('Page.handleJavaScriptDialog', { accept: type === 'beforeunload' }).catch(() => {});
    });
  }

  async #closePopups(): Promise<void> {
    this.on('Target.targetCreated', ({ targetInfo }) => {
      if (targetInfo.type !== 'page' || targetInfo.targetId === this.frameId) return;
      if (targetInfo.browserContextId !== this.#contextId) return;
      this.#connection
        .send('Target.closeTarget', { targetId: targetInfo.targetId }, CLOSE_TIMEOUT_MS)
        .catch(() => {});
    });
    await this.send('Target.setDiscoverTargets', { discover: true });
  }
}
