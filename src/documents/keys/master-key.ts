import { createSecretKey, hkdfSync, randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createDurably, readIfThere, removeDurably, removeTemporary } from '../durable-file.ts';
import { isAbandoned } from '../writer.ts';

const KEY_BYTES = 32;
/** Says which key belongs here without saying the key, so that a wrong one is found at the start. */
export const MASTER_CHECK = 'master.check';

/**
 * The key that everything secret in a data directory hangs on: the one given, else the one kept in
 * `<dataDir>/master.key`, made once.
 * @param given 32 bytes
 * @throws {Error} one line: the key is not the one that this directory's secrets were made with
 */
export function loadMasterKey(dataDir: string, given?: Buffer): Buffer {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  removeTemporary(join(dataDir, 'master.'), isAbandoned);
  const file = keyFileIn(dataDir);
  const key = findMasterKey(dataDir, given) ?? makeKey(file);
  createDurably(checkFileIn(dataDir), fingerprintOf(key));
  // Another process may have made one at the same time.
  return findMasterKey(dataDir, given) ?? key;
}

const checkFileIn = (dataDir: string): string => join(dataDir, MASTER_CHECK);
const keyFileIn = (dataDir: string): string => join(dataDir, 'master.key');

/** A text that tells one master key from another, and does not tell the key. */
export const fingerprintOf = (key: Buffer): string =>
  deriveKey(key, 'fingerprint', KEY_BYTES).toString('hex');

/**
 * The key given, else the one kept in the directory; undefined if there is none yet. Nothing is made.
 * @throws {Error} one line: the key is missing, or is not the one that this directory's secrets were made with
 */
export function findMasterKey(dataDir: string, given?: Buffer): Buffer | undefined {
  const file = keyFileIn(dataDir);
  const check = readIfThere(checkFileIn(dataDir));
  const key = given ?? readKey(file);
  if (key === undefined && check !== undefined) {
    throw new Error(`${file} is missing; restore it from a backup or set MASTER_KEY.`);
  }
  if (key !== undefined && check !== undefined && check !== fingerprintOf(key)) {
    throw new Error(
      `The master key is not the one that ${dataDir} was made with; set MASTER_KEY to that one` +
        (given === undefined ? ` or restore ${file}.` : '.'),
    );
  }
  return key;
}

/** The next key, until it has taken the place of the one in use. */
const nextFileIn = (dataDir: string): string => join(dataDir, 'master.key.new');

/** The next master key of a data directory that keeps its own, made once. */
export const nextMasterKey = (dataDir: string): Buffer =>
  readKey(nextFileIn(dataDir)) ?? makeKey(nextFileIn(dataDir));

/** The keys that lie in the directory, the one in use first; none of a file that a kill left half overwritten. */
export const masterKeysIn = (dataDir: string): readonly Buffer[] =>
  [keyFileIn(dataDir), nextFileIn(dataDir)].flatMap((file) => keyIn(file) ?? []);

/** Makes `key` the one of the directory, and destroys the one before. Safe to repeat after a kill. */
export function replaceMasterKey(dataDir: string, key: Buffer): void {
  const [file, next] = [keyFileIn(dataDir), nextFileIn(dataDir)];
  removeDurably(checkFileIn(dataDir));
  createDurably(checkFileIn(dataDir), fingerprintOf(key));
  const isKept = masterKeysIn(dataDir).some((each) => each.equals(key));
  if (keyIn(file)?.equals(key) !== true) {
    removeDurably(file);
    if (isKept) createDurably(file, key.toString('hex'));
  }
  removeDurably(next);
}

/** The purpose of the key that signs the log's checkpoints. */
export const signingPurpose = (generation: number): string => `log signing key ${generation}`;

/** A key for one purpose (RFC 5869, HKDF-SHA-256): knowing one says nothing about another. */
export function deriveKey(master: Buffer, purpose: string, length: number): Buffer {
  // Derivation from a key object takes half as long as from its bytes.
  const key = createSecretKey(master);
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), `pressledger ${purpose}`, length));
}

function keyIn(file: string): Buffer | undefined {
  const key = Buffer.from(readIfThere(file) ?? '', 'hex');
  return key.length === KEY_BYTES ? key : undefined;
}

function readKey(file: string): Buffer | undefined {
  const key = keyIn(file);
  if (key === undefined && readIfThere(file) !== undefined) {
    throw new Error(`${file} is damaged; restore it from a backup.`);
  }
  return key;
}

function makeKey(file: string): Buffer {
  const key = randomBytes(KEY_BYTES);
  if (createDurably(file, key.toString('hex'))) return key;
  const theirs = readKey(file);
  if (theirs === undefined) throw new Error(`${file} vanished while it was read.`);
  return theirs;
}
