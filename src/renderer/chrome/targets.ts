/**
 * What a page opens. Frames of other sites and workers have processes or threads of their own, of which the page's session
 * tells nothing. Chrome attaches a session to each before it runs, so that none of its requests is missed. Dialogs and
 * windows are answered or closed at once.
 */
import { readFileSync } from 'node:fs';
import type { Command, Connection, EventParams, Params } from '../browser/connection.ts';

/** The most that are followed. More of them run unwatched: a page may start workers without end. */
const MAX_SESSIONS = 100;
const TIMEOUT_MS = 10_000;
const readScript = (name: string): string =>
  readFileSync(new URL(`in-page/${name}.js`, import.meta.url), 'utf8');
const PAGE_CLOCK = readScript('page-clock');
const NATIVE_WORK = readScript('native-work');

/** What a deterministic document is told of time and chance. */
export interface FixedWorld {
  /** Milliseconds since the epoch: where its clock begins. */
  readonly time: number;
  /** Four whole numbers of 32 bits. */
  readonly seed: readonly number[];
}

export interface Workers {
  /** True when there are some. */
  readonly any: boolean;
  /** Resolves when their scripts rest, to the number of works that Chrome does for them. */
  works(): Promise<number>;
}

/** Scripts that run before those of a document. */
interface Sources {
  readonly frame: string;
  readonly worker: string;
  /** Evaluates to the works under way for a worker. */
  readonly worksOfWorker: string;
}

function sourcesOf(channel: string, world?: FixedWorld): Sources {
  const name = JSON.stringify(channel);
  const fixed = world === undefined ? '' : readScript('fixed-world');
  const fix =
    world === undefined ? '' : `startFixedWorld(${world.time}, ${JSON.stringify(world.seed)})`;
  const inFrame = `startPageClock(${name}, countNativeWork, () => { ${fix} })`;
  const inWorker = `${fix}; const counts = countNativeWork();
    performance.addEventListener(${name}, ({ detail }) => Object.assign(detail, counts))`;
  return {
    frame: `(() => { ${fixed}; ${NATIVE_WORK}; ${PAGE_CLOCK}; ${inFrame} })()`,
    worker: `(() => { ${fixed}; ${NATIVE_WORK}; ${inWorker} })()`,
    worksOfWorker: `(() => { const detail = { works: 0, pictures: 0 };
      performance.dispatchEvent(new CustomEvent(${name}, { detail }));
      return detail.works + detail.pictures })()`,
  };
}

/** What Chrome calls a tab. */
export interface TabIds {
  readonly contextId: string;
  readonly targetId: string;
  readonly sessionId: string;
}

type AutoAttach = Params<'Target.setAutoAttach'>;
const attachTo = (...types: readonly string[]): AutoAttach => ({
  autoAttach: true,
  waitForDebuggerOnStart: true,
  flatten: true,
  filter: types.map((type) => ({ type })),
});
const OF_A_PAGE = attachTo('iframe', 'worker', 'service_worker');
// Pages may share workers, so those are the browser's. A new tab waits until it is told to go on.
export const OF_THE_BROWSER = attachTo('page', 'shared_worker');

export class Targets {
  readonly #connection: Connection;
  readonly #ids: TabIds;
  readonly #channel: string;
  #sources: Sources;
  #clockScript = '';
  readonly #onTaint: () => void;
  readonly #sessions: Set<string>;
  readonly #workers = new Set<string>();
  /** What each is told before it runs. */
  readonly #first: ((sessionId: string) => void)[] = [];
  readonly #off: readonly (() => void)[];
  #attached = 0;

  /**
   * @param channel the name of the events by which these scripts are reached
   * @param onTaint is called for each that may leave something behind
   * @param onClosed is called when the page's own window is closed
   */
  constructor(
    connection: Connection,
    ids: TabIds,
    channel: string,
    onTaint: () => void,
    onClosed: () => void,
  ) {
    const { sessionId: own } = ids;
    this.#connection = connection;
    this.#ids = ids;
    this.#channel = channel;
    this.#sources = sourcesOf(channel);
    this.#onTaint = onTaint;
    this.#sessions = new Set([own]);
    this.#off = [
      connection.on('Target.attachedToTarget', (attached, by) => this.#attach(attached, by)),
      connection.on('Target.detachedFromTarget', ({ sessionId }) => {
        if (sessionId === own) onClosed();
        this.#sessions.delete(sessionId);
        this.#workers.delete(sessionId);
      }),
      connection.on('Target.targetCreated', (created) => this.#closeWindow(created), own),
      connection.on('Page.javascriptDialogOpening', (dialog) => this.#answer(dialog), own),
    ];
  }

  async start(): Promise<void> {
    const { sessionId } = this.#ids;
    await Promise.all([
      this.#addClock(),
      this.#connection.send('Target.setDiscoverTargets', { discover: true }, TIMEOUT_MS, sessionId),
      this.#connection.send('Target.setAutoAttach', OF_A_PAGE, TIMEOUT_MS, sessionId),
    ]);
  }

  /** Gives its next documents, and the workers that they start, a fixed world. It cannot be taken back. */
  async fix(world: FixedWorld): Promise<void> {
    const identifier = this.#clockScript;
    const { sessionId } = this.#ids;
    this.#sources = sourcesOf(this.#channel, world);
    const send = <M extends Command>(method: M, params: Params<M>) =>
      this.#connection.send(method, params, TIMEOUT_MS, sessionId);
    await Promise.all([
      send('Page.removeScriptToEvaluateOnNewDocument', { identifier }),
      this.#addClock(),
      // Animations stand at their beginning until they are brought to their end.
      send('Animation.enable', undefined).then(() =>
        send('Animation.setPlaybackRate', { playbackRate: 0 }),
      ),
    ]);
  }

  async #addClock(): Promise<void> {
    const { identifier } = await this.#connection.send(
      'Page.addScriptToEvaluateOnNewDocument',
      { source: this.#sources.frame },
      TIMEOUT_MS,
      this.#ids.sessionId,
    );
    this.#clockScript = identifier;
  }

  /** True for the session of the page and those of what it started. */
  has(sessionId: string): boolean {
    return this.#sessions.has(sessionId);
  }

  /** The workers that run, but for service workers, which end by themselves. */
  get workers(): Workers {
    const { worksOfWorker: expression } = this.#sources;
    const ask = async (session: string): Promise<number> => {
      const answer = this.#connection.send('Runtime.evaluate', { expression }, TIMEOUT_MS, session);
      // One that has ended answers with an error.
      const { result } = await answer.catch(() => ({ result: { value: 0 } }));
      return Number(result.value) || 0;
    };
    return {
      any: this.#workers.size > 0,
      works: async () => {
        const all = await Promise.all(Array.from(this.#workers, ask));
        return all.reduce((sum, each) => sum + each, 0);
      },
    };
  }

  /** Has each that starts from now on be told this before it runs. One that knows no such command goes without. */
  tellEach<M extends Command>(method: M, params: Params<M>): void {
    this.#first.push((sessionId) => this.#tell(method, params, sessionId));
  }

  close(): void {
    for (const off of this.#off) off();
  }

  #attach({ sessionId, targetInfo }: EventParams<'Target.attachedToTarget'>, by?: string): void {
    const ours =
      by === undefined
        ? targetInfo.type === 'shared_worker' && targetInfo.browserContextId === this.#ids.contextId
        : this.#sessions.has(by);
    if (!ours) return;
    const send = <M extends Command>(method: M, params: Params<M>): void =>
      this.#tell(method, params, sessionId);
    this.#attached += 1;
    if (this.#attached <= MAX_SESSIONS) {
      this.#sessions.add(sessionId);
      if (targetInfo.type === 'iframe') {
        send('Page.enable', {});
        send('Page.addScriptToEvaluateOnNewDocument', { source: this.#sources.frame });
      } else {
        if (targetInfo.type !== 'service_worker') this.#workers.add(sessionId);
        send('Runtime.evaluate', { expression: this.#sources.worker });
      }
      send('Network.enable', {});
      for (const tell of this.#first) tell(sessionId);
      send('Target.setAutoAttach', OF_A_PAGE);
    }
    send('Runtime.runIfWaitingForDebugger', undefined);
  }

  #closeWindow({ targetInfo }: EventParams<'Target.targetCreated'>): void {
    const { type, targetId, browserContextId } = targetInfo;
    if (browserContextId !== this.#ids.contextId || targetId === this.#ids.targetId) return;
    // A full Chrome's own, such as its address bar's: no page opens one.
    if (type === 'browser_ui') return;
    // Nobody knows for sure when frames and workers have ended, either.
    this.#onTaint();
    if (type === 'page') this.#tell('Target.closeTarget', { targetId });
  }

  #answer({ type }: EventParams<'Page.javascriptDialogOpening'>): void {
    // A page may not keep itself from being left; every other question is answered with no.
    const accept = type === 'beforeunload';
    if (!accept) this.#onTaint();
    this.#tell('Page.handleJavaScriptDialog', { accept }, this.#ids.sessionId);
  }

  /** Sends what may be gone again before it hears. */
  #tell<M extends Command>(method: M, params: Params<M>, sessionId?: string): void {
    this.#connection.send(method, params, TIMEOUT_MS, sessionId).catch(() => {});
  }
}
