/** The examples of docs/rendering.md, each printed by the service. */
import { test } from 'tap';
import type { ConversionOptions } from '../../client/src/conversion-options.ts';
import { guideBlocks } from '../support/guide.ts';
import { openPdf } from '../support/pdf.ts';
import { startService } from '../support/service.ts';
import { fontUri } from '../support/tiny-font.ts';

// Stand-ins for libraries: each draws some time after it was called, as they do.
const CHART = `class Chart {
  constructor(canvas, { data }) {
    const begun = performance.now();
    requestAnimationFrame(function draw() {
      if (performance.now() - begun < 1000) requestAnimationFrame(draw);
      else canvas.replaceWith(data.labels.join(' '));
    });
  }
}`;
const MERMAID = `onload = () => setTimeout(() => {
  for (const each of document.querySelectorAll('.mermaid')) each.textContent = 'a diagram';
}, 500);`;

const base64 = (content: string | Uint8Array): string => Buffer.from(content).toString('base64');
const FILES: Readonly<Record<string, string>> = {
  'chart.js': base64(CHART),
  'mermaid.js': base64(MERMAID),
  'orders.json': base64('[{"number": 4711, "total": "20.00"}]'),
  'house.woff2': fontUri('House', { advance: 500, height: 700 }).replace(/^.*,/, ''),
};

/** A word of each example to what must be on its pages. */
const EXPECTED: Readonly<Record<string, readonly RegExp[]>> = {
  'new Chart': [/2024 2025 2026/],
  flowchart: [/^a diagram$/],
  'new Worker': [/^The sum is 42$/],
  'orders.json': [/4711\s+20\.00/],
  'house.woff2': [/Invoice/],
  Figures: [/Annual report\s+Annual report\s+Page 1 of 2/, /Figures\s+Annual report\s+Page 2 of 2/],
  '@bottom-right': [/^Page 1 of 2\s+Cover$/, /^Draft\s+Page 2 of 2\s+Chapter$/],
  'break-before: page; }\n  h3': [/^Statement$/, /Date[^]*day 1\b/, /Date[^]*day 60\b/],
  Dashboard: [],
  'new Date(0)': [/^1\.1\.1970, 01:00:00$/],
};

void test('every example of the guide to rendering is printed as it says', async (t) => {
  const service = await startService(t, { RATE_LIMIT_PRO: '100000' });
  const client = service.client();
  const examples: readonly ConversionOptions[] = [
    ...guideBlocks('rendering.md', 'html').map((html) => ({ html, files: FILES })),
    ...guideBlocks('rendering.md', 'json').map((block) => JSON.parse(block) as ConversionOptions),
  ];
  t.equal(examples.length, Object.keys(EXPECTED).length);
  for (const [word, pages] of Object.entries(EXPECTED)) {
    const example = examples.find(({ html }) => html?.includes(word));
    if (!example) throw new Error(`no example has ${word}`);
    const record = await client.wait((await client.create(example)).id);
    t.same(record.warnings ?? [], [], word);
    const pdf = await new Response(await client.download(record)).bytes();
    if (example.format === 'png') {
      t.equal(Buffer.from(pdf).toString('latin1', 1, 4), 'PNG', word);
      continue;
    }
    const printed = (await openPdf(pdf)).pages.map(({ text }) => text.trim());
    t.match(printed, pages, word);
    t.equal(printed.length, pages.length, word);
  }
});
