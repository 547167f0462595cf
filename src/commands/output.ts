/**
 * All that a command writes for people and programs. Text in it comes from clients, pages and servers
 * too, so whatever is written here is made harmless for terminals first.
 */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import type { VerifyProgress } from '../log/verify-log.ts';
import { plainJson, plainText } from '../text/plain-text.ts';
import { type Cell, type Output } from './command.ts';
import { counted, numberText } from '../domain/counted.ts';

const TICK_MS = 1000;

/** Writes one line on standard error: what went wrong. */
export function writeFailure(text: string): void {
  process.stderr.write(`pressledger: ${plainText(text)}\n`);
}

/** `2026-11-21 08:15:30Z`: in UTC, as the history, the logs and `--as-of` have it. */
const timeText = (time: Date): string => time.toISOString().replace('T', ' ').replace(/\.\d+/, '');

function textOf(cell: Cell, forPeople: boolean): string {
  if (typeof cell === 'number' && forPeople) return numberText(cell);
  if (cell instanceof Date) return forPeople ? timeText(cell) : cell.toISOString();
  return cell === null || cell === undefined ? (forPeople ? '-' : '') : plainText(String(cell));
}

/** The lines of a table for people: numbers to the right, the last column as long as it is. */
function inColumns(heads: readonly string[], rows: readonly (readonly Cell[])[]): string[] {
  const texts = rows.map((row) => row.map((cell) => textOf(cell, true)));
  const lines = heads.length === 0 ? texts : [heads, ...texts];
  const first = rows[0] ?? [];
  const ofNumbers = first.map((_, at) => {
    const cells = rows.flatMap((row) => row[at] ?? []);
    return cells.length > 0 && cells.every((cell) => typeof cell === 'number');
  });
  const widths = first.map((_, at) =>
    lines.reduce((width, line) => Math.max(width, line[at]?.length ?? 0), 0),
  );
  return lines.map((line) =>
    line
      .map((text, at) =>
        ofNumbers[at] === true ? text.padStart(widths[at] ?? 0) : text.padEnd(widths[at] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
}

function write(line: string): void {
  process.stdout.write(`${line}\n`);
}

/**
 * @param wantsJson one JSON document on standard output, and nothing else there
 * @param wantsHeads the names of columns also where standard output is not a terminal
 */
export function createOutput(wantsJson: boolean, wantsHeads = false): Output & { end(): void } {
  const onTerminal = process.stderr.isTTY;
  let ticker: NodeJS.Timeout | undefined;
  let shown = false;
  const endProgress = (): void => {
    clearInterval(ticker);
    if (shown) process.stderr.write('\r\u001b[K');
    shown = false;
  };
  const show = (text: string): void => {
    shown = onTerminal;
    const line = plainText(text);
    process.stderr.write(onTerminal ? `\r\u001b[K${line}` : `${line}\n`);
  };
  const note = (text: string): void => {
    endProgress();
    process.stderr.write(`${plainText(text)}\n`);
  };
  return {
    wantsJson,
    line: (text) => {
      endProgress();
      if (!wantsJson) write(plainText(text));
    },
    table: (heads, rows, ifNone) => {
      endProgress();
      if (wantsJson) return;
      if (rows.length === 0) {
        if (ifNone !== undefined) note(ifNone);
        return;
      }
      const lines = process.stdout.isTTY
        ? inColumns(heads, rows)
        : [...(wantsHeads && heads.length > 0 ? [heads] : []), ...rows].map((row) =>
            row.map((cell) => textOf(cell, false)).join('\t'),
          );
      for (const line of lines) write(line);
    },
    json: (value) => {
      endProgress();
      if (wantsJson) write(plainJson(JSON.stringify(value, null, 2)));
    },
    note,
    progress: (text) => {
      clearInterval(ticker);
      show(text);
    },
    waiting: (text) => {
      clearInterval(ticker);
      show(text);
      if (!onTerminal) return;
      const began = performance.now();
      ticker = setInterval(() => {
        show(`${text} (${Math.round((performance.now() - began) / 1000)} s)`);
      }, TICK_MS);
      ticker.unref();
    },
    end: endProgress,
  };
}

const PAUSE_MS = 1000;

/** Makes a text only where it is time to tell one. */
export function seldom(output: Output): (text: () => string) => void {
  let toldAt = performance.now();
  return (text) => {
    if (performance.now() - toldAt < PAUSE_MS) return;
    toldAt = performance.now();
    output.progress(text());
  };
}

/** Of reading a log, and its files. */
export function progressOn(output: Output): (progress: VerifyProgress) => void {
  const tell = seldom(output);
  return ({ done, total, isEstimate = false, perSecond }) =>
    tell(() =>
      total === undefined
        ? `${counted(done, 'file')}, ${Math.round(perSecond)} a second`
        : eventsRead({ done, total, isEstimate, perSecond }),
    );
}

/** @param what each thing is, in the singular */
export function countOn(output: Output, what: string): (done: number, total: number) => void {
  const tell = seldom(output);
  return (done, total) => tell(() => `${numberText(done)} of ${counted(total, what)}`);
}

/** The progress of reading the log. */
export function eventsRead(progress: {
  readonly done: number;
  readonly total: number;
  readonly isEstimate?: boolean;
  readonly perSecond: number;
}): string {
  const { done, total, isEstimate = false, perSecond } = progress;
  const percent = total === 0 ? 100 : Math.floor((done / total) * 100);
  const rate = Math.round(perSecond);
  return `${numberText(done)} of ${isEstimate ? 'about ' : ''}${counted(total, 'event')} (${percent} %), ${rate} a second`;
}

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
