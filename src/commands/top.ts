import { setTimeout as delay } from 'node:timers/promises';
import { errorMessage } from '../errors/error-message.ts';
import { plainText } from '../text/plain-text.ts';
import { type Run, UsageError } from './command.ts';
import { statusLines, wrapped } from './status.ts';

const REFRESH_MS = 1_000;
/** A screen of its own without a cursor, and back to the one before. */
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
const REST_OF_LINE = '\u001b[K';
const REST_OF_SCREEN = '\u001b[J';
const CTRL_C = '\u0003';

/** Draws in place, so that nothing flickers; what does not fit is cut off. */
function draw(lines: readonly string[]): void {
  const broken = wrapped(lines);
  // Some terminals say that they have no size.
  const rows = process.stdout.rows || 24;
  const fitting = broken.length <= rows ? broken : [...broken.slice(0, rows - 1), '…'];
  const drawn = fitting.map((line) => line + REST_OF_LINE);
  process.stdout.write(HOME + drawn.join('\r\n') + REST_OF_SCREEN);
}

export const top: Run = async (_, { open, output }) => {
  if (output.wantsJson || !process.stdout.isTTY || !process.stdin.isTTY) {
    throw new UsageError("top needs a terminal: use 'pressledger status' elsewhere.");
  }
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const { stdin, stdout } = process;
  const typed = (text: string): void => {
    if (/q/i.test(text) || text.includes(CTRL_C)) end();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  await open.withStatus(async (look) => {
    for (const each of signals) process.on(each, end);
    stdin.setRawMode(true).setEncoding('utf8').on('data', typed).resume();
    stdout.write(ENTER);
    try {
      while (!ending.signal.aborted) {
        const lines = await look().then(statusLines, (error: unknown) => [
          plainText(errorMessage(error)),
        ]);
        draw([`pressledger top  ${new Date().toISOString().slice(11, 19)}Z  q: end`, ...lines]);
        await delay(REFRESH_MS, undefined, ending).catch(() => {});
      }
    } finally {
      stdout.write(LEAVE);
      stdin.setRawMode(false).pause();
    }
  });
};
