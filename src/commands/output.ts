import type { Output } from './command.ts';

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
      if (!wantsJson) process.stdout.write(`${text}\n`);
    },
    json: (value) => {
      endProgress();
      if (wantsJson) process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
    },
    progress: (text) => {
      progressShown = true;
      process.stderr.write(terminal ? `\r\u001b[K${text}` : `${text}\n`);
    },
    end: endProgress,
  };
}
