import { TokenPair } from '../../schemas/auth-answers.ts';
import { RefreshRequest, SignInRequest } from '../../schemas/auth-requests.ts';
import type { OperationDoc } from '../operation.ts';

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
