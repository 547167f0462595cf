/** The proof that a log goes on from an earlier state of itself (RFC 9162, section 2.1.4.2). */
import { base64, fromBase64, sha256 } from '../../../verifier/verify-evidence.mjs';

/** The state of a log that a checkpoint names. */
export interface Tree {
  readonly size: number;
  /** The root hash, base64. */
  readonly root: string;
}

const HASH_SIZE = 32;

const node = (left: Uint8Array, right: Uint8Array): Promise<Uint8Array> =>
  sha256(Uint8Array.of(1), left, right);
const isOdd = (value: number): boolean => value % 2 === 1;
/** Sizes go beyond the 32 bits of `>>`. */
const half = (value: number): number => Math.floor(value / 2);

/**
 * Says whether the newer tree begins with all leaves of the older one. An older tree without leaves is not
 * compared: every log has an event before its first checkpoint.
 * @param proof hashes in base64, as `GET /tlog/consistency` gives them
 */
export async function isConsistent(
  older: Tree,
  newer: Tree,
  proof: readonly string[],
): Promise<boolean> {
  if (older.size < 1 || older.size > newer.size) return false;
  if (older.size === newer.size) return proof.length === 0 && older.root === newer.root;
  const hashes = proof.map(fromBase64);
  if (hashes.some(({ length }) => length !== HASH_SIZE)) return false;
  let [place, last] = [older.size - 1, newer.size - 1];
  for (; isOdd(place); place = half(place)) last = half(last);
  // A power of two: the older root is a node of the newer tree, and not repeated in the proof.
  const [first, ...rest] = place === 0 ? [fromBase64(older.root), ...hashes] : hashes;
  if (first === undefined) return false;
  let [olderHash, newerHash] = [first, first];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (isOdd(place) || place === last) {
      olderHash = await node(sibling, olderHash);
      newerHash = await node(sibling, newerHash);
      for (; !isOdd(place) && place > 0; place = half(place)) last = half(last);
    } else {
      newerHash = await node(newerHash, sibling);
    }
    [place, last] = [half(place), half(last)];
  }
  return last === 0 && base64(olderHash) === older.root && base64(newerHash) === newer.root;
}
