/**
 * A world in each frame of a document that the page's scripts cannot reach, with the functions of `in-page/settle.js` and
 * `in-page/shown-name.js`.
 */
import { readFileSync } from 'node:fs';
import { CommandRefused } from '../browser/connection.ts';
import type { Frame, Tab } from './tab.ts';

/** The most frames that are asked; the clocks of the others go as real time does. */
const MAX_FRAMES = 20;

const SETTLE = ['in-page/settle.js', 'in-page/shown-name.js']
  .map((file) => readFileSync(new URL(file, import.meta.url), 'utf8'))
  .join('\n');

interface World extends Frame {
  /** One promise, so that those who ask at the same time share one world; undefined before the frame's first question. */
  contextId: Promise<number> | undefined;
}

/** It must start before the document does. */
export class Worlds {
  readonly #tab: Tab;
  /** By frames; the main one is the first. */
  readonly #worlds = new Map<string, World>();

  constructor(tab: Tab) {
    this.#tab = tab;
    const add = (frameId: string, session: string): void => {
      if (this.#worlds.size > MAX_FRAMES) return;
      this.#worlds.set(frameId, { frameId, session, contextId: undefined });
    };
    add(tab.frameId, tab.mainFrame.session);
    tab.onEach('Page.frameAttached', ({ frameId }, session) => add(frameId, session));
    // A frame that gets a process of its own is that one's session's.
    tab.onEach('Target.attachedToTarget', ({ targetInfo, sessionId }) => {
      if (targetInfo.type === 'iframe') add(targetInfo.targetId, sessionId);
    });
    tab.onEach('Page.frameNavigated', ({ frame }) => {
      const world = this.#worlds.get(frame.id);
      if (world !== undefined) world.contextId = undefined;
    });
    tab.onEach('Page.frameDetached', ({ frameId }, session) => {
      if (this.#worlds.get(frameId)?.session === session) this.#worlds.delete(frameId);
    });
  }

  /** True if the document has no frames. */
  get isOne(): boolean {
    return this.#worlds.size === 1;
  }

  /**
   * Calls a function of `in-page/settle.js` in the main frame.
   * @param question such as `frames(2)`
   * @returns the value, by JSON; undefined if it threw or a navigation took the document away: the caller may ask
   *   again
   * @throws {PageFailure} `timeout` when a script does not end before the deadline
   */
  async ask<T>(question: string): Promise<T | undefined> {
    const [main] = this.#worlds.values();
    return main && (await this.#ask<T>(main, question));
  }

  /** The same in each frame, as far as they are followed; the main frame's answer is the first. */
  async askAll<T>(question: string): Promise<readonly (T | undefined)[]> {
    return await Promise.all(
      Array.from(this.#worlds.values(), (world) => this.#ask<T>(world, question)),
    );
  }

  async #ask<T>(world: World, question: string): Promise<T | undefined> {
    try {
      world.contextId ??= this.#create(world);
      return await this.#evaluate<T>(world, `settle.${question}`, await world.contextId);
    } catch (error) {
      if (!(error instanceof CommandRefused)) throw error;
      world.contextId = undefined;
      return undefined;
    }
  }

  async #create(world: World): Promise<number> {
    const { frameId, session } = world;
    const asked = { frameId, worldName: 'pressledger' };
    const { executionContextId } = await this.#tab.sendTo(
      session,
      'Page.createIsolatedWorld',
      asked,
    );
    void this.#evaluate(world, SETTLE, executionContextId).catch(() => {});
    return executionContextId;
  }

  async #evaluate<T>(
    { session }: World,
    expression: string,
    contextId: number,
  ): Promise<T | undefined> {
    const asked = { expression, contextId, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.#tab.sendTo(session, 'Runtime.evaluate', asked);
    return exceptionDetails === undefined ? (result.value as T) : undefined;
  }
}
