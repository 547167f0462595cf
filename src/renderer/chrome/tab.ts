/** One tab in a browser context of its own: what one account's documents see of Chrome, and nothing else. */
import { randomBytes } from 'node:crypto';
import { resultWithin } from '../../async/with-timeout.ts';
import {
  type Command,
  CommandRefused,
  CommandTimeout,
  type Connection,
  type EventName,
  type EventParams,
  type Params,
  type Result,
} from '../browser/connection.ts';
import { ChromeGone, crashReason, PageFailure } from '../browser/failure.ts';
import { Deadline } from './deadline.ts';
import { Frames } from './frames.ts';
import { type FixedWorld, OF_THE_BROWSER, type TabIds, Targets, type Workers } from './targets.ts';

/** A busy machine may take long. The next document waits for it, and its time does not run meanwhile. */
const CLOSE_TIMEOUT_MS = 3_000;
/** Of a picture: it is to show what is there, and to be small. */
const JPEG = { format: 'jpeg', quality: 50 } as const;
/** Limits on the bodies that Chrome keeps for us beyond the document that fetched them. */
const KEPT_BODIES = { maxTotalBufferSize: 32 << 20, maxResourceBufferSize: 8 << 20 };
/** A browser that takes longer for a step of opening a tab is not going to. */
const OPEN_TIMEOUT_MS = 10_000;
/** The site of every deterministic document. Each is in a browser context of its own. */
const FIXED_SITE = 'document.invalid';

/** A frame, and the DevTools session that knows it. */
export interface Frame {
  readonly frameId: string;
  readonly session: string;
}

/** The only way to the network for the documents of one tab, so that each request names its tab by it. */
export interface TabProxy {
  /** On 127.0.0.1. */
  readonly port: number;
  /** Its password, which Chrome must send with each request. */
  readonly signIn: { readonly username: string; readonly password: string };
  /** The domain of its windows, at whose addresses it asks for the password and answers with an empty page. */
  readonly site: string;
  addSite(site: string): void;
  close(): Promise<void>;
}

export class Tab {
  readonly #connection: Connection;
  readonly #ids: TabIds;
  readonly #targets: Targets;
  /** Undefined for a tab without network. */
  readonly proxy: TabProxy | undefined;
  readonly frames: Frames;
  /** The domain of every document's host in this tab. One site needs one process. */
  site: string;
  /** The name of the events by which its documents' clocks are reached. Pages do not know it. */
  readonly clockChannel = randomBytes(10).toString('hex');
  /** What its first window was like. */
  shape = '';
  /** The window that waits for HTML at an origin of its own, if there is one. */
  window: { readonly origin: string; readonly loaderId: string } | undefined;
  /** The reason why nothing more can be asked of it. */
  #gone: Error | undefined;
  /** Callbacks for its end. One promise that all race against would keep every answer. */
  readonly #waiting = new Set<(gone: Error) => void>();
  /** Takes every handler of this tab off the connection, which outlives it. */
  readonly #cleanups: (() => void)[];
  #ofDocument: (() => void)[] = [];
  #deadline = new Deadline(OPEN_TIMEOUT_MS);
  #tainted = false;
  /** True if time and chance are the same for its document each time. */
  isFixed = false;
  /** True if another document was in it before. */
  isReused = false;

  private constructor(connection: Connection, ids: TabIds, proxy: TabProxy | undefined) {
    this.#connection = connection;
    this.#ids = ids;
    this.proxy = proxy;
    this.site = proxy?.site ?? '';
    this.frames = new Frames(
      connection.framesOnCommand
        ? () => this.send('HeadlessExperimental.beginFrame', {})
        : undefined,
    );
    this.#targets = new Targets(
      connection,
      ids,
      this.clockChannel,
      () => this.markTainted(),
      () => this.giveUp(new PageFailure('page_crashed', 'The page closed its own window.')),
    );
    this.#cleanups = [
      connection.on('Target.targetCrashed', (crash) => {
        if (crash.targetId === ids.targetId) this.giveUp(crashReason(crash));
      }),
      connection.onDisconnect((reason) => {
        this.giveUp(reason);
        void proxy?.close();
      }),
      connection.onHandlerError((cause, from) => {
        if (from !== undefined && !this.#targets.has(from)) return;
        const what = cause instanceof Error ? cause.message : String(cause);
        this.giveUp(new Error(`An event of the page could not be handled: ${what}`, { cause }));
      }),
      () => this.#targets.close(),
    ];
  }

  /**
   * A new tab. Downloads are refused in it.
   * @param proxy closes with the tab; without it the tab has no network
   * @param prepare is called before it runs anything, and resolves when it shows what it is to show
   * @throws {ChromeGone} when the browser does not answer
   */
  static async open(
    connection: Connection,
    proxy?: TabProxy,
    prepare: (tab: Tab) => Promise<void> = async () => {},
  ): Promise<Tab> {
    const send = <M extends Command>(method: M, params: Params<M>, session?: string) =>
      connection.send(method, params, OPEN_TIMEOUT_MS, session);
    const [{ browserContextId }] = await Promise.all([
      send('Target.createBrowserContext', {
        disposeOnDetach: true,
        // Without `<-loopback>` loopback and link-local go direct.
        ...(proxy && { proxyServer: `127.0.0.1:${proxy.port}`, proxyBypassList: '<-loopback>' }),
      }),
      send('Target.setAutoAttach', OF_THE_BROWSER),
    ]);
    let sessionId = '';
    const off = connection.on('Target.attachedToTarget', ({ targetInfo, sessionId: attached }) => {
      if (targetInfo.browserContextId === browserContextId) sessionId = attached;
    });
    const [{ targetId }] = await Promise.all([
      send('Target.createTarget', {
        url: 'about:blank',
        browserContextId,
        ...(connection.framesOnCommand ? { enableBeginFrameControl: true } : {}),
      }),
      send('Browser.setDownloadBehavior', { behavior: 'deny', browserContextId }),
    ]).finally(off);
    const tab = new Tab(connection, { contextId: browserContextId, targetId, sessionId }, proxy);
    await Promise.all([
      send('Page.enable', {}, sessionId),
      send('Page.setLifecycleEventsEnabled', { enabled: true }, sessionId),
      send('Network.enable', {}, sessionId),
      send('Network.configureDurableMessages', KEPT_BODIES, sessionId).catch((error: unknown) => {
        // An older Chrome has no such command: there, bodies go with their document.
        if (!(error instanceof CommandRefused)) throw error;
      }),
      tab.#targets.start(),
      prepare(tab),
      send('Runtime.runIfWaitingForDebugger', undefined, sessionId),
    ]).catch(async (error: unknown) => {
      await tab.close();
      throw error;
    });
    return tab;
  }

  /** The id of the main frame, which is its tab's. */
  get frameId(): string {
    return this.#ids.targetId;
  }

  get mainFrame(): Frame {
    return { frameId: this.#ids.targetId, session: this.#ids.sessionId };
  }

  /** The workers of its page. */
  get workers(): Workers {
    return this.#targets.workers;
  }

  /** True once something happened after which it must not be used again. */
  get tainted(): boolean {
    return this.#tainted;
  }

  /** Fixes time and chance for one document in a tab that was never used. No other follows. */
  async fix(world: FixedWorld): Promise<void> {
    this.isFixed = true;
    this.markTainted();
    // A page can ask for its own address.
    this.site = FIXED_SITE;
    this.proxy?.addSite(FIXED_SITE);
    await this.#targets.fix(world);
  }

  /** Begins a document: every command ends by its deadline, and handlers are its own. */
  begin(deadline: Deadline): void {
    this.#deadline = deadline;
  }

  /** Notes that nothing is known of what a document left behind. */
  markTainted(): void {
    this.#tainted = true;
  }

  /** Ends whatever is under way in it, with the first reason that it is given. */
  giveUp(reason: Error): void {
    this.#tainted = true;
    this.#gone ??= reason;
    for (const tell of this.#waiting) tell(this.#gone);
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
    const answer = await resultWithin(this.send(method, params), this.#deadline.share('ping'));
    if (answer === undefined) throw new ChromeGone('Chrome does not answer.');
  }

  /**
   * Tells the page something that holds as long as the tab, and each frame and worker of its own process before it runs.
   * The tab must not be used again.
   */
  async emulate<M extends Command>(method: M, params: Params<M>): Promise<void> {
    this.markTainted();
    this.#targets.tellEach(method, params);
    await this.send(method, params);
  }

  /**
   * Takes a picture of what it shows, also after the deadline: a JPEG in base64, undefined where it draws nothing.
   * @throws {CommandRefused} the frame before it has not ended
   */
  async picture(ms: number): Promise<string | undefined> {
    const send = <M extends Command>(method: M, params: Params<M>) =>
      this.untilGone(this.#connection.send(method, params, ms, this.#ids.sessionId));
    if (!this.#connection.framesOnCommand) return (await send('Page.captureScreenshot', JPEG)).data;
    return (await send('HeadlessExperimental.beginFrame', { screenshot: JPEG })).screenshotData;
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
      if (from !== undefined && this.#targets.has(from)) handler(params, from);
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
    const { promise: gone, reject } = Promise.withResolvers<never>();
    if (this.#gone) {
      promise.catch(() => {});
      throw this.#gone;
    }
    this.#waiting.add(reject);
    try {
      return await Promise.race([promise, gone]);
    } finally {
      this.#waiting.delete(reject);
    }
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
    await this.proxy?.close();
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
