import { PageFailure } from './failure.ts';

/** The step under way, in the words of the message that a client reads when time runs out. */
export type Phase = 'was loading' | 'was getting ready' | 'was being printed';

/** The one time limit of a conversion, seen from inside its page. All times in milliseconds. */
export class Deadline {
  phase: Phase = 'was loading';
  readonly #end: number;

  constructor(ms: number) {
    this.#end = performance.now() + ms;
  }

  remaining(): number {
    return Math.max(0, this.#end - performance.now());
  }

  /** A part of what remains, and never more than `cap`: no single wait may eat the whole time. */
  share(part: number, cap = Number.POSITIVE_INFINITY): number {
    return Math.min(this.remaining() * part, cap);
  }

  failure(): PageFailure {
    return new PageFailure(
      'timeout',
      `The time limit was reached while the page ${this.phase}. A script that never ends, a slow ` +
        'server or a very large document can be the reason.',
    );
  }
}

/** Settles as `promise` does, or resolves to `undefined` after `ms`. */
export async function resultWithin<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, elapsed]);
  } finally {
    clearTimeout(timer);
    // A promise that nobody waits for any more must not end the process when it fails later.
    promise.catch(() => {});
  }
}
