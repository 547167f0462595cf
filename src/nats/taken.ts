import type { Msg } from '@nats-io/transport-node';

interface Answers {
  readonly done: () => Promise<void>;
  readonly giveBack: (delayMs: number) => void;
  readonly alive: () => void;
}

/** A message in hand: nobody else gets it meanwhile. */
export class Taken {
  readonly subject: string;
  readonly data: Uint8Array;
  /** 1 for the first time that anybody got it. */
  readonly deliveries: number;
  readonly #answers: Answers;

  constructor(message: Msg, deliveries: number, answers: Answers) {
    this.subject = message.subject;
    this.data = message.data;
    this.deliveries = deliveries;
    this.#answers = answers;
  }

  /** Resolves when the server has removed it, or no longer has it. */
  done(): Promise<void> {
    return this.#answers.done();
  }

  /** Somebody gets it again, not before that time. */
  giveBack(delayMs: number): void {
    this.#answers.giveBack(delayMs);
  }

  /** Tells the server that it is still in hand. */
  alive(): void {
    this.#answers.alive();
  }
}

/**
 * How often a message was delivered, from where its answers go:
 * `$JS.ACK.[<domain>.<account>.]<stream>.<consumer>.<deliveries>.…` (NATS ADR-15).
 */
export function deliveriesOf(reply: string): number {
  const tokens = reply.split('.');
  return Number(tokens.length === 9 ? tokens[4] : tokens[6]);
}
