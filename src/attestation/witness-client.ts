/** Asks a witness (c2sp.org/tlog-witness) to cosign checkpoints of the log. */
import { errorMessage } from '../error-message.ts';
import { openNote, parseVerifierKey, verifiedBy } from '../transparency-log/signed-note.ts';
import { post } from './post.ts';

/** A witness as the settings name it. */
export interface WitnessSetting {
  /** Its verifier key, of the type for cosignatures. */
  readonly verifierKey: string;
  /** The prefix of its URLs, without a slash at its end. */
  readonly url: string;
}

/** A checkpoint to cosign. */
export interface Cosignable {
  readonly size: number;
  /** The note with the log's own signatures. */
  readonly note: string;
  /** Proves that the tree of that size is the beginning of the checkpoint's. */
  consistencyProof(from: number): readonly Buffer[];
}

export interface Witness {
  /** The name of its key. */
  readonly name: string;
  /** The lines of its cosignatures in a note; empty where it has not cosigned it. */
  cosignaturesIn(note: string): readonly string[];
  /**
   * Gets the lines of its cosignatures on a checkpoint, verified.
   * @throws {Error} there is none that holds; one line
   */
  cosign(checkpoint: Cosignable, stopping: AbortSignal): Promise<readonly string[]>;
}

/** Reasons that its operator can mend. The others speak for themselves. */
const REFUSALS: Readonly<Record<number, string>> = {
  403: 'it does not take this log’s signature: its operator must add the key of `pressledger tlog key`',
  404: 'it does not know this log: its operator must add the key of `pressledger tlog key`',
  422: 'it does not take the proof that this tree goes on from the one that it has seen: check the log with `pressledger verify`',
};

export function createWitness({ verifierKey, url }: WitnessSetting, timeoutMs = 10_000): Witness {
  const key = parseVerifierKey(verifierKey);
  /** Leaves of the tree that it cosigned last, as far as known. It says so where this is wrong. */
  let knownSize = 0;

  const cosignaturesIn = (note: string): readonly string[] =>
    openNote(note)
      .signatures.filter(({ name, keyId }) => name === key.name && keyId === key.keyId)
      .map(({ line }) => line);

  const ask = async (
    { note, size, consistencyProof }: Cosignable,
    stopping: AbortSignal,
  ): Promise<readonly string[] | undefined> => {
    const hashes = consistencyProof(knownSize).map((each) => `${each.toString('base64')}\n`);
    const request = `old ${knownSize}\n${hashes.join('')}\n${note}`;
    const limits = { timeoutMs, stopping };
    const answer = await post(`${url}/add-checkpoint`, 'text/plain; charset=utf-8', request, limits);
    const body = answer.body.toString();
    if (answer.status === 409) {
      const seen = Number(/^(0|[1-9]\d{0,15})\n$/.exec(body)?.[1] ?? Number.NaN);
      if (seen === knownSize) throw new Error(`it has seen another tree of ${size} events: …`);
      if (!(seen <= size)) throw new Error(`…`);
      knownSize = seen;
      return undefined;
    }
    if (answer.status !== 200) {
      throw new Error(REFUSALS[answer.status] ?? `it answered with status ${answer.status}`);
    }
    const { text } = openNote(note);
    const lines = verified(text, body);
    knownSize = size;
    return lines;
  };

  /** @throws {Error} its cosignature is not there, or does not hold */
  const verified = (text: string, body: string): readonly string[] => {
    const note = `${text}\n${body}`;
    const lines = cosignaturesIn(note);
  };

  return { name: key.name, cosignaturesIn, cosign: async () => [] };
}
