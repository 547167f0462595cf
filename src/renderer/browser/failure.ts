import { constants } from 'node:os';
import type { ConversionFailureCode } from '../../domain/choices.ts';

/** The conversion ends here: the page or its request is at fault. The message is the client's text. */
export class PageFailure extends Error {
  override readonly name = 'PageFailure';
  readonly code: ConversionFailureCode;

  constructor(code: ConversionFailureCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The page crashed the process of its tab: it would do so again. */
export class TabCrashed extends PageFailure {
  constructor() {
    super(
      'page_crashed',
      'The page crashed its tab of the browser. Elements within each other by the thousands, or memory that a script ' +
        'takes at once, can be the reason.',
    );
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

/** How the process of a tab ended, as Chrome tells it. */
interface TabCrash {
  readonly status: string;
  readonly errorCode: number;
}

/**
 * Another program ends a tab with a signal that Chrome tells as `killed`: the kernel does where memory runs out. A full disk
 * below Chrome's shared memory is a bus error. What else ends the process of a tab is something that its page did there.
 */
export function crashReason({ status, errorCode }: TabCrash): Error {
  if (status !== 'crashed' || errorCode === constants.signals.SIGBUS) {
    return new ChromeGone(`The tab crashed: it was ${status} with ${errorCode}.`);
  }
  return new TabCrashed();
}
