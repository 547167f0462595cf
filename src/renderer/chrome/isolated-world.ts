/**
 * A world of a frame that the page's scripts cannot reach: there, what a page did to Promise,
 * Object.prototype or requestAnimationFrame does not exist.
 */
import { CommandRefused } from './connection.ts';
import type { Frame, Tab } from './tab.ts';

export class IsolatedWorld {
  readonly #tab: Tab;
  readonly #frame: Frame;
  #contextId: Promise<number> | undefined;

  constructor(tab: Tab, frame: Frame = tab.mainFrame) {
    this.#tab = tab;
    this.#frame = frame;
  }

  /** Notes that its frame has another document. */
  forget(): void {
    this.#contextId = undefined;
  }

  /**
   * @returns the value, by JSON; undefined where the expression threw, or where a navigation took the
   *   document away: the caller may ask again
   */
  async evaluate<T>(expression: string): Promise<T | undefined> {
    const evaluated = await this.within((contextId) =>
      this.#tab.sendTo(this.#frame.session, 'Runtime.evaluate', {
        expression,
        contextId,
        awaitPromise: true,
        returnByValue: true,
      }),
    );
    if (evaluated === undefined || evaluated.exceptionDetails !== undefined) return undefined;
    return evaluated.result.value as T;
  }

  /** @returns what the commands return; undefined where a navigation took the document away */
  async within<T>(commands: (contextId: number) => Promise<T>): Promise<T | undefined> {
    try {
      // One promise, so that those who ask at the same time share one world.
      this.#contextId ??= this.#create();
      return await commands(await this.#contextId);
    } catch (error) {
      if (!(error instanceof CommandRefused)) throw error;
      this.#contextId = undefined;
      return undefined;
    }
  }

  async #create(): Promise<number> {
    const { frameId, session } = this.#frame;
    const params = { frameId, worldName: 'pressledger' };
    return (await this.#tab.sendTo(session, 'Page.createIsolatedWorld', params)).executionContextId;
  }
}
