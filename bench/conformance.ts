/**
 * How many of the corpus' documents conform, by conformance, and what keeps the rest: `conformance.ts [DIRECTORY]`. With a
 * directory the PDFs that conform are written below it, for checks by other people's programs. The corpus is that of the
 * renderer's tests.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CONFORMANCES } from '../src/domain/request-document.ts';
import { finishDocument } from '../src/pdf/finish-document.ts';
import { BUSINESS } from '../test/renderer/corpus/business.ts';
import { CONTENT } from '../test/renderer/corpus/content.ts';
import type { CorpusDocument } from '../test/renderer/corpus/document.ts';
import { LAYOUT } from '../test/renderer/corpus/layout.ts';
import { PAGED } from '../test/renderer/corpus/paged.ts';
import { SCRIPTED } from '../test/renderer/corpus/scripted.ts';
import { startTestRenderer } from '../test/support/renderer.ts';
import { accountId } from '../test/support/samples.ts';

const DOCUMENTS: readonly CorpusDocument[] = [
  ...BUSINESS,
  ...PAGED,
  ...LAYOUT,
  ...CONTENT,
  ...SCRIPTED,
];
const MARGINS = { top: 30, bottom: 30 };

const directory = process.argv[2];
/** By conformance: the findings, each with the number of documents that it is the first of. */
const obstacles = new Map(CONFORMANCES.map((each) => [each, new Map<string, number>()]));
let printed = 0;
const spent = new Map(CONFORMANCES.map((each) => [each, 0]));

/** What is found, without its place and without what it quotes. */
const kindOf = (finding = ''): string =>
  finding
    .replace(/^page \d+: /, '')
    .replace(/“.*”/s, '“…”')
    .replace(/the font \S+/, 'a font')
    .replace(/:.*$| \([^)]*\)$/s, '');

const renderer = await startTestRenderer();
const account = accountId();
for (const [n, { html, frame, options }] of DOCUMENTS.entries()) {
  const request = { html, ...frame };
  const result = await renderer.render(
    request,
    { print_background: true, ...options, tagged: true },
    30_000,
    account,
  );
  if (result.kind !== 'completed') continue;
  printed += 1;
  const pdf = await readFile(result.path);
  await rm(result.path);
  for (const conformance of CONFORMANCES) {
    const plan = {
      conformance: [conformance],
      attachments: [],
      margins: MARGINS,
      namesLanguage: /<html[^>]* lang=/.test(html),
    };
    const before = process.cpuUsage();
    const { bytes, findings } = finishDocument(pdf, plan);
    const { user, system } = process.cpuUsage(before);
    spent.set(conformance, (spent.get(conformance) ?? 0) + (user + system) / 1_000);
    const [finding] = findings;
    if (finding === undefined) {
      if (directory === undefined) continue;
      const folder = join(directory, conformance);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${String(n + 1).padStart(3, '0')}.pdf`), bytes);
    } else {
      const kind = kindOf(finding);
      const counts = obstacles.get(conformance);
      counts?.set(kind, (counts.get(kind) ?? 0) + 1);
    }
  }
}
await renderer.close();

const lines = [...obstacles].map(([conformance, counts]) => {
  const failed = [...counts.values()].reduce((sum, each) => sum + each, 0);
  const reasons = [...counts]
    .toSorted(([, a], [, b]) => b - a)
    .map(([kind, count]) => `${count}: ${kind}`);
  const share = `${printed - failed} of ${printed}`;
  const each = `${((spent.get(conformance) ?? 0) / printed).toFixed(1)} ms`;
  return `| \`${conformance}\` | ${share} | ${each} | ${reasons.join('; ')} |\n`;
});
process.stdout.write(
  `| conformance | conform | processor time | what keeps the rest |\n|---|---|---|---|\n${lines.join('')}`,
);
