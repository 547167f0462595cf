/** Turns the TAP of test files into what a person reads: a line per file, failures, the count. */
import { type FinalResults, Parser, type Result } from 'tap-parser';

export interface Tally {
  passed: number;
  failed: number;
  /** Names and reasons of what did not run: skipped and todo. */
  readonly skipped: string[];
  readonly files: { readonly name: string; readonly seconds: number }[];
}

/** The closing line: alone on its line, the last one of a run. */
export function closingLine({ passed, failed, skipped }: Tally): string {
  const rest = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
  return `${passed} passed, ${failed} failed${rest}`;
}

/** The files that took longest, the slowest first. */
export const slowestLines = ({ files }: Tally, count: number): readonly string[] =>
  files
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, count)
    .map(({ name, seconds }) => `slow ${seconds.toFixed(1).padStart(6)} s  ${name}`);

/** A time in words, such as `19 min 4 s`. */
export function durationText(seconds: number): string {
  const whole = Math.round(seconds);
  const minutes = Math.floor(whole / 60);
  return minutes === 0 ? `${whole} s` : `${minutes} min ${whole % 60} s`;
}

function place(diag: unknown): string {
  const at = diag instanceof Object && 'at' in diag ? diag.at : undefined;
  if (!(at instanceof Object && 'fileName' in at && 'lineNumber' in at)) return '';
  return `${String(at.fileName)}:${String(at.lineNumber)}`;
}

const indented = (text: string): string => text.trimEnd().replaceAll(/^(?=.)/gm, '      ');

/** Whatever the failed assertion says about itself, apart from what the place says already. */
function details(diag: unknown): string[] {
  if (!(diag instanceof Object)) return [];
  return Object.entries(diag)
    .filter(([key]) => !['at', 'source', 'tapCaught', 'cwd', 'args', 'stdio'].includes(key))
    .map(([key, value]) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      return text.includes('\n') ? `    ${key}:\n${indented(text)}` : `    ${key}: ${text}`;
    });
}

function failure(path: readonly string[], { diag }: Result): string {
  return [`  ✗ ${path.join(' › ')}  ${place(diag)}`.trimEnd(), ...details(diag)].join('\n');
}

/** How a test file ended: its process, and the TAP that it wrote. */
interface Ended {
  /** The exit status, or the signal that ended it. */
  readonly status: number | string;
  readonly seconds: number;
}

interface FileReport {
  /** Takes the TAP of the file. */
  readonly parser: Parser;
  /** Writes the file's line and failures. To be called when its process and the parser have ended. */
  readonly end: (ended: Ended) => void;
}

/** Says what went wrong with a file besides its assertions, if anything did. */
function faultOf(status: number | string, results: FinalResults | undefined): string | undefined {
  if (status !== 0) return `ended with ${status}`;
  if (results?.ok !== true) return results?.failures[0]?.tapError ?? 'its TAP is not whole';
  return results.count === 0 ? 'has no test' : undefined;
}

/**
 * Counts single assertions of files that run at the same time. A test or a file that fails although all of its assertions
 * passed (it crashed, timed out, or ended early) is one failure of its own.
 */
export function reportFiles(write: (line: string) => void): {
  tally: Tally;
  reportFile: (name: string) => FileReport;
} {
  const tally: Tally = { passed: 0, failed: 0, skipped: [], files: [] };

  const reportFile = (file: string): FileReport => {
    const count = { passed: 0, failed: 0 };
    const failures: string[] = [];

    const follow = (parser: Parser, path: readonly string[]): void => {
      let failedBefore: number | undefined;
      parser.on('child', (child: Parser) => {
        failedBefore = count.failed;
        follow(child, [...path, child.name]);
      });
      parser.on('assert', (result: Result) => {
        const before = failedBefore;
        failedBefore = undefined;
        const name = [...path, result.name];
        if (result.skip || result.todo) {
          const reason = result.skip ? result.skip : `todo ${String(result.todo)}`;
          tally.skipped.push(
            `${name.join(' › ')}: ${reason === true ? 'no reason given' : reason}`,
          );
        } else if (result.ok) {
          if (before === undefined) count.passed += 1;
        } else if (before === undefined || before === count.failed) {
          count.failed += 1;
          failures.push(failure(name, result));
        }
      });
    };

    const parser = new Parser();
    let results: FinalResults | undefined;
    parser.on('complete', (found: FinalResults) => {
      results = found;
    });
    follow(parser, [file]);

    const end = ({ status, seconds }: Ended): void => {
      const fault = count.failed > 0 ? undefined : faultOf(status, results);
      if (fault !== undefined) {
        count.failed += 1;
        failures.push(`  ✗ ${file}  ${fault}`);
      }
      tally.passed += count.passed;
      tally.failed += count.failed;
      tally.files.push({ name: file, seconds });
      const assertions = count.passed + count.failed;
      const word = count.failed > 0 ? 'FAIL' : 'ok  ';
      write(`${word} ${file}  ${assertions} assertions, ${seconds.toFixed(1)} s`);
      for (const each of failures) write(each);
    };
    return { parser, end };
  };
  return { tally, reportFile };
}
