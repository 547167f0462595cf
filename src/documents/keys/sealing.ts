/** AES-256-GCM (NIST SP 800-38D) in one text form: `v1.` and base64url of nonce, ciphertext and tag. */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const VERSION = 1;
const PREFIX = `v${VERSION}.`;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The text was sealed with another key or for another owner, or altered since. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
}

/** Making a cipher of a key's raw bytes takes three times as long as all the rest of sealing. */
const keyObjects = new WeakMap<Buffer, KeyObject>();

function keyObject(key: Buffer): KeyObject {
  const known = keyObjects.get(key);
  if (known !== undefined) return known;
  const made = createSecretKey(key);
  keyObjects.set(key, made);
  return made;
}

/** Sealed in a form that this release does not know. */
export class SealedByNewerRelease extends Error {
  override readonly name = 'SealedByNewerRelease';
}

/** `owner` is bound to the text: what was sealed for one opens for no other. */
export function seal(key: Buffer, owner: string, content: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyObject(key), nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(owner, 'utf8'));
  const sealed = Buffer.concat([
    nonce,
    cipher.update(content),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  return PREFIX + sealed.toString('base64url');
}

/** @throws {SealedByNewerRelease} @throws {SealBroken} */
export function unseal(key: Buffer, owner: string, text: string): Buffer {
  const [, version = ''] = /^v(\d+)\./.exec(text) ?? [];
  if (Number(version) > VERSION) {
    throw new SealedByNewerRelease(
      `A key or text was sealed by a newer release (form ${version}, this one knows ${VERSION}); install that release.`,
    );
  }
  const sealed = Buffer.from(text.slice(PREFIX.length), 'base64url');
  // Decoding skips what is not base64url; a text that was altered that way must not pass.
  if (text !== PREFIX + sealed.toString('base64url') || sealed.length < NONCE_BYTES + TAG_BYTES) {
    throw new SealBroken('A sealed text is not of its form.');
  }
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, keyObject(key), nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(owner, 'utf8'));
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    const content = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([content, decipher.final()]);
  } catch (error) {
    throw new SealBroken('A sealed text does not open with its key.', { cause: error });
  }
}

/** A data key as it lies in a keyring. @throws {Error} one line: sealed with another master key */
export function unwrapDataKey(masterKey: Buffer, owner: string, wrapped: string): Buffer {
  try {
    return unseal(masterKey, owner, wrapped);
  } catch (error) {
    if (error instanceof SealedByNewerRelease) throw error;
    throw new Error(
      `The data key of ${owner} does not open with this master key; set MASTER_KEY to the ` +
        'one it was made with.',
      { cause: error },
    );
  }
}
