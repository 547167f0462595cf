/** Of a limit. */
const STEPS = 8;

/**
 * What the work resolves to, unless it takes longer; it is not ended then. A limit is counted in steps:
 * what keeps this process busy for long counts as one of them, for the answer may be there already.
 * @throws what the work throws, or `late`
 */
export async function within<T>(
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
