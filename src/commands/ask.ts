import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';

/**
 * Asks the user of a terminal, on standard error.
 * @throws {Error} the user gives up with Ctrl-C or Ctrl-D: `cancelled` says what that means
 */
export async function ask(
  question: string,
  { hidden = false, cancelled }: { readonly hidden?: boolean; readonly cancelled: string },
): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = hidden ? nowhere : process.stderr;
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  // Only now does the terminal no longer echo.
  if (hidden) process.stderr.write(question);
  const stop = new AbortController();
  terminal.once('close', () => stop.abort());
  try {
    return await terminal.question(hidden ? '' : question, { signal: stop.signal });
  } catch {
    process.stderr.write('\n');
    throw new Error(cancelled);
  } finally {
    terminal.close();
    if (hidden) process.stderr.write('\n');
  }
}
