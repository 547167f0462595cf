/**
 * `run.ts [--every N] FILE…` puts one bug after another into each source file, or each Nth of them, and says which ones
 * the unit tests do not catch. No file is changed: the bug is put in while the module is loaded.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { type Mutant, mutantsOf } from './mutants.ts';

/** A bug may make a loop endless: a run may take so many times as long as one without a bug. */
const MAX_TIMES = 10;

const write = (line: string): void => void process.stdout.write(`${line}\n`);

const { values, positionals: wanted } = parseArgs({
  options: { every: { type: 'string', default: '1' } },
  allowPositionals: true,
});
const every = Number(values.every);
if (!(Number.isInteger(every) && every > 0))
  throw new Error('--every must be a whole number above 0.');
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

/** @param timeout in milliseconds; 0: none */
async function passes(source: string, timeout = 0, mutant?: Mutant): Promise<boolean> {
  const child = spawn(process.execPath, ['test/mutation/mutated.ts'], {
    stdio: 'ignore',
    timeout,
    killSignal: 'SIGKILL',
    env: {
      ...process.env,
      TAP_BAIL: '1',
      TAP_TIMEOUT: '0',
      // Not as arguments: tap names folders of tests after all of them, and such a name can become too long.
      TEST_FILES: JSON.stringify(testsOf(source)),
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

let seen = 0;
let total = 0;
let caught = 0;
for (const source of sources) {
  const mutants = [...mutantsOf(readFileSync(source, 'utf8'))].filter(() => seen++ % every === 0);
  if (mutants.length === 0) continue;
  const started = performance.now();
  if (!(await passes(source))) throw new Error(`The tests of ${source} fail as it is.`);
  const timeout = Math.ceil(MAX_TIMES * (performance.now() - started));
  const survivors: Mutant[] = [];
  const waiting = [...mutants];
  const runNext = async (): Promise<void> => {
    for (let each = waiting.shift(); each !== undefined; each = waiting.shift()) {
      if (await passes(source, timeout, each)) survivors.push(each);
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
