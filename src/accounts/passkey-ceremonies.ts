/**
 * What browsers are asked for and what they answer (https://www.w3.org/TR/webauthn-3/). Challenges carry their own proof,
 * so that any node takes what another one has asked for; the person's stream takes each only once.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isIP } from 'node:net';
import { CHALLENGE_LIFETIME_MS } from '../domain/passkeys.ts';
import { ServiceError } from '../errors/errors.ts';

/** The place that passkeys are bound to: browsers use none of them for another. */
export interface RelyingParty {
  readonly id: string;
  /** The origin of the pages. */
  readonly origin: string;
}

const isLocalhost = (hostname: string): boolean => /^(.*\.)?localhost$/.test(hostname);
const LOOPBACK = /^(127(\.\d+){3}|\[::1\])$/;

/**
 * Browsers take passkeys over HTTPS and at localhost, and never for a numeric address.
 * @param publicUrl the origin that clients see
 * @param page the origin of the page that asks, if it says so
 * @throws {ServiceError} `forbidden`: no browser would use a passkey there
 */
export function relyingParty(publicUrl: string, page: string): RelyingParty {
  const { protocol, hostname, port } = new URL(publicUrl);
  const isNumeric = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  if (!isLocalhost(hostname) && !LOOPBACK.test(hostname) && (protocol !== 'https:' || isNumeric)) {
    throw new ServiceError(
      'forbidden',
      `Passkeys need HTTPS and a host name, and this service is reached at ${publicUrl}. Ask the people who run it to set PUBLIC_URL to such an address.`,
    );
  }
  // The same machine has a name.
  const id = LOOPBACK.test(hostname) ? 'localhost' : hostname;
  const origin = `${protocol}//${id}${port === '' ? '' : `:${port}`}`;
  if (page === '' || page === origin) return { id, origin };
  throw new ServiceError('forbidden', `Passkeys work at ${origin} alone. Open this page there.`);
}

/** The act that a challenge is for. A signature for one is not taken for another. */
export const PURPOSES = {
  signIn: 'sign-in',
  /** In a session: to add one, and to confirm what needs more than the session. */
  add: (sessionId: string) => `add\0${sessionId}`,
  confirm: (sessionId: string) => `confirm\0${sessionId}`,
} as const;

const RANDOM_BYTES = 16;
const TIME_BYTES = 6;
const MAC_BYTES = 32;

const macOf = (key: Buffer, purpose: string, content: Buffer): Buffer =>
  createHmac('sha256', key).update(`passkey challenge\0${purpose}\0`).update(content).digest();

/** @returns base64url, as browsers take it and give it back */
export function newChallenge(key: Buffer, purpose: string, now: number): string {
  const content = Buffer.alloc(TIME_BYTES + RANDOM_BYTES);
  content.writeUIntBE(now + CHALLENGE_LIFETIME_MS, 0, TIME_BYTES);
  randomBytes(RANDOM_BYTES).copy(content, TIME_BYTES);
  return Buffer.concat([content, macOf(key, purpose, content)]).toString('base64url');
}

/** `other`: not made here, or for another act. */
export function judgeChallenge(
  key: Buffer,
  purpose: string,
  challenge: string,
  now: number,
): 'good' | 'expired' | 'other' {
  const bytes = Buffer.from(challenge, 'base64url');
  if (bytes.length !== TIME_BYTES + RANDOM_BYTES + MAC_BYTES) return 'other';
  const content = bytes.subarray(0, -MAC_BYTES);
  const mac = bytes.subarray(-MAC_BYTES);
  if (!timingSafeEqual(mac, macOf(key, purpose, content))) return 'other';
  return now < content.readUIntBE(0, TIME_BYTES) ? 'good' : 'expired';
}

/** What a browser answers to `navigator.credentials.get()`; texts are base64url. */
export interface Assertion {
  readonly id: string;
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle?: string | null;
  };
}

/** What a browser answers to `navigator.credentials.create()`. */
export interface Registration {
  readonly id: string;
  readonly response: { readonly clientDataJSON: string; readonly attestationObject: string };
}

/** The challenge that was signed, unless the answer is not one. */
export function challengeIn({ response }: Assertion | Registration): string | undefined {
  try {
    const data = JSON.parse(
      Buffer.from(response.clientDataJSON, 'base64url').toString(),
    ) as unknown;
    const { challenge } = Object(data) as { readonly challenge?: unknown };
    return typeof challenge === 'string' ? challenge : undefined;
  } catch {
    return undefined;
  }
}

const PUBLIC_KEY = 'public-key';
/** A passkey stands for a password and a second factor: it asks for a finger, a face or a PIN. */
const VERIFICATION = 'required';
/** COSE: ES256, EdDSA and RS256, the strongest habit first. */
const ALGORITHMS = [-7, -8, -257];

const listed = (credentials: readonly string[]) =>
  credentials.map((id) => ({ type: PUBLIC_KEY, id }) as const);

/** The options of `navigator.credentials.create()`. @param present the credentials that the person has */
export const creationOptions = (
  { id }: RelyingParty,
  person: { readonly id: string; readonly email: string; readonly name: string },
  present: readonly string[],
  challenge: string,
) => ({
  rp: { id, name: 'Pressledger' },
  user: {
    id: Buffer.from(person.id).toString('base64url'),
    name: person.email,
    displayName: person.name,
  },
  challenge,
  pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: PUBLIC_KEY, alg }) as const),
  timeout: CHALLENGE_LIFETIME_MS,
  excludeCredentials: listed(present),
  authenticatorSelection: {
    residentKey: 'required',
    requireResidentKey: true,
    userVerification: VERIFICATION,
  },
  attestation: 'none',
});

/** The options of `navigator.credentials.get()`. @param allowed empty: the browser shows all that it has for the place */
export const requestOptions = (
  { id: rpId }: RelyingParty,
  allowed: readonly string[],
  challenge: string,
) => ({
  rpId,
  challenge,
  timeout: CHALLENGE_LIFETIME_MS,
  allowCredentials: listed(allowed),
  userVerification: VERIFICATION,
});

/** The person whom a passkey says it is of. Its signature is checked with a key of that person's alone. */
export const holderIn = ({ response: { userHandle } }: Assertion): string | undefined =>
  userHandle ? Buffer.from(userHandle, 'base64url').toString() : undefined;

/**
 * A signature that is right. Its counter is not judged here.
 * @param publicKey a COSE key, base64url
 * @returns undefined where it is not, or where nobody's finger, face or PIN was asked for
 */
export async function verifiedCounter(
  { id: expectedRPID, origin: expectedOrigin }: RelyingParty,
  { id, response }: Assertion,
  publicKey: string,
  expectedChallenge: string,
): Promise<number | undefined> {
  // Some thousand lines, which most processes never need.
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  const { userHandle: _, ...signed } = response;
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { id, rawId: id, type: PUBLIC_KEY, clientExtensionResults: {}, response: signed },
      expectedChallenge,
      expectedOrigin,
      expectedRPID,
      requireUserVerification: true,
      credential: {
        id,
        publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')),
        counter: 0,
      },
    });
    return verified ? authenticationInfo.newCounter : undefined;
  } catch {
    // It throws for all that is not as expected.
    return undefined;
  }
}

/** A passkey that a browser has made: texts are base64url. */
export interface MadePasskey {
  readonly credential: string;
  readonly publicKey: string;
  readonly counter: number;
}

/** @returns undefined where the answer is not one to the challenge, at this place */
export async function verifiedRegistration(
  { id: expectedRPID, origin: expectedOrigin }: RelyingParty,
  { id, response }: Registration,
  expectedChallenge: string,
): Promise<MadePasskey | undefined> {
  const [{ verifyRegistrationResponse }, { decodeAttestationObject }] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ]);
  try {
    const attestation = Buffer.from(response.attestationObject, 'base64url');
    // Certificates are not asked for, and not looked at: their issuers' addresses would be fetched.
    const decoded = decodeAttestationObject(new Uint8Array(attestation));
    if (decoded.get('fmt') !== 'none' && decoded.get('fmt') !== 'packed') return undefined;
    if (decoded.get('attStmt').get('x5c') !== undefined) return undefined;
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: { id, rawId: id, type: PUBLIC_KEY, clientExtensionResults: {}, response },
      expectedChallenge,
      expectedOrigin,
      expectedRPID,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified || registrationInfo.credential.id !== id) return undefined;
    const { publicKey, counter } = registrationInfo.credential;
    const key = Buffer.from(publicKey).toString('base64url');
    return { credential: id, publicKey: key, counter };
  } catch {
    return undefined;
  }
}
