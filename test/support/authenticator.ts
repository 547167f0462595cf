/** A passkey in memory, which signs as a browser and its authenticator do, or otherwise where a test asks for it. */
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import { type Api, BASE, PASSWORD } from './api.ts';

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64url'));
const base64url = (data: string | Uint8Array): string => Buffer.from(data).toString('base64url');

const PRESENT = 0x01;
const VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

/** What an honest browser would not do. */
export interface Tampering {
  /** The page's origin. */
  readonly origin?: string;
  readonly rpId?: string;
  /** Nobody's finger, face or PIN was asked for. */
  readonly isUnverified?: boolean;
  readonly counter?: number;
  readonly userHandle?: string | null;
  readonly challenge?: string;
  readonly fmt?: string;
  readonly attStmt?: ReadonlyMap<string, unknown>;
}

interface CreationOptions {
  readonly rp: { readonly id: string };
  readonly user: { readonly id: string };
  readonly challenge: string;
}

interface RequestOptions {
  readonly rpId: string;
  readonly challenge: string;
}

export class Authenticator {
  readonly #keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  readonly #origin: string;
  readonly #id = randomBytes(16);
  #user = '';
  #counter = 0;

  /** @param origin that of the page */
  constructor(origin: string) {
    this.#origin = origin;
  }

  get id(): string {
    return base64url(this.#id);
  }

  #clientData(type: string, challenge: string, given: Tampering): string {
    const { origin = this.#origin } = given;
    const data = { type, challenge: given.challenge ?? challenge, origin, crossOrigin: false };
    return base64url(JSON.stringify(data));
  }

  #authenticatorData(rpId: string, flags: number, given: Tampering): Buffer {
    const { counter = (this.#counter += 1) } = given;
    const verified = given.isUnverified === true ? 0 : VERIFIED;
    const rest = Buffer.alloc(5);
    rest.writeUInt8(PRESENT | verified | flags);
    rest.writeUInt32BE(counter, 1);
    return Buffer.concat([sha256(given.rpId ?? rpId), rest]);
  }

  #publicKey(): Uint8Array {
    const { x = '', y = '' } = this.#keys.publicKey.export({ format: 'jwk' });
    const key = new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ]);
    return isoCBOR.encode(key);
  }

  /** Answers `navigator.credentials.create()`. */
  create(given: object, tampering: Tampering = {}) {
    const { rp, user, challenge } = given as CreationOptions;
    this.#user = user.id;
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.#id.length);
    const data = this.#authenticatorData(rp.id, HAS_CREDENTIAL, tampering);
    const credential = [Buffer.alloc(16), length, this.#id, this.#publicKey()];
    const authData = new Uint8Array(Buffer.concat([data, ...credential]));
    const { fmt = 'none', attStmt = new Map() } = tampering;
    const attestation = new Map<string, unknown>([
      ['fmt', fmt],
      ['attStmt', attStmt],
      ['authData', authData],
    ]);
    const encoded = isoCBOR.encode(attestation as Parameters<typeof isoCBOR.encode>[0]);
    return {
      id: this.id,
      rawId: this.id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: this.#clientData('webauthn.create', challenge, tampering),
        attestationObject: base64url(encoded),
        transports: ['internal'],
      },
    };
  }

  /** Answers `navigator.credentials.get()`. */
  get(given: object, tampering: Tampering = {}) {
    const { rpId, challenge } = given as RequestOptions;
    const clientDataJSON = this.#clientData('webauthn.get', challenge, tampering);
    const data = this.#authenticatorData(rpId, 0, tampering);
    const signed = Buffer.concat([data, sha256(Buffer.from(clientDataJSON, 'base64url'))]);
    const { userHandle = this.#user } = tampering;
    return {
      id: this.id,
      rawId: this.id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON,
        authenticatorData: base64url(data),
        signature: base64url(sign('sha256', signed, this.#keys.privateKey)),
        userHandle,
      },
    };
  }
}
/** The origin at which browsers reach an API of a test: they take no passkeys for a numeric address. */
const pageOf = ({ origin }: Api): string => origin.replace('127.0.0.1', 'localhost');

type Headers = Readonly<Record<string, string>>;

export const PASSKEYS = `${BASE}/account/person/passkeys/`;

/** Adds a passkey for somebody who signed in with `PASSWORD`. @throws {Error} the answer is another than 201 */
export async function addPasskey(api: Api, headers: Headers, name = 'Laptop') {
  const authenticator = new Authenticator(pageOf(api));
  const body = { password: PASSWORD };
  const options = await api.call('POST', `${PASSKEYS}creation/`, { headers, body });
  const passkey = authenticator.create(options.body);
  const added = await api.call('POST', PASSKEYS, { headers, body: { name, passkey } });
  if (added.status !== 201) throw new Error(added.text);
  return { id: String(added.body['id']), authenticator };
}

/** Options for signing in. */
export const signInOptions = async (api: Api) =>
  (await api.call('POST', `${BASE}/auth/passkey/options/`, { body: {} })).body;

/** Signs in with a passkey, as a browser does unless told otherwise. */
export async function signInWith(
  api: Api,
  authenticator: Authenticator,
  { account, ...tampering }: Tampering & { readonly account?: string } = {},
) {
  const passkey = authenticator.get(await signInOptions(api), tampering);
  const body = { passkey, ...(account !== undefined && { account }) };
  return await api.call('POST', `${BASE}/auth/passkey/create/`, { body });
}
