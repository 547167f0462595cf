import Type from 'typebox';
import type { OperationDoc } from '../openapi/operation.ts';

const closed = { additionalProperties: false } as const;

/** The body of `POST /auth/jwt/create/`. */
export const SignInRequest = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 320 }),
    password: Type.String({ minLength: 1, maxLength: 1024 }),
  },
  closed,
);

/** The body of `POST /auth/jwt/refresh/` and of `POST /auth/jwt/revoke/`. */
export const RefreshRequest = Type.Object(
  { refresh: Type.String({ minLength: 1, maxLength: 4096 }) },
  closed,
);

/** The answer of `POST /auth/jwt/create/` and of `POST /auth/jwt/refresh/`. */
export const TokenPair = Type.Object(
  {
    access: Type.String({
      description: 'Sent as Authorization: Bearer … for 5 minutes.',
      examples: ['eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.…'],
    }),
    refresh: Type.String({
      description: 'Gets new access tokens for a day, unless it is signed out.',
      examples: ['eyJhbGciOiJFZERTQSIsInR5cCI6InJ0K2p3dCJ9.…'],
    }),
  },
  { additionalProperties: false },
);

const refreshToken = { refresh: 'eyJhbGciOiJFZERTQSIsInR5cCI6InJ0K2p3dCJ9.…' };

const badRefreshToken = {
  when: 'The refresh token is wrong, has expired or was signed out.',
  message: 'The refresh token is not valid or has expired.',
};

export const createTokenPairDoc: OperationDoc = {
  id: 'signIn',
  tag: 'Sign-in',
  summary: 'Sign in',
  description: 'Where the account has as many open sessions as it may have, the oldest ends.',
  body: {
    schema: SignInRequest,
    examples: { person: { email: 'ada@example.com', password: 'correct horse battery' } },
  },
  answers: { 200: { description: 'Signed in.', schema: TokenPair } },
  errors: {
    unauthorized: {
      when: 'The address or the password is wrong; which of them is not said.',
      message: 'The email address or the password is wrong.',
    },
    rate_limit_exceeded: {
      when: 'More requests than a minute allows, or too many wrong tries in 15 minutes: with the address, from the client, from its network, or in all. A client from which the owner has signed in before has a count of its own.',
    },
  },
};

export const refreshAccessDoc: OperationDoc = {
  id: 'refreshAccess',
  tag: 'Sign-in',
  summary: 'Get a new access token',
  body: { schema: RefreshRequest, examples: { token: refreshToken } },
  answers: {
    200: {
      description:
        'A new access token, and the refresh token that was sent: it lives its whole day.',
      schema: TokenPair,
    },
  },
  errors: { unauthorized: badRefreshToken },
};

export const signOutDoc: OperationDoc = {
  id: 'signOut',
  tag: 'Sign-in',
  summary: 'Sign out',
  description: 'Ends the refresh token and its access tokens at once.',
  body: { schema: RefreshRequest, examples: { token: refreshToken } },
  answers: { 204: { description: 'Signed out. No body.' } },
  errors: { unauthorized: badRefreshToken },
};
