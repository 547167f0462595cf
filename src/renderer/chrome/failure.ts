import type { ConversionFailureCode } from '../../domain/events.ts';

/** The conversion ends here: the page or its request is at fault. The message is the client's text. */
export class PageFailure extends Error {
  override readonly name = 'PageFailure';
  readonly code: ConversionFailureCode;

  constructor(code: ConversionFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The browser or its tab died; that proves nothing about the page, so another try is in order. */
export class ChromeGone extends Error {
  override readonly name = 'ChromeGone';
}

/** Chrome did not start. The message is for the operator: what was tried, what Chrome said, what helps. */
export class ChromeStartError extends Error {
  override readonly name = 'ChromeStartError';
}
