/** Turns the TAP of a whole run into what a person reads: a line per file, failures, the count. */
import { Parser, type Result } from 'tap-parser';

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

/**
 * Counts single assertions. A test or a file that fails although all of its assertions passed (it
 * crashed, timed out, or ended early) is one failure of its own.
 */
export function reportTap(write: (line: string) => void): { parser: Parser; tally: Tally } {
  const tally: Tally = { passed: 0, failed: 0, skipped: [], files: [] };
  let failures: string[] = [];

  const follow = (parser: Parser, path: readonly string[]): void => {
    let subtest: { readonly failedBefore: number; readonly countedBefore: number } | undefined;
    parser.on('child', (child: Parser) => {
      subtest = { failedBefore: tally.failed, countedBefore: tally.passed + tally.failed };
      follow(child, [...path, child.name]);
    });
    parser.on('assert', (result: Result) => {
      const inner = subtest;
      subtest = undefined;
      const name = [...path, result.name];
      if (result.skip || result.todo) {
        const reason = result.skip ? result.skip : `todo ${String(result.todo)}`;
        tally.skipped.push(`${name.join(' › ')}: ${reason === true ? 'no reason given' : reason}`);
      } else if (result.ok) {
        if (inner === undefined) tally.passed += 1;
      } else if (inner === undefined || inner.failedBefore === tally.failed) {
        tally.failed += 1;
        failures.push(failure(name, result));
      }
      if (path.length === 0) endFile(result, inner?.countedBefore ?? 0);
    });
  };

  const endFile = (file: Result, countedBefore: number): void => {
    const count = tally.passed + tally.failed - countedBefore;
    const seconds = Math.round((file.time ?? 0) / 100) / 10;
    tally.files.push({ name: file.name, seconds });
    write(
      `${file.ok ? 'ok  ' : 'FAIL'} ${file.name}  ${count} assertions, ${seconds.toFixed(1)} s`,
    );
    for (const each of failures) write(each);
    failures = [];
  };

  const parser = new Parser();
  follow(parser, []);
  return { parser, tally };
}
