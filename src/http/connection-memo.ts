import type { Socket } from 'node:net';

/**
 * Remembers, for each connection, what was last made of a text that came over it: a client sends the
 * same credential with every request. Nothing outlives its connection, and no connection is answered
 * from what came over another.
 */
export class ConnectionMemo<Made> {
  readonly #last = new WeakMap<Socket, { readonly text: string; readonly made: Made }>();

  of(socket: Socket, text: string, make: (text: string) => Made): Made {
    const known = this.#last.get(socket);
    if (known?.text === text) return known.made;
    const made = make(text);
    this.#last.set(socket, { text, made });
    return made;
  }
}
