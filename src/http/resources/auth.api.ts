import Type from 'typebox';
import type { OperationDoc } from '../openapi/operation.ts';

const closed = { additionalProperties: false } as const;

/** The body of `POST /auth/jwt/create/`. */
export const SignInRequest = Type.Object(
  {
    email: Type.String({ minLength: 1, maxLength: 320, examples: ['ada@example.com'] }),
    password: Type.String({
      format: 'password',
      minLength: 1,
      maxLength: 1024,
      examples: ['correct horse battery'],
    }),
  },
  closed,
);

/** The body of `POST /auth/jwt/refresh/` and of `POST /auth/jwt/revoke/`. */
export const RefreshRequest = Type.Object(
  {
    refresh: Type.String({
      minLength: 1,
      maxLength: 4096,
      description: 'The refresh token.',
      examples: ['eyJhbGciOiJFZERTQSIsInR5cCI6InJ0K2p3dCJ9.…'],
    }),
  },
  closed,
);

/** The answer of `POST /auth/jwt/create/` and of `POST /auth/jwt/refresh/`. */
export const TokenPair = Type.Object(
  {
    access: Type.String({
      description: 'The access token, for Authorization: Bearer …. It is valid for 5 minutes.',
      examples: ['eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.…'],
    }),
    refresh: Type.String({
      description:
        'The refresh token, for new access tokens. It is valid for a day, or until it is signed out.',
      examples: ['eyJhbGciOiJFZERTQSIsInR5cCI6InJ0K2p3dCJ9.…'],
    }),
  },
  { additionalProperties: false },
);

const refreshToken = { refresh: 'eyJhbGciOiJFZERTQSIsInR5cCI6InJ0K2p3dCJ9.…' };

const badRefreshToken = {
  when: 'The refresh token is wrong, expired or signed out.',
  message: 'The refresh token is not valid or has expired.',
};

export const createTokenPairDoc: OperationDoc = {
  id: 'signIn',
  tag: 'Authentication',
  summary: 'Sign in',
  description:
    'Exchanges an email address and a password for an access token and a refresh token. An account that has as many open sessions as it may have loses the oldest.',
  body: {
    schema: SignInRequest,
    examples: { person: { email: 'ada@example.com', password: 'correct horse battery' } },
  },
  answers: { 200: { description: 'The tokens.', schema: TokenPair } },
  errors: {
    unauthorized: {
      when: 'The email address or the password is wrong.',
      message: 'The email address or the password is wrong.',
    },
    rate_limit_exceeded: {
      when: 'The rate limit was exceeded, or there were too many failed sign-ins in 15 minutes: for this email address, from this client, from its network, or in total. A client from which the owner has signed in before is counted on its own.',
    },
  },
};

export const refreshAccessDoc: OperationDoc = {
  id: 'refreshAccessToken',
  tag: 'Authentication',
  summary: 'Refresh the access token',
  description: 'Exchanges a refresh token for a new access token.',
  body: { schema: RefreshRequest, examples: { token: refreshToken } },
  answers: {
    200: {
      description:
        'A new access token, and the refresh token that was sent. The refresh token keeps its expiry time.',
      schema: TokenPair,
    },
  },
  errors: { unauthorized: badRefreshToken },
};

export const signOutDoc: OperationDoc = {
  id: 'signOut',
  tag: 'Authentication',
  summary: 'Sign out',
  description: 'Invalidates the refresh token and its access tokens at once.',
  body: { schema: RefreshRequest, examples: { token: refreshToken } },
  answers: { 204: { description: 'The tokens are no longer valid. There is no body.' } },
  errors: { unauthorized: badRefreshToken },
};
