/**
 * How many of the corpus' documents give the same bytes each time with `deterministic`: `same-bytes.ts [TIMES]`. Each is
 * printed in two Chromes, that many times in each, at the same time. The corpus is that of the renderer's tests.
 */
import { visibleDifference } from '../test/support/same-pdf.ts';
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

const times = Number(process.argv[2] ?? 2);
const renderers = [await startTestRenderer(), await startTestRenderer()];
const differing: string[] = [];
let printed = 0;
const started = performance.now();
for (const { name, html, frame, options } of DOCUMENTS) {
  const asked = { print_background: true, ...options, deterministic: true };
  const pdfs: Buffer[] = [];
  for (let time = 0; time < times; time += 1) {
    const each = renderers.map((one) => one.bytes({ html, ...frame }, asked, accountId()));
    pdfs.push(...(await Promise.all(each)));
  }
  printed += 1;
  const [first = Buffer.alloc(0), ...others] = pdfs;
  const other = others.find((pdf) => !pdf.equals(first));
  if (other === undefined) continue;
  const seen = await visibleDifference(first, other);
  differing.push(`${name}: ${seen ?? 'nothing that is seen'}`);
}
const each = (performance.now() - started) / (printed * times);
await Promise.all(renderers.map((one) => one.close()));
process.stdout.write(
  `${printed - differing.length} of ${printed} documents gave the same bytes ${times * 2} times, ` +
    `in ${each.toFixed(0)} ms for two\n${differing.map((line) => `  ${line}\n`).join('')}`,
);
