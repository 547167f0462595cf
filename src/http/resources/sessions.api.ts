import Type from 'typebox';
import { SESSION_KINDS } from '../../domain/choices.ts';
import { SESSION_ID } from '../../domain/ids.ts';
import { type OperationDoc, Timestamp } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOfItems, WRONG_QUERY } from '../pagination.ts';

const closed = { additionalProperties: false } as const;

const Client = Type.Object(
  {
    user_agent: Type.Union([
      Type.String({
        description: 'The User-Agent that it sent, at most 256 characters; null if it sent none.',
        examples: ['Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0'],
      }),
      Type.Null(),
    ]),
    address: Type.Union([
      Type.String({ description: 'Its address when it signed in.', examples: ['192.0.2.7'] }),
      Type.Null(),
    ]),
  },
  {
    ...closed,
    description: 'The client that signed in; null for an old session without a record.',
  },
);

/** One item of `GET /sessions/`. */
export const Session = Type.Object(
  {
    id: Type.String({
      pattern: `^${SESSION_ID}$`,
      examples: ['sess_06f3k8r1v2w9x4y5z6a7b8c9d0'],
    }),
    kind: Type.Enum([...SESSION_KINDS], {
      description: 'dashboard: held by a cookie of a browser; api: held by a refresh token.',
      examples: ['dashboard'],
    }),
    opened_at: Timestamp('The time of the sign-in.'),
    expires_at: Timestamp('The time when the session ends at the latest.'),
    current: Type.Boolean({
      description: 'true for the session that the request was sent with.',
      examples: [true],
    }),
    client: Type.Union([Client, Type.Null()]),
  },
  closed,
);

export const listSessionsDoc: OperationDoc = {
  id: 'listSessions',
  tag: 'Authentication',
  summary: 'List sessions',
  description: 'All sessions that are open, newest first, with the client that each was opened by.',
  parameters: PAGE_PARAMETERS,
  answers: { 200: pageOfItems(Session) },
  errors: { validation_error: WRONG_QUERY },
};

export const deleteSessionDoc: OperationDoc = {
  id: 'endSession',
  tag: 'Authentication',
  summary: 'End a session',
  description: 'Takes effect at once: the next request with any of its tokens is refused with 401.',
  parameters: [
    {
      name: 'id',
      in: 'path',
      description: 'The id of the session.',
      schema: Type.String({ examples: ['sess_06f3k8r1v2w9x4y5z6a7b8c9d0'] }),
    },
  ],
  answers: { 204: { description: 'The session has ended. There is no body.' } },
  errors: {
    not_found: {
      when: 'The account has no session with this id, or it has ended before.',
      message: 'There is no such session.',
    },
  },
};

export const deleteSessionsDoc: OperationDoc = {
  id: 'endAllSessions',
  tag: 'Authentication',
  summary: 'End all sessions',
  description: 'Ends all sessions of the account at once, this one too. API keys stay valid.',
  answers: { 204: { description: 'All sessions have ended. There is no body.' } },
};
