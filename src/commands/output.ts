/**
 * All that a command writes for people and programs. Text in it comes from clients, pages and servers
 * too, so whatever is written here is made harmless for terminals first.
 */
import { plainJson, plainText } from '../plain-text.ts';
import type { Output } from './command.ts';

/** Writes one line on standard error: what went wrong. */
export function writeFailure(text: string): void {
  process.stderr.write(`pressledger: ${plainText(text)}\n`);
}

/** @param wantsJson one JSON document on standard output, and nothing else there */
export function createOutput(wantsJson: boolean): Output & { end(): void } {
  const terminal = process.stderr.isTTY;
  let progressShown = false;
  const endProgress = (): void => {
    if (progressShown && terminal) process.stderr.write('\n');
    progressShown = false;
  };
  return {
    wantsJson,
    line: (text) => {
      endProgress();
      if (!wantsJson) process.stdout.write(`${plainText(text)}\n`);
    },
    json: (value) => {
      endProgress();
      if (wantsJson) process.stdout.write(`${plainJson(JSON.stringify(value, null, 2))}\n`);
    },
    note: (text) => {
      endProgress();
      process.stderr.write(`${plainText(text)}\n`);
    },
    progress: (text) => {
      progressShown = true;
      const line = plainText(text);
      process.stderr.write(terminal ? `\r\u001b[K${line}` : `${line}\n`);
    },
    end: endProgress,
  };
}
