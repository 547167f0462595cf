import type { Socket } from 'node:net';
import type { Budget } from '../budgets.ts';

/**
 * The open connections. Where there is no place for one more, the one that has been without a request for
 * longest is ended: idle connections cost a client nothing, so they must not keep others out.
 */
export class Connections {
  readonly #budget: Budget | undefined;
  readonly #places = new Map<Socket, () => void>();
  /** Those without a request under way. Node takes one that has sent nothing yet for busy. */
  readonly #quiet = new Set<Socket>();

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
  }

  quiet(socket: Socket): void {
    if (this.#places.has(socket)) this.#quiet.add(socket);
  }

  endQuiet(): void {
    for (const socket of this.#quiet) socket.destroy();
  }

  #place(budget: Budget): (() => void) | undefined {
    const free = budget.take();
    const [longest] = this.#quiet;
    if (free !== undefined || longest === undefined) return free;
    this.#leave(longest);
    longest.destroy();
    return budget.take();
  }

  #leave(socket: Socket): void {
    this.#places.get(socket)?.();
    this.#places.delete(socket);
    this.#quiet.delete(socket);
  }
}
