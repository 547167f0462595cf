/** The limit is counted in this many steps. */
const STEPS = 8;

/**
 * Resolves to what the work resolves to, unless it takes longer. The work is not ended then. A limit is
 * counted in steps. A time in which this process is busy counts as one of them: the answer may be there.
 * @throws what the work throws, or `late`
 */
export async function withTimeout<T>(
  ms: number,
  work: Promise<T>,
  late = (): Error => new Error(`No answer within ${ms} ms.`),
): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  let left = STEPS;
  const timer = setInterval(() => {
    left -= 1;
    if (left === 0) reject(late());
  }, ms / STEPS);
  try {
    return await Promise.race([work, tooLate]);
  } finally {
    clearInterval(timer);
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
