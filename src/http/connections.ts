import type { Socket } from 'node:net';
import type { Budget } from '../budgets.ts';

/**
 * The open connections. Where there is no place for one more, the one that has been without a request for
 * longest is ended, or else the one that has longest not taken the whole of its answer: neither costs a
 * client anything, so they must not keep others out.
 */
export class Connections {
  readonly #budget: Budget | undefined;
  readonly #places = new Map<Socket, () => void>();
  /** Those without a request under way. Node takes one that has sent nothing yet for busy. */
  readonly #quiet = new Set<Socket>();
  readonly #busy = new Set<Socket>();

  constructor(budget?: Budget) {
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

  busy(socket: Socket): void {
    this.#quiet.delete(socket);
    this.#busy.add(socket);
  }

  quiet(socket: Socket): void {
    this.#busy.delete(socket);
    if (this.#places.has(socket)) this.#quiet.add(socket);
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
    for (const socket of this.#busy) if (socket.writableLength > 0) return socket;
    return undefined;
  }

  #leave(socket: Socket): void {
    this.#places.get(socket)?.();
    this.#places.delete(socket);
    this.#quiet.delete(socket);
    this.#busy.delete(socket);
  }
}
