/** Checkpoints of a made-up log, signed by the log's own key as the service would have signed them. */

import { deriveKey } from '../../src/documents/keys/master-key.ts';
import type { CopiedEvent, EventStore } from '../../src/event-store/port.ts';
import { LOG_STREAM } from '../../src/log/verify-log/checkpoints.ts';
import { canonicalEvent } from '../../src/transparency-log/canonical-event.ts';
import { checkpointText } from '../../src/transparency-log/checkpoint.ts';
import { Frontier, leafHash } from '../../src/transparency-log/merkle-tree.ts';
import {
  ed25519Key,
  ed25519Signer,
  type Signer,
  signNote,
} from '../../src/transparency-log/signed-note.ts';
import type { Step } from '../../test/support/history.ts';
import { NOW } from '../../test/support/samples.ts';

/** The key that the first start of a service has added. */
const GENERATION = 1;

export class MadeUpCheckpoints {
  readonly #origin: string;
  readonly #signer: Signer;
  readonly #every: number;
  readonly #tree = new Frontier();
  #covered = 0;

  private constructor(origin: string, signer: Signer, every: number) {
    this.#origin = origin;
    this.#signer = signer;
    this.#every = every;
  }

  /** Follows the log of a service that has just been started once. @param every events from one checkpoint to the next */
  static async after(
    store: EventStore,
    masterKey: Buffer,
    every: number,
  ): Promise<MadeUpCheckpoints> {
    const events = await store.readAll({ after: 0n, limit: 1000 });
    const opened = events.find(({ type }) => type === 'LogOpened');
    if (opened === undefined) throw new Error('The log was not opened.');
    const { origin } = opened.data as { readonly origin: string };
    const key = ed25519Key(deriveKey(masterKey, `log signing key ${GENERATION}`, 32));
    const checkpoints = new MadeUpCheckpoints(origin, ed25519Signer(origin, key), every);
    for (const event of events) checkpoints.take(event);
    return checkpoints;
  }

  take(event: CopiedEvent): void {
    this.#tree.add(leafHash(canonicalEvent(event)));
  }

  /** Yields the steps, with checkpoints between them. */
  *between(steps: Iterable<Step>): Generator<Step> {
    for (const step of steps) {
      yield step;
      if (this.#tree.size - this.#covered >= this.#every) yield this.#sign();
    }
  }

  #sign(): Step {
    const { size } = this.#tree;
    const root = this.#tree.root();
    this.#covered = size;
    const note = signNote(checkpointText({ origin: this.#origin, size, root }), [this.#signer]);
    const data = { size, root: root.toString('base64'), note, signedAt: NOW + size };
    return { stream: LOG_STREAM, events: () => [{ type: 'CheckpointSigned', data }] };
  }
}
