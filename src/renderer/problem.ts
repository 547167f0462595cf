import type { ConversionFailureCode } from '../domain/events.ts';

/** Why there is no PDF. */
export interface Problem {
  /** True if it may be no fault of the document, so that another try is in order. */
  readonly retry: boolean;
  readonly code: ConversionFailureCode;
  /** The client's text, when no further try follows. */
  readonly message: string;
}

/** The node stops, and this job is none of what it still ends. */
export const PUT_BACK = 'put back';
