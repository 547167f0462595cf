/** A thread that does what the task says, for tests of threads. */
import { workerData } from 'node:worker_threads';

export type Script = 'answer' | 'throw' | 'exit' | 'spin' | 'collect';

if (workerData === 'broken') throw new Error('It is broken.');

export default function run({ script }: { readonly script: Script }): string {
  const kept: object[] = [];
  switch (script) {
    case 'answer':
      return JSON.stringify(process.env);
    case 'throw':
      throw new RangeError('as told');
    case 'exit':
      process.exit(3);
    case 'spin':
      for (;;);
    case 'collect':
      for (;;) kept.push({ kept });
  }
}
