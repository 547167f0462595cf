/** What help and docs/settings.md say about settings, held against what there is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { allCommands } from '../../src/commands/all.ts';
import { parseLine } from '../../src/commands/cli.ts';
import { settingsOf } from '../../src/commands/help.ts';
import { type Config, readConfig } from '../../src/config/config.ts';
import { type Role, SETTINGS } from '../../src/config/settings.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/settings.md'), 'utf8');

const NAMES = Object.values(SETTINGS).map(({ name }) => name);
const namesOf = (role: Role): readonly string[] => settingsOf(role).map(([name]) => name);

void test('the whole service reads every setting that is read at all', (t) => {
  t.strictSame(Object.keys(SETTINGS), Object.keys(readConfig({})));
  t.strictSame(namesOf('start'), NAMES);
  t.strictSame(new Set([...namesOf('api'), ...namesOf('renderer')]), new Set(NAMES));
  t.end();
});

void test('a renderer is told of nothing that concerns the ledger', (t) => {
  const own = namesOf('renderer');
  for (const name of ['EVENT_STORE_URL', 'MASTER_KEY', 'FREE_CREDITS', 'PUBLIC_URL']) {
    t.notOk(own.includes(name), name);
    t.ok(namesOf('api').includes(name), name);
  }
  for (const name of ['CHROME_PATH', 'RENDER_CONCURRENCY', 'RENDER_TIMEOUT_MS']) {
    t.ok(own.includes(name), name);
    t.notOk(namesOf('api').includes(name), name);
  }
  t.end();
});

void test('each has its meaning and its default in one line', (t) => {
  const defaults = readConfig({});
  const lines = new Map(settingsOf('start'));
  for (const [key, { name }] of Object.entries(SETTINGS)) {
    const line = lines.get(name) ?? '';
    t.match(line, /^\S.* \(default \S[^()]*\)$/, name);
    t.notMatch(line, /undefined|\n/, name);
    const value = defaults[key as keyof Config];
    const told = typeof value === 'string' || typeof value === 'boolean';
    if (told && key !== 'dataDir') t.ok(line.endsWith(`(default ${value})`), name);
  }
  t.match(lines.get('PORT'), 'default 8080');
  t.end();
});

void test('help lists those that nobody needs to touch apart', (t) => {
  const parsed = parseLine(['start', '--help'], allCommands);
  const [usual = '', limits = ''] = parsed.type === 'help' ? parsed.text.split('\nLimits (') : [];
  for (const name of ['PORT', 'RETENTION_SECONDS']) t.match(usual, `  ${name} `);
  for (const name of ['MAX_VALIDATIONS', 'MAX_QUEUED']) {
    t.match(limits, `  ${name} `);
    t.notMatch(usual, `  ${name} `);
  }
  t.end();
});

void test('docs/settings.md lists every setting once, and none that is not read', (t) => {
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const listed = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  );
  t.strictSame(listed.toSorted(), [...NAMES].toSorted());
  t.end();
});
