/** Runs the test files that TEST_FILES names in this process, on a source that has one bug: MUTANT names it. */
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { Mutant } from './mutants.ts';

const { MUTANT, TEST_FILES = '[]' } = process.env;
if (MUTANT !== undefined) {
  const { file, start, end, text } = JSON.parse(MUTANT) as Mutant & { readonly file: string };
  const url = pathToFileURL(file).href;
  registerHooks({
    load(loaded, context, nextLoad) {
      const module = nextLoad(loaded, context);
      if (loaded !== url || typeof module.source === 'string' || !module.source) return module;
      const source = Buffer.from(module.source as Uint8Array);
      const mutated = [source.subarray(0, start), Buffer.from(text), source.subarray(end)];
      return { ...module, source: Buffer.concat(mutated) };
    },
  });
}
for (const file of JSON.parse(TEST_FILES) as string[]) await import(pathToFileURL(file).href);
