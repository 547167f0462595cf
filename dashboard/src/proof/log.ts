/** The log as this browser knows it: its keys, its checkpoints, and how one goes on from another. */
import {
  Difference,
  fromBase64,
  mustBeSigned,
  openNote,
  parseKey,
} from '../../../verifier/verify-evidence.mjs';
import { isConsistent, type Tree } from './consistency.ts';
import type { CheckpointKeeper, KeptCheckpoint } from './kept-checkpoint.ts';
import type { Checkpoint, TrustedKeys } from './steps.ts';

/** The questions to the service. None of the answers is believed. */
export interface LogSource {
  /** `GET /tlog/key`: the verifier keys in force, one a line. */
  readonly keys: () => Promise<string>;
  /** `GET /tlog/checkpoint` */
  readonly checkpoint: () => Promise<string>;
  /** The proof of `GET /tlog/consistency`; undefined where the log has no such sizes. */
  readonly consistency: (from: number, to: number) => Promise<readonly string[] | undefined>;
}

export interface CheckDependencies {
  readonly log: LogSource;
  readonly keeper: CheckpointKeeper;
  readonly now: () => Date;
}

const HASH_SIZE = 32;

const linesOf = (text: string): readonly string[] => text.trim().split('\n');

/**
 * @param kept what this browser kept: one of its keys must still be in force
 * @param named keys that the proof itself names, one a line
 * @throws {Difference}
 */
export async function trustedKeys(
  inForce: string,
  kept: KeptCheckpoint | undefined,
  named = inForce,
): Promise<TrustedKeys> {
  const known = await Promise.all(linesOf(inForce).map((line) => parseKey(line, 1)));
  const keys = known.map(({ text }) => text);
  const among = (place: string, others: readonly string[]) => {
    const both = keys.filter((key) => others.includes(key));
    if (both.length > 0) return both;
    throw new Difference({ file: place, of: 'keys' }, others.join(', '), keys.join(', '));
  };
  const ofProof = among('the proof', linesOf(named));
  if (kept === undefined) return { keys: ofProof, kept };
  const before = among('this browser', kept.keys);
  return { keys: ofProof.filter((key) => before.includes(key)), kept };
}

/** @throws {Difference} none of the keys has signed it, or it is not about the log that they are of */
export async function openCheckpoint(note: string, keys: readonly string[]): Promise<Checkpoint> {
  const place = 'the checkpoint';
  const parsed = await Promise.all(keys.map((key) => parseKey(key, 1)));
  const { lines, signers, others } = await openNote(place, note, parsed);
  mustBeSigned(place, parsed, signers);
  const [origin = '', size = '', root = ''] = lines;
  for (const { name } of parsed) {
    if (name !== origin) throw new Difference({ file: place, of: 'origin' }, name, origin);
  }
  if (!/^[1-9]\d{0,14}$/.test(size)) {
    throw new Difference({ file: place, of: 'size' }, 'a number of events', size);
  }
  if (fromBase64(root).length !== HASH_SIZE) {
    throw new Difference({ file: place, of: 'root hash' }, `${HASH_SIZE} bytes`, root);
  }
  const ofLog = (other: string) => other.startsWith(`${origin}+`);
  const cosigners = others.filter((other) => !ofLog(other));
  return { origin, size: Number(size), root, note, cosigners };
}

/** Two states of the log, the older one first, and the service's proof that it went from one to the other. */
export interface Growth {
  readonly older: Tree;
  readonly newer: Tree;
  readonly proof: readonly string[] | undefined;
}

export async function growthBetween(log: LogSource, one: Tree, other: Tree): Promise<Growth> {
  const [older, newer] = one.size <= other.size ? [one, other] : [other, one];
  const isSame = older.size === newer.size;
  return { older, newer, proof: isSame ? [] : await log.consistency(older.size, newer.size) };
}

/** @throws {Difference} the log was rewritten, or was cut */
export async function mustGrow({ older, newer, proof }: Growth): Promise<void> {
  const at = { file: 'the log', of: `its first ${older.size} events` };
  if (proof === undefined) {
    const expected = `a log of ${newer.size} events at least`;
    throw new Difference(at, expected, 'no proof from the service');
  }
  if (await isConsistent(older, newer, proof)) return;
  const isSame = older.size === newer.size;
  throw new Difference(at, older.root, isSame ? newer.root : 'a proof that leads to another root');
}
