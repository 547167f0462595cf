import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { findChrome } from '../../src/renderer/browser/find.ts';

async function programs(t: Test, names: readonly string[]): Promise<string> {
  const directory = t.testdir(Object.fromEntries(names.map((name) => [name, '#!/bin/sh\n'])));
  for (const name of names) await chmod(join(directory, name), 0o755);
  return directory;
}

void test('a headless shell is preferred to a full Chrome, wherever they lie', async (t) => {
  const directory = await programs(t, ['google-chrome', 'chrome-headless-shell', 'chromium']);
  const found = await findChrome({
    searchPath: `/nowhere:${directory}`,
    usualPlaces: [join(directory, 'chromium')],
  });
  t.same(found, { path: join(directory, 'chrome-headless-shell'), source: 'installed' });
});

void test('the operator decides, and a wrong choice is not replaced by another', async (t) => {
  const directory = await programs(t, ['mine', 'google-chrome']);
  const chromePath = join(directory, 'mine');
  t.same(await findChrome({ chromePath, searchPath: directory }), {
    path: chromePath,
    source: 'CHROME_PATH',
  });
  const wrong = findChrome({ chromePath: `${chromePath}-not`, searchPath: directory });
  await t.rejects(wrong, { name: 'ChromeStartError', message: /mine-not/ });
});

void test("the set-up's Chrome comes before a full one, and without any the error says what to do", async (t) => {
  const directory = t.testdir({ shell: '#!/bin/sh\n', executable: '' });
  const shell = join(directory, 'shell');
  await chmod(shell, 0o755);
  const fallbackFile = join(t.testdirName, 'executable');
  await t.rejects(findChrome({ usualPlaces: [], fallbackFile }), { message: /apt-get install/ });
  await writeFile(fallbackFile, `${shell}\n`);
  const brought = { path: shell, source: 'set-up' };
  t.same(await findChrome({ usualPlaces: [], fallbackFile }), brought);
  const full = join(directory, 'chromium');
  await writeFile(full, '#!/bin/sh\n', { mode: 0o755 });
  t.same(await findChrome({ usualPlaces: [full], fallbackFile }), brought);
  t.same(await findChrome({ usualPlaces: [full] }), { path: full, source: 'installed' });
});
