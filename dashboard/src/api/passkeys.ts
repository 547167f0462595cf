/** Passkeys, by the browser's own functions. */
import { answerQuery, api, dataOf } from './client.ts';
import type { components } from './schema.d.ts';
import { t } from '../words/words.ts';

export type Passkey = components['schemas']['Passkey'];
/** What a browser writes of a passkey that it has used. */
export type UsedPasskey = components['schemas']['PasskeyAssertion'];

/** Confirms an act that needs more than the session. */
export type Proof = { readonly password?: string } | { readonly passkey: UsedPasskey };

/** Says why this browser uses no passkeys; undefined: it does. */
export function whyNone(): string | undefined {
  if (!globalThis.isSecureContext) return t('Passkeys need HTTPS. Open this page over HTTPS.');
  const { PublicKeyCredential: known } = globalThis as {
    PublicKeyCredential?: Partial<typeof PublicKeyCredential>;
  };
  if (known?.parseCreationOptionsFromJSON !== undefined) return undefined;
  return t(
    'This browser cannot use passkeys here: it lacks PublicKeyCredential.parseCreationOptionsFromJSON(). Update it, or use another.',
  );
}

/** True where a browser offers passkeys in the list of what it fills into a field. */
export const fillsInPasskeys = async (): Promise<boolean> =>
  whyNone() === undefined && (await PublicKeyCredential.isConditionalMediationAvailable?.());

const NONE = t('No passkey was used: it was stopped, there is none here, or it took too long.');

async function answerOf(asked: Promise<Credential | null>): Promise<PublicKeyCredential> {
  const answer = await asked.catch((cause: unknown) => {
    const isRefused = cause instanceof DOMException && cause.name === 'NotAllowedError';
    if (isRefused) throw new Error(t('{NONE} Try again.', { NONE }), { cause });
    throw cause;
  });
  if (answer instanceof PublicKeyCredential) return answer;
  throw new Error(t('{NONE} Try again.', { NONE }));
}

/** Has the browser ask for a passkey. @throws {Error} none was used; with `AbortError` after `signal` */
export async function usePasskey(
  options: components['schemas']['PasskeyRequest'],
  more: Omit<CredentialRequestOptions, 'publicKey'> = {},
): Promise<UsedPasskey> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const answer = await answerOf(navigator.credentials.get({ ...more, publicKey }));
  const written: unknown = answer.toJSON();
  return written as UsedPasskey;
}

const PATH = '/api/v1/account/person/passkeys/';

export const passkeysQuery = answerQuery(['passkeys'], PATH);

/** Proves with a passkey who is signed in. */
export async function confirmWithPasskey(): Promise<Proof> {
  const options = await dataOf(api.POST('/api/v1/account/person/passkeys/request/'));
  return { passkey: await usePasskey(options) };
}

/** Has the browser make a passkey, and adds it. @throws {Error} none was made */
export async function addPasskey(name: string, proof: Proof): Promise<Passkey> {
  const options = await dataOf(
    api.POST('/api/v1/account/person/passkeys/creation/', { body: proof }),
  );
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const made = await answerOf(
    navigator.credentials.create({ publicKey }).catch((cause: unknown) => {
      const isThere = cause instanceof DOMException && cause.name === 'InvalidStateError';
      if (isThere) throw new Error(t('This device has a passkey of yours already.'), { cause });
      throw cause;
    }),
  );
  const written: unknown = made.toJSON();
  const passkey = written as components['schemas']['PasskeyRegistration'];
  return await dataOf(api.POST(PATH, { body: { name, passkey } }));
}

export const renamePasskey = ({ id }: Passkey, name: string) =>
  dataOf(
    api.PATCH('/api/v1/account/person/passkeys/{id}/', {
      params: { path: { id } },
      body: { name },
    }),
  );

export const removePasskey = ({ id }: Passkey, proof: Proof) =>
  dataOf(
    api.POST('/api/v1/account/person/passkeys/{id}/remove/', {
      params: { path: { id } },
      body: proof,
    }),
  );
