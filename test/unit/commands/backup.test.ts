import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { backup } from '../../../src/commands/backup.ts';
import { commandContext } from '../../support/command-context.ts';
import { testDirectory } from '../../support/directory.ts';

const backedUpTo = async (place: string): Promise<unknown> =>
  await backup({ positionals: [place], values: {} }, commandContext());

void test('a mistyped name of a command is not a place for a backup', async (t) => {
  for (const [typed, meant] of [
    ['verfiy', 'verify'],
    ['verif', 'verify'],
    ['keyrng', 'keyring'],
  ] as const) {
    await t.rejects(backedUpTo(typed), {
      name: 'UsageError',
      message: `Did you mean 'backup ${meant}'? To back up to a new folder of that name, write ./${typed}.`,
    });
  }
  const folder = join(testDirectory(t), 'verif');
  mkdirSync(folder);
  for (const place of ['./verif', folder, 's3://verif/keyring']) {
    await t.rejects(backedUpTo(place), { message: 'the store would be opened now' });
  }
});
