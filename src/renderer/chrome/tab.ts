/** One tab in a browser context of its own: what one account's documents see of Chrome, and nothing else. */
import { randomBytes } from 'node:crypto';
import { constants } from 'node:os';
import {
  type Command,
  CommandRefused,
  CommandTimeout,
  type Connection,
  type EventName,
  type EventParams,
  type Params,
  type Result,
} from './connection.ts';
import { Deadline, resultWithin } from './deadline.ts';
import { ChromeGone, PageFailure } from './failure.ts';
import { Frames } from './frames.ts';
import { pageClockSource } from './in-page-scripts.ts';
import { endInterruptions } from './interruptions.ts';
import { Life } from './life.ts';
import { RelatedSessions } from './related-sessions.ts';
import { newWindowShape } from './window-shape.ts';

const CLOSE_TIMEOUT_MS = 1_000;
/** Limits on the bodies that Chrome keeps for us beyond the document that fetched them. */
const KEPT_BODIES = { maxTotalBufferSize: 32 << 20, maxResourceBufferSize: 8 << 20 };
/** A browser that takes longer for a step of opening a tab is not going to. */
const OPEN_TIMEOUT_MS = 10_000;
// Evaluates once a window has had its load event.
const LOADED = `new Promise((resolve) => {
  if (document.readyState === 'complete') resolve();
  else addEventListener('load', resolve, { once: true });
})`;

export interface Workers {
  /** True when there are some. */
  readonly any: boolean;
  /** Resolves when they have ended what they are at. */
  idle(): Promise<void>;
}

/** A frame, and the DevTools session that knows it. */
export interface Frame {
  readonly frameId: string;
  readonly session: string;
}

/** The only way to the network for the documents of one tab, so that each request names its tab by it. */
export interface TabProxy {
  /** On 127.0.0.1. */
  readonly port: number;
  close(): Promise<void>;
}

interface Ids {
  readonly contextId: string;
  readonly targetId: string;
  readonly sessionId: string;
}

/**
 * Another program ends a tab with a signal that Chrome tells as `killed`: the kernel does where memory runs out. A full disk
 * below Chrome's shared memory is a bus error. What else ends the process of a tab is something that its page did there.
 */
function crashReason({ status, errorCode }: EventParams<'Target.targetCrashed'>): Error {
  if (status !== 'crashed' || errorCode === constants.signals.SIGBUS) {
    return new ChromeGone(`The tab crashed: it was ${status} with ${errorCode}.`);
  }
  return new PageFailure(
    'page_crashed',
    'The page crashed its tab of the browser. Elements within each other by the thousands, or memory that a script ' +
      'takes at once, can be the reason.',
  );
}

export class Tab {
  readonly #connection: Connection;
  readonly #ids: Ids;
  readonly #related: RelatedSessions;
  readonly #proxy: TabProxy | undefined;
  readonly frames: Frames;
  /** The domain of every document's host in this tab. One site needs one process. */
  readonly site = `${randomBytes(10).toString('hex')}.invalid`;
  /** The name of the events by which its documents' clocks are reached. Pages do not know it. */
  readonly clockChannel = randomBytes(10).toString('hex');
  /** The window that waits for HTML at an origin of its own; undefined in a tab that waits for a URL. */
  window: { readonly origin: string; readonly loaderId: string } | undefined;
  /** `WINDOW_SHAPE` as it was before its first document. */
  windowShape: unknown;
  /** The answer of its window's address: nothing while it waits, then its HTML, for a page that loads itself again. */
  ownPage = '';
  #answersOwnPages = false;
  readonly #life = new Life();
  /** Takes every handler of this tab off the connection, which outlives it. */
  readonly #cleanups: (() => void)[] = [];
  #ofDocument: (() => void)[] = [];
  #deadline = new Deadline(OPEN_TIMEOUT_MS);
  #tainted = false;
  #crashed = false;

  private constructor(connection: Connection, ids: Ids, proxy: TabProxy | undefined) {
    this.#connection = connection;
    this.#ids = ids;
    this.#proxy = proxy;
    this.frames = new Frames(
      connection.framesOnCommand
        ? () => this.send('HeadlessExperimental.beginFrame', {})
        : undefined,
    );
    this.#related = new RelatedSessions(
      connection,
      ids.contextId,
      ids.sessionId,
      pageClockSource(this.clockChannel),
      () => die(new PageFailure('page_crashed', 'The page closed its own window.')),
    );
    const die = (reason: Error): void => {
      this.#tainted = true;
      this.#life.end(reason);
    };
    this.#cleanups.push(
      connection.on('Target.targetCrashed', (crash) => {
        if (crash.targetId !== ids.targetId) return;
        this.#crashed = true;
        die(crashReason(crash));
      }),
      connection.onDisconnect(die),
      connection.onHandlerError((cause, from) => {
        if (from !== undefined && !this.#related.has(from)) return;
        const what = cause instanceof Error ? cause.message : String(cause);
        die(new Error(`An event of the page could not be handled: ${what}`, { cause }));
      }),
      () => this.#related.close(),
      ...endInterruptions(connection, { ...ids, onTaint: () => this.markTainted() }),
    );
  }

  /**
   * A new, empty tab. Downloads are refused in it.
   * @param proxy closes with the tab; without it the tab has no network
   * @throws {ChromeGone} when the browser does not answer
   */
  static async open(connection: Connection, proxy?: TabProxy): Promise<Tab> {
    const send = <M extends Command>(method: M, params: Params<M>, session?: string) =>
      connection.send(method, params, OPEN_TIMEOUT_MS, session).catch((error: unknown) => {
        // A browser that does not even open a tab is broken, whatever the page would have been.
        throw error instanceof CommandTimeout
          ? new ChromeGone('Chrome does not answer.', { cause: error })
          : error;
      });
    const { browserContextId } = await send('Target.createBrowserContext', {
      disposeOnDetach: true,
      // Without `<-loopback>` loopback and link-local go direct.
      ...(proxy && { proxyServer: `127.0.0.1:${proxy.port}`, proxyBypassList: '<-loopback>' }),
    });
    const [{ targetId }] = await Promise.all([
      send('Target.createTarget', {
        url: 'about:blank',
        browserContextId,
        ...(connection.framesOnCommand ? { enableBeginFrameControl: true } : {}),
      }),
      send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId }),
    ]);
    const { sessionId } = await send('Target.attachToTarget', { targetId, flatten: true });
    const tab = new Tab(connection, { contextId: browserContextId, targetId, sessionId }, proxy);
    const evaluate = async (expression: string): Promise<unknown> =>
      (
        await send(
          'Runtime.evaluate',
          { expression, awaitPromise: true, returnByValue: true },
          sessionId,
        )
      ).result.value;
    [tab.windowShape] = await Promise.all([
      newWindowShape(connection, evaluate),
      send('Target.setDiscoverTargets', { discover: true }, sessionId),
      send('Page.enable', {}, sessionId),
      send('Page.setLifecycleEventsEnabled', { enabled: true }, sessionId),
      send('Network.enable', {}, sessionId),
      send('Network.configureDurableMessages', KEPT_BODIES, sessionId).catch((error: unknown) => {
        // An older Chrome has no such command: there, bodies go with their document.
        if (!(error instanceof CommandRefused)) throw error;
      }),
      send(
        'Page.addScriptToEvaluateOnNewDocument',
        { source: pageClockSource(tab.clockChannel) },
        sessionId,
      ),
      tab.#related.start(),
      // The load event of its first window is not to be taken for that of a document.
      evaluate(LOADED),
    ]);
    return tab;
  }

  /** The id of the main frame, which is its tab's. */
  get frameId(): string {
    return this.#ids.targetId;
  }

  get proxyPort(): number | undefined {
    return this.#proxy?.port;
  }

  get mainFrame(): Frame {
    return { frameId: this.#ids.targetId, session: this.#ids.sessionId };
  }

  /** The workers of its page. */
  get workers(): Workers {
    const related = this.#related;
    return {
      get any() {
        return related.workers.size > 0;
      },
      // One answers when it has ended what it is at.
      idle: async () => {
        await Promise.allSettled(
          Array.from(related.workers, (session) =>
            this.sendTo(session, 'Runtime.evaluate', { expression: '0' }),
          ),
        );
      },
    };
  }

  /** True once something happened after which it must not be used again. */
  get tainted(): boolean {
    return this.#tainted;
  }

  /** True when its process died, and not the whole browser. */
  get crashed(): boolean {
    return this.#crashed && this.#connection.isOpen;
  }

  /** True for the address of one of its windows, with any query. */
  isOwn(url: string): boolean {
    const { protocol, hostname = '', pathname } = URL.parse(url) ?? {};
    return protocol === 'http:' && hostname.endsWith(`.${this.site}`) && pathname === '/';
  }

  /**
   * Answers the requests for the addresses of its windows, and no others: what else is asked of that host reaches the proxy,
   * also from workers and frames, which interception would not see. Asked once, because Chrome makes each frame's
   * loaders again for it.
   */
  async answerOwnPages(): Promise<void> {
    if (this.#answersOwnPages) return;
    this.#answersOwnPages = true;
    const answer = async (paused: EventParams<'Fetch.requestPaused'>): Promise<void> => {
      const { requestId, request, frameId, resourceType } = paused;
      if (!this.isOwn(request.url)) {
        // The headers of a URL have its requests paused, too. Others match the patterns: a page knows its site.
        if (request.url.includes(this.site))
          await this.send('Fetch.continueRequest', { requestId });
        return;
      }
      if (frameId !== this.frameId || resourceType !== 'Document') {
        await this.send('Fetch.failRequest', { requestId, errorReason: 'AddressUnreachable' });
        return;
      }
      await this.send('Fetch.fulfillRequest', {
        requestId,
        responseCode: 200,
        responseHeaders: [{ name: 'Content-Type', value: 'text/html; charset=utf-8' }],
        body: Buffer.from(this.ownPage, 'utf8').toString('base64'),
      });
    };
    // The request is gone when its page has moved on meanwhile.
    const heard = (paused: EventParams<'Fetch.requestPaused'>): void =>
      void answer(paused).catch(() => {});
    this.#cleanups.push(this.#connection.on('Fetch.requestPaused', heard, this.#ids.sessionId));
    const address = `http://*.${this.site}/`;
    // A question mark stands for any character unless it is escaped.
    const patterns = [{ urlPattern: address }, { urlPattern: `${address}\\?*` }];
    await this.send('Fetch.enable', { patterns });
  }

  /** Begins a document: every command ends by its deadline, and handlers are its own. */
  begin(deadline: Deadline): void {
    this.#deadline = deadline;
  }

  /** Notes that nothing is known of what a document left behind. */
  markTainted(): void {
    this.#tainted = true;
  }

  /**
   * @throws {PageFailure} `timeout` when the deadline passes first
   * @throws {ChromeGone} when the tab or the browser dies
   */
  async send<M extends Command>(method: M, params: Params<M>): Promise<Result<M>> {
    return await this.sendTo(this.#ids.sessionId, method, params);
  }

  /**
   * The first command of a document, which finds out whether the tab still answers at all.
   * @throws {ChromeGone} when it does not
   */
  async ping<M extends Command>(method: M, params: Params<M>): Promise<void> {
    const answer = await resultWithin(this.send(method, params), this.#deadline.share(0.6, 5_000));
    if (answer === undefined) throw new ChromeGone('Chrome does not answer.');
  }

  /** Registers a handler until the document ends. */
  on<E extends EventName>(event: E, handler: (params: EventParams<E>) => void): () => void {
    const off = this.#connection.on(event, handler, this.#ids.sessionId);
    this.#ofDocument.push(off);
    return off;
  }

  /** Registers a handler for events of the page and of what it started: frames of other sites, workers. */
  onEach<E extends EventName>(
    event: E,
    handler: (params: EventParams<E>, from: string) => void,
  ): void {
    const heard = (params: EventParams<E>, from?: string): void => {
      if (from !== undefined && this.#related.has(from)) handler(params, from);
    };
    this.#ofDocument.push(this.#connection.on(event, heard));
  }

  /** Sends as `send` does, to one of the sessions that `onEach` hears. */
  async sendTo<M extends Command>(
    sessionId: string,
    method: M,
    params: Params<M>,
  ): Promise<Result<M>> {
    try {
      return await this.untilGone(
        this.#connection.send(method, params, this.#deadline.remaining(), sessionId),
      );
    } catch (error) {
      throw error instanceof CommandTimeout ? this.#deadline.failure() : error;
    }
  }

  /** Settles as `promise` does, but rejects at once when the tab dies. */
  async untilGone<T>(promise: Promise<T>): Promise<T> {
    return await this.#life.untilGone(promise);
  }

  /** Ends the document: whatever it still says is not heard. */
  end(): void {
    for (const off of this.#ofDocument.splice(0)) off();
  }

  async clearCookies(): Promise<void> {
    await this.#connection.send(
      'Storage.clearCookies',
      { browserContextId: this.#ids.contextId },
      this.#deadline.remaining(),
    );
  }

  /** @returns whether Chrome confirmed that everything of this tab is gone */
  async close(): Promise<boolean> {
    this.end();
    for (const cleanup of this.#cleanups.splice(0)) cleanup();
    await this.#proxy?.close();
    try {
      await this.#connection.send(
        'Target.disposeBrowserContext',
        { browserContextId: this.#ids.contextId },
        CLOSE_TIMEOUT_MS,
      );
      return true;
    } catch {
      return false;
    }
  }
}
