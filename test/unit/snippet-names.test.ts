/** The environment variables of the snippets in the guides. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => join('docs', name))];

void test('snippets have one name for the server and one for the key, set before it is used', (t) => {
  for (const page of PAGES.filter((name) => name.endsWith('.md'))) {
    const text = readFileSync(join(ROOT, page), 'utf8');
    t.notMatch(text, /\$\{?(URL|KEY|API_KEY|SERVER|PRESSLEDGER_URL|PRESSLEDGER_KEY)\b/, page);
    for (const name of ['PRESSLEDGER_SERVER', 'PRESSLEDGER_API_KEY']) {
      const used = text.indexOf(`$${name}`);
      if (used >= 0) t.match(text.slice(0, used), `${name}=`, `${page}: ${name} is set first`);
    }
  }
  t.end();
});
