/** A TCP proxy in front of a real server, for what happens to connections between machines. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  /** Nothing passes any more, and nobody is told. */
  dead: boolean;
}

export class BreakableWire {
  readonly #to: { readonly host: string; readonly port: number };
  readonly #links = new Set<Link>();
  #server: Server | undefined;
  #port = 0;
  /** What clients send arrives, what the server answers does not. */
  answersAreLost = false;
  /** Bytes of both directions arrive so much later. */
  delayMs = 0;
  /** Bytes that pass in a second on each connection, in each direction. */
  bytesPerSecond = Number.POSITIVE_INFINITY;
  /** Connections so far. */
  connections = 0;
  /** Bytes that clients have sent so far. */
  sentBytes = 0;

  constructor(to: { readonly host: string; readonly port: number }) {
    this.#to = to;
  }

  /** `host:port` for clients; the same after a break. */
  get place(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Takes connections: at first, and again after `close`. */
  async open(): Promise<void> {
    const server = createServer((client) => this.#join(client));
    await new Promise<void>((listening) => server.listen(this.#port, '127.0.0.1', listening));
    const address = server.address();
    if (typeof address === 'object' && address !== null) this.#port = address.port;
    this.#server = server;
  }

  /** Ends every connection; new ones are taken. */
  cut(): void {
    for (const { client, server } of this.#links) {
      client.resetAndDestroy();
      server.destroy();
    }
    this.#links.clear();
  }

  /** What is connected now stays so, and hears nothing any more; new connections work. */
  silence(): void {
    for (const link of this.#links) link.dead = true;
  }

  /** Ends every connection and refuses new ones. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    const closed = new Promise((resolve) => server?.close(resolve) ?? resolve(undefined));
    this.cut();
    await closed;
  }

  /** Passes bytes on in their order, each after the delay that it met. */
  #passer(link: Link, to: Socket): (bytes: Buffer) => void {
    let waiting = 0;
    let freeAt = 0;
    let last = Promise.resolve();
    const write = (bytes: Buffer): void => void (link.dead || to.destroyed || to.write(bytes));
    return (bytes) => {
      const now = performance.now();
      freeAt = Math.max(freeAt, now) + (1_000 * bytes.length) / this.bytesPerSecond;
      const due = freeAt + this.delayMs;
      if (due <= now && waiting === 0) return write(bytes);
      waiting += 1;
      const before = last;
      last = (async () => {
        await before;
        await pause(Math.max(0, due - performance.now()));
        waiting -= 1;
        write(bytes);
      })();
    };
  }

  #join(client: Socket): void {
    this.connections += 1;
    const link: Link = { client, server: connect(this.#to), dead: false };
    this.#links.add(link);
    const { server } = link;
    const pass = this.#passer(link, server);
    client.on('data', (bytes: Buffer) => {
      this.sentBytes += bytes.length;
      pass(bytes);
    });
    const answer = this.#passer(link, client);
    server.on('data', (bytes) => void (this.answersAreLost || answer(bytes)));
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => one.destroy());
      one.on('close', () => {
        if (link.dead) return;
        this.#links.delete(link);
        other.destroy();
      });
    }
  }
}
