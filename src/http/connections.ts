import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Budget } from '../limits/budgets.ts';

/**
 * The open connections. Where there is no place for one more, the one that has been without a request for
 * longest is ended, or else the one that has longest not sent the whole of its request or not taken the
 * whole of its answer: none of these costs a client anything, so they must not keep others out.
 */
export class Connections {
  readonly #budget: Budget | undefined;
  readonly #places = new Map<Socket, () => void>();
  /** Those without a request under way. Node takes one that has sent nothing yet for busy. */
  readonly #quiet = new Set<Socket>();
  readonly #busy = new Map<Socket, { readonly request: IncomingMessage; readonly since: number }>();
  readonly #sendingMs: number;

  /** @param sendingMs a request that takes longer to arrive gives way */
  constructor(sendingMs: number, budget?: Budget) {
    this.#sendingMs = sendingMs;
    this.#budget = budget;
  }

  /** @returns false: there is no place for it, and all others are at work */
  admit(socket: Socket): boolean {
    const place = this.#budget === undefined ? () => {} : this.#place(this.#budget);
    if (place === undefined) return false;
    this.#places.set(socket, place);
    this.#quiet.add(socket);
    socket.once('close', () => this.#leave(socket));
    return true;
  }

  has(socket: Socket): boolean {
    return this.#places.has(socket);
  }

  /** The headers of a request have come. */
  busy(request: IncomingMessage): void {
    this.#quiet.delete(request.socket);
    this.#busy.set(request.socket, { request, since: performance.now() });
  }

  quiet(socket: Socket): void {
    this.#busy.delete(socket);
    if (this.#places.has(socket)) this.#quiet.add(socket);
  }

  /** True if its client waits for us: the whole request has come, and the client has taken all that is written. */
  isAtWork(socket: Socket): boolean {
    return this.#busy.get(socket)?.request.complete === true && socket.writableLength === 0;
  }

  endQuiet(): void {
    for (const socket of this.#quiet) socket.destroy();
  }

  #place(budget: Budget): (() => void) | undefined {
    const free = budget.take();
    if (free !== undefined) return free;
    const [longest = this.#stalled()] = this.#quiet;
    if (longest === undefined) return undefined;
    this.#leave(longest);
    longest.destroy();
    return budget.take();
  }

  #stalled(): Socket | undefined {
    const late = performance.now() - this.#sendingMs;
    for (const [socket, { request, since }] of this.#busy) {
      if (socket.writableLength > 0 || (!request.complete && since <= late)) return socket;
    }
    return undefined;
  }

  #leave(socket: Socket): void {
    this.#places.get(socket)?.();
    this.#places.delete(socket);
    this.#quiet.delete(socket);
    this.#busy.delete(socket);
  }
}
