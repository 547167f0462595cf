import Type from 'typebox';
import { type OperationDoc, Timestamp } from '../openapi/operation.ts';
import { SignInRequest } from './auth.api.ts';

/** The answer of `POST /dashboard/session` and of `GET /dashboard/session`. */
export const DashboardAccess = Type.Object(
  {
    access: Type.String({
      description: 'The access token, for Authorization: Bearer ….',
      examples: ['eyJhbGciOiJFZERTQSIsInR5cCI6ImF0K2p3dCJ9.…'],
    }),
    expires_at: Timestamp('The time until which the access token is valid: 5 minutes at most.'),
  },
  { additionalProperties: false },
);

const ended = {
  when: 'There is no cookie, or its session has ended.',
  message: 'The session has ended. Sign in again.',
};

export const openDashboardSessionDoc: OperationDoc = {
  id: 'openDashboardSession',
  tag: 'Dashboard',
  summary: 'Sign in to the dashboard',
  description:
    'Sets a cookie that only /dashboard/session accepts, and returns an access token. The session ends after a day without use, and after a week.',
  body: {
    schema: SignInRequest,
    examples: { person: { email: 'ada@example.com', password: 'correct horse battery' } },
  },
  answers: {
    200: {
      description: 'The session was opened.',
      schema: DashboardAccess,
      headers: ['Set-Cookie'],
    },
  },
  errors: {
    unauthorized: {
      when: 'The email address or the password is wrong.',
      message: 'The email address or the password is wrong.',
    },
    rate_limit_exceeded: {
      when: 'The rate limit was exceeded, or there were too many failed sign-ins in 15 minutes.',
    },
  },
};

export const renewDashboardSessionDoc: OperationDoc = {
  id: 'renewDashboardSession',
  tag: 'Dashboard',
  summary: 'Renew the access token of the dashboard',
  description: 'Returns another access token, and renews the cookie.',
  answers: {
    200: { description: 'The session goes on.', schema: DashboardAccess, headers: ['Set-Cookie'] },
  },
  errors: { unauthorized: ended },
};

export const endDashboardSessionDoc: OperationDoc = {
  id: 'endDashboardSession',
  tag: 'Dashboard',
  summary: 'Sign out of the dashboard',
  description: 'Ends the session: its cookie and its access tokens are no longer valid.',
  answers: {
    204: { description: 'The session has ended. There is no body.', headers: ['Set-Cookie'] },
  },
  errors: { unauthorized: ended },
};
