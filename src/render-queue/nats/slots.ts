/** Tells the node that publishes jobs how many slots the renderers have. */
import { createInbox } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { NatsLink } from '../../nats/connection.ts';
import type { SeenRenderer } from '../port.ts';
import { slotsSubject } from './streams.ts';

const ANNOUNCE_MS = 1000;
/** A node that has announced nothing for so long has gone. */
const FORGET_MS = 3500;
/** Limits on what is announced: nodes that run strangers' pages may be taken over. */
const MAX_SLOTS = 1024;
const MAX_NODES = 1000;
/** Changes within this time are one line in the log. */
const TELL_MS = 1000;

/** Announces the slots of one consumer. @returns the function that ends it */
export function announceSlots(link: NatsLink, slots: number): () => void {
  const subject = slotsSubject(link.namespace, createInbox('n').slice(2));
  const announce = (count = slots): void => {
    // A message that waits for the server to return would arrive when it is out of date.
    if (link.isUp()) link.connection.publish(subject, `${count}`);
  };
  announce();
  const timer = setInterval(announce, ANNOUNCE_MS);
  const forget = link.onReconnect(announce);
  return () => {
    clearInterval(timer);
    forget();
    announce(0);
  };
}

export class SlotCounter {
  readonly #nodes = new Map<string, { readonly slots: number; readonly heardAt: number }>();
  readonly #stop: () => void;
  readonly #logger: Logger;
  #telling: NodeJS.Timeout | undefined;
  #told = 0;

  /** @param onChange called when a node comes, or has another number of slots */
  constructor({ connection, namespace }: NatsLink, logger: Logger, onChange: () => void) {
    this.#logger = logger;
    const subscription = connection.subscribe(slotsSubject(namespace, '*'), {
      callback: (error, { subject, data }) => {
        if (error || data.length > 4) return;
        const said = Number(Buffer.from(data).toString()) || 0;
        const slots = Math.min(Math.max(said, 0), MAX_SLOTS);
        const before = this.#nodes.get(subject)?.slots;
        if (before === undefined && this.#living().length >= MAX_NODES) return;
        this.#nodes.set(subject, { slots, heardAt: performance.now() });
        if (slots === before) return;
        this.#tellSoon();
        onChange();
      },
    });
    this.#stop = () => {
      if (!connection.isClosed()) subscription.unsubscribe();
    };
  }

  /** The slots of all renderers. */
  total(): number {
    return this.renderers().reduce((sum, { slots }) => sum + slots, 0);
  }

  /** Renderers that have slots, by the names that they announce them under. */
  renderers(): readonly SeenRenderer[] {
    return this.#living().filter(({ slots }) => slots > 0);
  }

  close(): void {
    clearTimeout(this.#telling);
    this.#stop();
  }

  /** Says that renderers have come or gone. */
  #tellSoon(): void {
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      const renderers = this.renderers();
      if (renderers.length === this.#told) return;
      const said = renderers.length > this.#told ? 'renderers have come' : 'renderers have gone';
      this.#told = renderers.length;
      const slots = this.total();
      this.#logger.info({ renderers: renderers.length, slots }, said);
    }, TELL_MS);
  }

  #living(): readonly SeenRenderer[] {
    const since = performance.now() - FORGET_MS;
    for (const [node, { slots, heardAt }] of this.#nodes) {
      if (heardAt >= since) continue;
      this.#nodes.delete(node);
      if (slots > 0) this.#tellSoon();
    }
    return Array.from(this.#nodes, ([subject, { slots }]) => ({
      id: subject.slice(subject.lastIndexOf('.') + 1),
      slots,
    }));
  }
}

/** Renderers that start, or are scaled up from none, are not missed before. */
const NO_RENDERER_MS = 10_000;

/** Logs once that jobs wait and nobody renders: clients only see that nothing happens. */
export class MissingRenderers {
  readonly #logger: Logger;
  #since: number | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** @param waiting jobs, also those that were started: where no slot is left, their renderer has gone, or is about to */
  look(waiting: number, slots: number): void {
    if (waiting === 0 || slots > 0) {
      this.#since = undefined;
      return;
    }
    const now = performance.now();
    this.#since ??= now;
    if (now - this.#since < NO_RENDERER_MS) return;
    this.#since = Infinity;
    this.#logger.warn({ waiting }, 'conversions wait and no renderer node is there: start one');
  }
}
