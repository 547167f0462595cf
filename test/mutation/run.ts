/**
 * `run.ts FILE…` puts one bug after another into each source file, and says which ones the unit tests do not catch.
 * No file is changed: the bug is put in while the module is loaded.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { type Mutant, mutantsOf } from './mutants.ts';

const TIMEOUT_MS = 60_000;

const write = (line: string): void => void process.stdout.write(`${line}\n`);

const wanted = process.argv.slice(2);
const sources = wanted.length > 0 ? wanted : globSync('src/domain/*.ts').toSorted();
const tests = globSync('test/unit/**/*.test.ts').map((file) => ({
  file,
  text: readFileSync(file, 'utf8'),
}));

/** All of the domain, and others that import the source themselves. */
const testsOf = (source: string): readonly string[] =>
  tests
    .filter(
      ({ file, text }) =>
        file.startsWith('test/unit/domain/') || text.includes(`/${basename(source)}'`),
    )
    .map(({ file }) => file)
    // Those that are named after it, or import it, are most likely to fail: the first failure ends a run.
    .toSorted((a, b) => Number(b.includes(stem(source))) - Number(a.includes(stem(source))));

const stem = (source: string): string => basename(source, '.ts');

async function passes(source: string, mutant: Mutant | undefined): Promise<boolean> {
  const child = spawn(process.execPath, ['test/mutation/mutated.ts', ...testsOf(source)], {
    stdio: 'ignore',
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    env: {
      ...process.env,
      TAP_BAIL: '1',
      ...(mutant && { MUTANT: JSON.stringify({ file: source, ...mutant }) }),
    },
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0;
}

function describe(source: string, { start, end, text }: Mutant): string {
  const bytes = readFileSync(source);
  const line = bytes.toString('utf8', 0, start).split('\n').length;
  return `${source}:${line}: ${bytes.toString('utf8', start, end).trim()} → ${text.trim()}`;
}

let total = 0;
let caught = 0;
for (const source of sources) {
  const mutants = [...mutantsOf(readFileSync(source, 'utf8'))];
  if (mutants.length === 0) continue;
  if (!(await passes(source, undefined))) throw new Error(`The tests of ${source} fail as it is.`);
  const survivors: Mutant[] = [];
  const waiting = [...mutants];
  const runNext = async (): Promise<void> => {
    for (let each = waiting.shift(); each !== undefined; each = waiting.shift()) {
      if (await passes(source, each)) survivors.push(each);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, runNext));
  total += mutants.length;
  caught += mutants.length - survivors.length;
  write(`${source}: ${mutants.length - survivors.length} of ${mutants.length}`);
  const inOrder = survivors.toSorted((a, b) => a.start - b.start);
  for (const each of inOrder) write(`  ${describe(source, each)}`);
}
write(`${caught} of ${total} bugs are caught (${Math.round((100 * caught) / total)} %).`);
