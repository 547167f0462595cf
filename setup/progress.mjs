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

/** @type {Map<string, () => number>} the seconds of each step that runs, by its title */
const running = new Map();

function showRunning() {
  const steps = Array.from(running, ([title, seconds]) => `${title} … ${seconds()} s`);
  process.stderr.write(`\r\x1b[K${steps.length > 0 ? `set-up: ${steps.join(', ')}` : ''}`);
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
  running.set(title, seconds);
  if (terminal) showRunning();
  else say(`${title} …`);
  const timer = setInterval(
    () => (terminal ? showRunning() : say(`${title} … ${seconds()} s`)),
    terminal ? 1000 : QUIET_EVERY_SECONDS * 1000,
  );
  let outcome = 'failed after';
  try {
    const result = await work();
    outcome = 'done in';
    return result;
  } finally {
    clearInterval(timer);
    running.delete(title);
    if (terminal) process.stderr.write('\r\x1b[K');
    say(`${title}: ${outcome} ${seconds()} s`);
    if (terminal) showRunning();
  }
}
