/** What is written down for a route; the rest of its entry in the document follows from the route. */
import type { TSchema } from 'typebox';
import type { ErrorCode, ErrorDetails } from '../../errors.ts';
import type { HeaderName } from './headers.ts';

export const TAGS = {
  Conversions: 'Ask for a PDF, follow it, download it.',
  Account: 'The own account and what its credits went into.',
  'API keys': 'Make, list and revoke keys. A key or an access token may do so.',
  'Sign-in': 'Tokens for people: an access token for 5 minutes, a refresh token for a day.',
  Service: 'For operators and tools. No credential.',
} as const;

export interface ParameterDoc {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  /** False unless given, but for parameters of the path. */
  readonly required?: boolean;
  readonly description: string;
  readonly schema: TSchema;
}

export interface AnswerDoc {
  readonly description: string;
  /** The body's media type; JSON unless said. Without one and without a schema: no body. */
  readonly media?: string;
  readonly schema?: TSchema;
  /** Name to body; made from the schema unless given. */
  readonly examples?: Readonly<Record<string, unknown>>;
  readonly headers?: readonly HeaderName[];
}

export interface ErrorDoc {
  readonly when: string;
  /** As the service says it here; the code's own text unless given. */
  readonly message?: string;
  readonly details?: ErrorDetails;
  readonly headers?: readonly HeaderName[];
}

export interface OperationDoc {
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly ParameterDoc[];
  readonly body?: {
    readonly schema: TSchema;
    readonly examples: Readonly<Record<string, object>>;
  };
  /** Status to answer: the successes. */
  readonly answers: Readonly<Record<number, AnswerDoc>>;
  /** Errors beside those that follow from the route's credential and body, or in better words. */
  readonly errors?: Partial<Readonly<Record<ErrorCode, ErrorDoc>>>;
}
