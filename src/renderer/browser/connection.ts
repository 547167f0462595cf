/**
 * The DevTools protocol of one browser over the two pipes of `--remote-debugging-pipe`: no port that
 * anybody else could connect to. A message is a JSON text that ends with a NUL byte.
 */
import { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.js';
import { sizeText } from '../../text/size.ts';
import { ChromeGone, PageFailure } from './failure.ts';

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

/** An answer, which has an id, or an event, which has a method. */
interface Message {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string; readonly data?: string };
  readonly method?: string;
  readonly params?: unknown;
  readonly sessionId?: string;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/**
 * Answers to our commands have at most 48 MiB, the text of a body of 8 MiB with each character of it escaped; but for
 * pictures, in base64. A page can make Chrome send more: it may log what it likes.
 */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
const MOST = `more than ${sizeText(MAX_MESSAGE_BYTES)} at once.`;
const LONG_EVENT =
  `The page made the browser report ${MOST} A very long text in the console, in a script error or in an address can be ` +
  'the reason.';
const LONG_ANSWER =
  `The browser answered with ${MOST} A picture of very many pixels can be the reason: ask for jpeg or webp, or for a ` +
  'smaller viewport or device_scale_factor.';

/** As many of an address are read. */
const MAX_URL_CHARACTERS = 2_048;
const EVENT = Buffer.from('{"method":');
const DATA_URL = Buffer.from('"data:');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const DISCONNECT = Symbol('disconnect');
const HANDLER_ERROR = Symbol('handler error');

const ended = (): ChromeGone => new ChromeGone('Chrome ended unexpectedly.');

export class Connection {
  /** True where this Chrome draws frames on command only. */
  readonly framesOnCommand: boolean;
  readonly #commands: Writable;
  readonly #messages: Readable;
  readonly #waiting = new Map<number, Waiting>();
  readonly #events = new EventEmitter();
  /** Commands of this turn of the event loop: one write wakes Chrome once. */
  #unsent: string[] = [];
  /** The pieces of a message whose end has not come yet. */
  #begun: Buffer[] = [];
  #begunBytes = 0;
  #lastId = 0;
  #open = true;

  /**
   * Attaches to the browser itself: only there can browser contexts be made.
   * @param commands Chrome's descriptor 3
   * @param messages Chrome's descriptor 4
   */
  constructor(commands: Writable, messages: Readable, framesOnCommand = false) {
    this.framesOnCommand = framesOnCommand;
    this.#commands = commands;
    this.#messages = messages;
    messages.on('data', (chunk: Buffer) => this.#receive(chunk));
    for (const pipe of [commands, messages]) {
      // An error of a pipe also closes it.
      pipe.on('error', () => {}).on('close', () => this.close());
    }
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /**
   * Registers a handler that is told why nothing more can be sent.
   * @returns a function that takes the handler off again
   */
  onDisconnect(handler: (reason: ChromeGone | PageFailure) => void): () => void {
    return this.#listen(DISCONNECT, handler);
  }

  /**
   * Registers a handler for an error that an event handler threw. The event's page is not followed any
   * more, so its tab must fail its document.
   * @returns a function that takes the handler off again
   */
  onHandlerError(handler: (error: unknown, sessionId?: string) => void): () => void {
    return this.#listen(HANDLER_ERROR, handler);
  }

  /**
   * Sends one command, to the browser or to the session of one tab.
   * @throws {CommandTimeout} after `timeoutMs`
   * @throws {CommandRefused} when Chrome answers with an error
   * @throws {ChromeGone} when a pipe closes
   */
  async send<M extends Command>(
    method: M,
    params: Params<M>,
    timeoutMs: number,
    sessionId?: string,
  ): Promise<Result<M>> {
    if (!this.#open) throw ended();
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const timer = setTimeout(() => {
      this.#waiting.delete(id);
      reject(new CommandTimeout(`${method} got no answer in ${Math.round(timeoutMs)} ms`));
    }, timeoutMs);
    this.#waiting.set(id, { resolve, reject, timer });
    if (this.#unsent.length === 0) process.nextTick(() => this.#flush());
    this.#unsent.push(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return (await promise) as Result<M>;
  }

  /**
   * Registers a handler. An error that it throws goes to `onHandlerError`: it never ends the thread.
   * @param sessionId without it, events of all sessions are heard; those of the browser name none
   * @returns a function that takes the handler off again
   */
  on<E extends EventName>(
    event: E,
    handler: (params: EventParams<E>, from?: string) => void,
    sessionId?: string,
  ): () => void {
    const contained = (params: EventParams<E>, from?: string): void => {
      try {
        handler(params, from);
      } catch (error) {
        // An event without a tab has no page to blame, and what this browser does is not followed any more.
        if (!this.#events.emit(HANDLER_ERROR, error, from)) this.close();
      }
    };
    return this.#listen(sessionId === undefined ? event : `${event}.${sessionId}`, contained);
  }

  /**
   * Closes both pipes, at which Chrome ends by itself unless it stands still.
   * @param reason is told to those who wait; later commands are rejected with `ChromeGone`
   */
  close(reason: ChromeGone | PageFailure = ended()): void {
    if (!this.#open) return;
    this.#open = false;
    this.#commands.destroy();
    this.#messages.destroy();
    // Tabs first: the reason may be a failure of their page, and commands know only that Chrome is gone.
    this.#events.emit(DISCONNECT, reason);
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(ended());
    }
    this.#waiting.clear();
  }

  #listen(name: string | symbol, handler: (...params: never[]) => void): () => void {
    const listener = handler as (...params: unknown[]) => void;
    this.#events.on(name, listener);
    return () => {
      this.#events.off(name, listener);
    };
  }

  #flush(): void {
    const commands = this.#unsent.splice(0).join('');
    if (this.#open) this.#commands.write(commands);
  }

  /** Dispatches whole messages only: a chunk may end anywhere, also within a character. */
  #receive(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(0); end >= 0 && this.#open; end = chunk.indexOf(0, from)) {
      this.#begun.push(chunk.subarray(from, end));
      const [whole = chunk, ...more] = this.#begun;
      const message = more.length === 0 ? whole : withoutData(Buffer.concat(this.#begun));
      this.#begun = [];
      this.#begunBytes = 0;
      this.#dispatch(message.toString('utf8'));
      from = end + 1;
    }
    if (from === chunk.length) return;
    this.#begun.push(chunk.subarray(from));
    this.#begunBytes += chunk.length - from;
    if (this.#begunBytes > MAX_MESSAGE_BYTES) {
      const isEvent = Buffer.concat(this.#begun, EVENT.length).equals(EVENT);
      this.close(new PageFailure('too_large', isEvent ? LONG_EVENT : LONG_ANSWER));
    }
  }

  #dispatch(text: string): void {
    let message: Message;
    try {
      message = JSON.parse(text) as Message;
    } catch {
      this.close(new ChromeGone('Chrome sent a message that is not JSON.'));
      return;
    }
    const { id, result, error, method, params, sessionId } = message;
    if (method !== undefined) {
      this.#events.emit(method, params, sessionId);
      if (sessionId !== undefined) this.#events.emit(`${method}.${sessionId}`, params, sessionId);
      return;
    }
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    // The time of its command was over.
    if (id === undefined || waiting === undefined) return;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    if (error === undefined) waiting.resolve(result);
    else {
      const { message: what, data } = error;
      waiting.reject(new CommandRefused(data === undefined ? what : `${what} (${data})`));
    }
  }
}

/**
 * Shortens the data URLs of a long event. Chrome names each picture of a document several times, with all of its data. To
 * take that apart would cost more than all else that is said of the document.
 */
function withoutData(message: Buffer): Buffer {
  if (!message.subarray(0, EVENT.length).equals(EVENT)) return message;
  const kept: Buffer[] = [];
  let from = 0;
  for (let url = message.indexOf(DATA_URL); url >= 0; ) {
    const cut = url + 1 + MAX_URL_CHARACTERS;
    const end = message.indexOf(QUOTE, url + 1);
    // With a backslash in it the end may be another one, and the cut may part it from what it escapes.
    if (cut < end && !message.subarray(url, end).includes(BACKSLASH)) {
      kept.push(message.subarray(from, cut));
      from = end;
    }
    url = end < 0 ? -1 : message.indexOf(DATA_URL, end);
  }
  return Buffer.concat([...kept, message.subarray(from)]);
}
