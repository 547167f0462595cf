/** What the person at the terminal reads: one line per step, with the seconds it takes. */

/** Something that the person can act on; its message is one clear line. */
export class SetupError extends Error {
  /** @override */
  name = 'SetupError';
}

const QUIET_EVERY_SECONDS = 15;

/** @param {string} line */
export function say(line) {
  process.stderr.write(`set-up: ${line}\n`);
}

/**
 * Runs one long step and says so: its title at once, the seconds meanwhile, and the end.
 * @template T
 * @param {string} title
 * @param {() => Promise<T>} work
 */
export async function step(title, work) {
  const started = performance.now();
  const seconds = () => Math.round((performance.now() - started) / 1000);
  const terminal = process.stderr.isTTY;
  const show = () =>
    terminal ? process.stderr.write(`\r\x1b[Kset-up: ${title} … ${seconds()} s`) : undefined;
  if (terminal) show();
  else say(`${title} …`);
  const timer = setInterval(
    () => (terminal ? show() : say(`${title} … ${seconds()} s`)),
    terminal ? 1000 : QUIET_EVERY_SECONDS * 1000,
  );
  let outcome = 'failed after';
  try {
    const result = await work();
    outcome = 'done in';
    return result;
  } finally {
    clearInterval(timer);
    if (terminal) process.stderr.write('\r\x1b[K');
    say(`${title}: ${outcome} ${seconds()} s`);
  }
}
