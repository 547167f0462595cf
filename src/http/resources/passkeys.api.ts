/** The documents and schemas of the routes of passkeys. */
import Type from 'typebox';
import { MAX_PASSKEYS } from '../../domain/passkeys.ts';
import { ACCOUNT_ID, PASSKEY_ID } from '../../domain/ids.ts';
import { compile } from '../../requests/validation.ts';
import {
  ACCOUNT,
  Closed,
  example,
  Flag,
  Open,
  OrNull,
  PASSKEY,
  Text,
  Timestamp,
} from '../openapi/fields.ts';
import { type OperationDoc, wrongField } from '../openapi/operation.ts';
import { CHOICE_REFUSED, TokenPair } from './auth.ts';

const CREDENTIAL = 'r0kQ4c1lqkWm0pXJ2nV7Yw';
const CHALLENGE = 'AZqz8w0k1mN0wYVnqk3t6h7kq2s5v8y_Bw';
const USER = 'cGVyc29uXzA2ZjNrOHIxdjJ3OXg0eTV6NmE3YjhjOWQw';

/** Bytes as browsers write them (RFC 4648, section 5, without padding). */
const Base64Url = (sample: string, maxLength: number, description?: string) =>
  Text(sample, description, { minLength: 1, maxLength, pattern: '^[A-Za-z0-9_-]+$' });

const Id = Type.String({
  pattern: `^${PASSKEY_ID}$`,
  examples: [PASSKEY],
});
const Name = Text(
  'Laptop of the office',
  'A name of 1 to 100 characters, without control characters, line breaks or marks of text direction.',
);
const ClientData = Base64Url('eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0', 8192);
const CredentialId = Base64Url(CREDENTIAL, 1400);

/** One item of `GET /account/person/passkeys/`. */
export const Passkey = Closed({
  id: Id,
  name: Name,
  created_at: Timestamp('The time when it was added.'),
  last_used_at: OrNull(Timestamp('The time when it was last used; null: never yet.')),
});

/** What the API takes of an answer of `navigator.credentials.get()`. Browsers write more, which is not looked at. */
export const Assertion = Open(
  {
    id: CredentialId,
    response: Open({
      clientDataJSON: ClientData,
      authenticatorData: Base64Url('SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ', 8192),
      signature: Base64Url('MEUCIQDTGVx5fZ2a', 2048),
      userHandle: Type.Optional(OrNull(Base64Url(USER, 128))),
    }),
  },
  { description: 'The answer of the browser: toJSON() of the credential.' },
);
/** What the API takes of an answer of `navigator.credentials.create()`. */
export const Registration = Open(
  {
    id: CredentialId,
    response: Open({
      clientDataJSON: ClientData,
      attestationObject: Base64Url('o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YVik', 16384),
    }),
  },
  { description: 'The answer of the browser: toJSON() of the new credential.' },
);

const Listed = Type.Array(Closed({ type: Type.Literal('public-key'), id: CredentialId }), {
  examples: [[]],
});
const Challenge = Text(CHALLENGE, 'It is good for 5 minutes, once, for this act alone.');
const Timeout = Type.Integer({ examples: [300_000] });

/** Options for `PublicKeyCredential.parseRequestOptionsFromJSON()`. */
export const PasskeyRequest = Closed({
  rpId: Text('pdf.example.com'),
  challenge: Challenge,
  timeout: Timeout,
  allowCredentials: Listed,
  userVerification: Type.Literal('required'),
});

/** Options for `PublicKeyCredential.parseCreationOptionsFromJSON()`. */
export const PasskeyCreation = Closed({
  rp: Closed({ id: Text('pdf.example.com'), name: Text('Pressledger') }),
  user: Closed({
    id: Text(USER),
    name: Text('ada@example.com'),
    displayName: Text('Ada Lovelace'),
  }),
  challenge: Challenge,
  pubKeyCredParams: Type.Array(
    Closed({
      type: Type.Literal('public-key'),
      alg: Type.Integer({ description: 'A COSE algorithm.', examples: [-7] }),
    }),
  ),
  timeout: Timeout,
  excludeCredentials: Listed,
  authenticatorSelection: Closed({
    residentKey: Type.Literal('required'),
    requireResidentKey: Flag('As residentKey, for old browsers.', true),
    userVerification: Type.Literal('required'),
  }),
  attestation: Type.Literal('none'),
});

/** A stolen session must not add a passkey, or remove one. */
const Confirmation = Closed({
  password: Type.Optional(
    Text(
      'correct horse battery',
      'Your password. One of password and passkey is needed, but for people without a password who have signed in with the identity provider in the last 5 minutes.',
      {
        format: 'password',
        minLength: 1,
        maxLength: 1024,
      },
    ),
  ),
  passkey: Type.Optional(Assertion),
});
const NewPasskey = Closed({ name: Name, passkey: Registration });
const PasskeyName = Closed({ name: Name });
const PasskeyOptionsRequest = Closed({});
export const PasskeySignIn = Closed({
  passkey: Assertion,
  account: Type.Optional(
    Text(ACCOUNT, 'The account to sign in to, for people who belong to several.', {
      pattern: `^${ACCOUNT_ID}$`,
    }),
  ),
});

export const checkConfirmation = compile(Confirmation);
export const checkNewPasskey = compile(NewPasskey);
export const checkPasskeyName = compile(PasskeyName);
export const checkOptionsRequest = compile(PasskeyOptionsRequest);
export const checkPasskeySignIn = compile(PasskeySignIn);

const HTTPS_ONLY = {
  when: 'The service is reached neither over HTTPS nor at localhost, or by a numeric address, or the page that asks is not of its address.',
  message: 'Passkeys work at https://pdf.example.com alone. Open this page there.',
};
const WRONG_CONFIRMATION = wrongField(
  'password',
  'Is not the password of your account.',
  'Neither a password nor a passkey is given, or it is not yours; or fields are unknown or invalid.',
);
const MANY =
  'The rate limit was exceeded, or there were too many failed sign-ins in 15 minutes, here and at sign-in.';
const LATE = {
  when: 'The passkey was asked for more than 5 minutes ago, or the session has ended.',
  message: 'The passkey was asked for 5 minutes ago. Try again.',
};

export const listPasskeysDoc: OperationDoc = {
  id: 'listPasskeys',
  tag: 'People',
  summary: 'List your passkeys',
  description: `The passkeys of the person who is signed in, at most ${MAX_PASSKEYS}.`,
  answers: { 200: { description: 'All of them.', schema: Type.Array(Passkey) } },
};

export const requestPasskeyDoc: OperationDoc = {
  id: 'requestPasskey',
  tag: 'People',
  summary: 'Ask for one of your passkeys',
  description:
    'Options for navigator.credentials.get(). Its answer confirms, in place of the password, an act of this session that needs more than the session.',
  answers: { 200: { description: 'The options.', schema: PasskeyRequest } },
  errors: { forbidden: HTTPS_ONLY },
};

export const createPasskeyDoc: OperationDoc = {
  id: 'createPasskey',
  tag: 'People',
  summary: 'Ask for a new passkey',
  description:
    'Options for navigator.credentials.create(). Send its answer to POST /account/person/passkeys/ within 5 minutes, in this session.',
  body: { schema: Confirmation },
  answers: { 200: { description: 'The options.', schema: PasskeyCreation } },
  errors: {
    forbidden: HTTPS_ONLY,
    unauthorized: LATE,
    validation_error: WRONG_CONFIRMATION,
    rate_limit_exceeded: MANY,
  },
};

export const postPasskeyDoc: OperationDoc = {
  id: 'addPasskey',
  tag: 'People',
  summary: 'Add a passkey',
  description:
    'From then on it signs in without a password: it counts as a second factor, too, because it asks for a finger, a face or a PIN.',
  body: { schema: NewPasskey },
  answers: {
    201: {
      description: 'The passkey was added.',
      schema: Passkey,
      examples: { added: example(Passkey, { last_used_at: null }) },
    },
  },
  errors: {
    forbidden: HTTPS_ONLY,
    validation_error: wrongField(
      'passkey',
      'This passkey is one of yours already.',
      'The answer is not one to options of this session in the last 5 minutes, it is yours already, or there are too many; or fields are unknown or invalid.',
    ),
  },
};

export const patchPasskeyDoc: OperationDoc = {
  id: 'renamePasskey',
  tag: 'People',
  summary: 'Rename a passkey',
  body: { schema: PasskeyName },
  answers: { 200: { description: 'The passkey, as it is now.', schema: Passkey } },
};

export const removePasskeyDoc: OperationDoc = {
  id: 'removePasskey',
  tag: 'People',
  summary: 'Remove a passkey',
  description:
    'It does not sign in any more. Sessions that it has opened go on: end them with DELETE /sessions/{id}/.',
  body: { schema: Confirmation },
  answers: { 204: { description: 'The passkey is removed. There is no body.' } },
  errors: {
    forbidden: HTTPS_ONLY,
    unauthorized: LATE,
    validation_error: WRONG_CONFIRMATION,
    rate_limit_exceeded: MANY,
  },
};

export const passkeyOptionsDoc: OperationDoc = {
  id: 'requestPasskeySignIn',
  tag: 'Authentication',
  summary: 'Ask for a passkey to sign in',
  description:
    'Options for navigator.credentials.get(). They name nobody: the browser shows the passkeys that it has for this service.',
  body: { schema: PasskeyOptionsRequest },
  answers: { 200: { description: 'The options.', schema: PasskeyRequest } },
  errors: { forbidden: HTTPS_ONLY },
};

export const signInErrors = {
  unauthorized: {
    when: 'The passkey is not known, its signature is not right or was used before, or it was asked for more than 5 minutes ago.',
    message:
      'The passkey is not known here, or was not accepted. Try again, or sign in with your password.',
  },
  ...CHOICE_REFUSED,
  not_found: {
    when: 'The passkey is right, and the person does not belong to the account.',
    message: 'You do not belong to an account with this id.',
  },
  rate_limit_exceeded:
    'The rate limit was exceeded, or there were too many failed sign-ins in 15 minutes.',
} as const;

export const passkeySignInDoc: OperationDoc = {
  id: 'signInWithPasskey',
  tag: 'Authentication',
  summary: 'Sign in with a passkey',
  description:
    'Exchanges the answer of navigator.credentials.get() for an access token and a refresh token. It stands for a password and a second factor.',
  body: { schema: PasskeySignIn },
  answers: { 200: { description: 'The tokens.', schema: TokenPair } },
  errors: signInErrors,
};
