import { createSecretKey, hkdfSync, randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isAbandoned } from '../blob-store/writer.ts';
import { createDurably, readIfThere, removeTemporary } from './durable-file.ts';

const KEY_BYTES = 32;

/**
 * The key that everything secret in a data directory hangs on: the one given, else the one kept in
 * `<dataDir>/master.key`, made once.
 * @param given 32 bytes
 * @throws {Error} one line: the key is not the one that this directory's secrets were made with
 */
export function loadMasterKey(dataDir: string, given?: Buffer): Buffer {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  removeTemporary(join(dataDir, 'master.'), isAbandoned);
  const file = join(dataDir, 'master.key');
  // Says which key belongs here without saying the key, so that a wrong one is found at the start.
  const checkFile = join(dataDir, 'master.check');
  const check = readIfThere(checkFile);
  const key = given ?? readKey(file) ?? makeKey(file, check !== undefined);
  const fingerprint = deriveKey(key, 'fingerprint', KEY_BYTES).toString('hex');
  const expected =
    check ?? (createDurably(checkFile, fingerprint) ? fingerprint : readIfThere(checkFile));
  if (expected !== fingerprint) {
    throw new Error(
      `The master key is not the one that ${dataDir} was made with; set MASTER_KEY to that one` +
        (given === undefined ? ` or restore ${file}.` : '.'),
    );
  }
  return key;
}

/** A key for one purpose (RFC 5869, HKDF-SHA-256): knowing one says nothing about another. */
export function deriveKey(master: Buffer, purpose: string, length: number): Buffer {
  // Derivation from a key object takes half as long as from its bytes.
  const key = createSecretKey(master);
  return Buffer.from(hkdfSync('sha256', key, Buffer.alloc(0), `pressledger ${purpose}`, length));
}

function readKey(file: string): Buffer | undefined {
  const text = readIfThere(file);
  if (text === undefined) return undefined;
  const key = Buffer.from(text, 'hex');
  if (key.length !== KEY_BYTES) throw new Error(`${file} is damaged; restore it from a backup.`);
  return key;
}

function makeKey(file: string, wasMadeBefore: boolean): Buffer {
  if (wasMadeBefore) {
    throw new Error(`${file} is missing; restore it from a backup or set MASTER_KEY.`);
  }
  const key = randomBytes(KEY_BYTES);
  if (createDurably(file, key.toString('hex'))) return key;
  const theirs = readKey(file);
  if (theirs === undefined) throw new Error(`${file} vanished while it was read.`);
  return theirs;
}
