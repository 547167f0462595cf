/** Asks a witness (c2sp.org/tlog-witness) to cosign checkpoints of the log. */
import {
  fromDecimal,
  openNote,
  parseVerifierKey,
  verifiedBy,
} from '../../transparency-log/signed-note.ts';
import type { Cosignable, Witness } from './port.ts';
import { post } from './post.ts';

const UNKNOWN =
  'it does not take the log’s key: its operator must add what `pressledger tlog key` prints';

/** Refusals that its operator, or ours, can mend. Programs differ in the status for a log they do not know. */
const REFUSALS: Readonly<Record<number, string>> = {
  403: UNKNOWN,
  404: UNKNOWN,
  422: 'it has cosigned a tree that this one does not go on from: check the log with `pressledger verify`',
};

/**
 * @param setting the verifier key of its cosignatures, and the prefix of its URLs without a slash at the end
 */
export function createWitness(
  { verifierKey, url }: { readonly verifierKey: string; readonly url: string },
  timeoutMs = 10_000,
): Witness {
  const key = parseVerifierKey(verifierKey);
  /** Events of the tree that it cosigned last, as far as known: where this is wrong it says so. */
  let knownSize = 0;

  const linesIn = (note: string): readonly string[] =>
    openNote(note)
      .signatures.filter(({ name, keyId }) => name === key.name && keyId === key.keyId)
      .map(({ line }) => line);

  /** @returns undefined where it has cosigned a tree of another size than the known one, known by now */
  const ask = async (
    { note, size, consistencyProof }: Cosignable,
    stopping: AbortSignal,
  ): Promise<string | undefined> => {
    const proof = consistencyProof(knownSize).map((each) => `${each.toString('base64')}\n`);
    const { status, body } = await post(
      `${url}/add-checkpoint`,
      'text/plain; charset=utf-8',
      `old ${knownSize}\n${proof.join('')}\n${note}`,
      { timeoutMs, stopping },
    );
    if (status === 409) {
      knownSize = sizeSeen(body.toString(), knownSize, size);
      return undefined;
    }
    if (status !== 200) throw new Error(REFUSALS[status] ?? `it answered with status ${status}`);
    const line = verifiedLine(openNote(note).text, body.toString());
    knownSize = size;
    return line;
  };

  const verifiedLine = (text: string, body: string): string => {
    let lines: readonly string[];
    try {
      const answered = `${text}\n${body}`;
      // A body with an empty line would be about another text.
      lines = openNote(answered).text === text ? linesIn(answered) : [];
    } catch (cause) {
      throw new Error('its answer has no lines of signatures', { cause });
    }
    const [line] = lines;
    if (line === undefined) throw new Error('its answer has no cosignature of its key');
    if (verifiedBy(`${text}\n${line}\n`, [verifierKey]).length === 0) {
      throw new Error('its cosignature does not hold');
    }
    return line;
  };

  return {
    name: key.name,
    hasCosigned: (note) => linesIn(note).length > 0,
    cosign: async (checkpoint, stopping) => {
      const line = (await ask(checkpoint, stopping)) ?? (await ask(checkpoint, stopping));
      if (line === undefined) throw new Error('it names another size of the log each time');
      return line;
    },
  };
}

/** Reads the size in an answer 409. @throws {Error} it is none to go on from */
function sizeSeen(body: string, asked: number, size: number): number {
  const seen = body.endsWith('\n') ? fromDecimal(body.slice(0, -1)) : undefined;
  if (seen === undefined) throw new Error('it answered with status 409 and no size');
  if (seen > size) {
    throw new Error(`it has cosigned ${seen} events of the log, and this checkpoint has ${size}`);
  }
  if (seen !== asked) return seen;
  throw new Error(
    seen === size
      ? `it has cosigned another tree of ${size} events: check the log with \`pressledger verify\``
      : 'it refuses the size that it names',
  );
}
