/** The DevTools websocket of one browser, with what chrome-remote-interface leaves out: time limits. */
import type { EventEmitter } from 'node:events';
import CDP from 'chrome-remote-interface';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';
import { ChromeGone } from './failure.ts';

export type Command = keyof ProtocolMapping.Commands;
export type Params<M extends Command> = ProtocolMapping.Commands[M]['paramsType'][0];
export type Result<M extends Command> = ProtocolMapping.Commands[M]['returnType'];
export type EventName = keyof ProtocolMapping.Events;
export type EventParams<E extends EventName> = ProtocolMapping.Events[E][0];

export class CommandTimeout extends Error {
  override readonly name = 'CommandTimeout';
}

/** Chrome answered a command with an error. */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused';
}

/** The client as it is: its own types are of an older protocol and leave out that it is an emitter. */
interface Client extends EventEmitter {
  send<M extends Command>(method: M, params: Params<M>, sessionId?: string): Promise<Result<M>>;
  close(): Promise<void>;
}

export class Connection {
  readonly #client: Client;
  #open = true;

  private constructor(client: Client) {
    this.#client = client;
    client.on('disconnect', () => {
      this.#open = false;
    });
  }

  /** Attaches to the browser itself: only there can browser contexts be made. */
  static async open(webSocketUrl: string): Promise<Connection> {
    const client: unknown = await CDP({ target: webSocketUrl, local: true });
    return new Connection(client as Client);
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** The function returned takes the handler off again. */
  onDisconnect(handler: () => void): () => void {
    this.#client.on('disconnect', handler);
    return () => {
      this.#client.off('disconnect', handler);
    };
  }

  /**
   * Sends one command, to the browser or to the session of one tab.
   * @throws {CommandTimeout} after `timeoutMs`
   * @throws {CommandRefused} when Chrome answers with an error
   * @throws {ChromeGone} when the websocket closes
   */
  async send<M extends Command>(
    method: M,
    params: Params<M>,
    timeoutMs: number,
    sessionId?: string,
  ): Promise<Result<M>> {
    let timer: NodeJS.Timeout | undefined;
    const elapsed = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new CommandTimeout(`${method} got no answer in ${Math.round(timeoutMs)} ms`));
      }, timeoutMs);
    });
    try {
      return await Promise.race([this.#client.send<M>(method, params, sessionId), elapsed]);
    } catch (cause) {
      if (cause instanceof CommandTimeout) throw cause;
      if (cause instanceof CDP.ProtocolError) {
        const { message, data } = cause.response;
        throw new CommandRefused(data === undefined ? message : `${message} (${data})`, { cause });
      }
      throw new ChromeGone('Chrome ended unexpectedly.', { cause });
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Registers a handler; the function returned takes it off again.
   * @param sessionId without it, events of all sessions are heard; those of the browser name none
   */
  on<E extends EventName>(
    event: E,
    handler: (params: EventParams<E>, from?: string) => void,
    sessionId?: string,
  ): () => void {
    const name = sessionId === undefined ? event : `${event}.${sessionId}`;
    this.#client.on(name, handler);
    return () => {
      this.#client.off(name, handler);
    };
  }

  async close(): Promise<void> {
    this.#open = false;
    await this.#client.close();
  }
}
