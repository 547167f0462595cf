/** The page Documents: the request that it sends, how it calls fields, and the samples that it shows. */
import { test } from 'tap';
import {
  fieldsOfStep,
  STEP_TYPES,
  STEPS,
  type StepType,
  shownStep,
  withStep,
} from '../../../dashboard/src/pages/documents/steps.ts';
import {
  formOf,
  labelOf,
  sampleOf,
  type WorkDraft,
  workFields,
  workOf,
} from '../../../dashboard/src/pages/documents/work.ts';
import { type ApiDocument, fieldsOf } from '../../../dashboard/src/request/schema.ts';
import type { Values } from '../../../dashboard/src/request/values.ts';
import { curlOfWork, typescriptOfWork } from '../../../samples/documents.ts';
import { readConfig } from '../../../src/config/config.ts';
import { buildDocument } from '../../../src/http/openapi/document.ts';
import { ROUTES } from '../../../src/http/routes.ts';
import { STEP_FIELDS } from '../../../src/requests/documents.ts';

const config = readConfig({});
const document = buildDocument(ROUTES, { publicUrl: 'http://localhost', config });
const FIELDS = workFields(fieldsOf(document as unknown as ApiDocument, 'DocumentRequest'));
const ID = `conv_${'0'.repeat(26)}`;

const DRAFT: WorkDraft = {
  sources: [
    { key: 1, name: 'a"b.pdf', bytes: 3, file: new File(['one'], 'a"b.pdf') },
    { key: 2, name: 'Receipt', bytes: 5, conversion: ID, password: "it's" },
    { key: 3, name: 'c.pdf', bytes: 3, file: new File(['two'], 'c.pdf'), password: '' },
  ],
  steps: [
    { key: 4, type: 'rotate', values: { rotate: 90, pages: '' } },
    { key: 5, type: 'stamp', values: { what: 'text', place: 'top', text: '<Q & A>', opacity: 1 } },
    { key: 6, type: 'split', values: { parts: '1-2\n\n 3 ' } },
  ],
  named: { filename: 'Report', tags: [{ name: 'month', value: '11' }], retention_seconds: 60 },
};

void test('each step has the fields that the service takes for it', (t) => {
  t.strictSame([...STEP_TYPES, 'merge'].toSorted(), Object.keys(STEP_FIELDS).toSorted());
  for (const type of STEP_TYPES) {
    const names = fieldsOfStep(type, FIELDS.steps.fields).map(({ name }) => name);
    const { needs, takes } = STEP_FIELDS[type];
    t.strictSame(names.toSorted(), [...needs, ...takes].toSorted(), type);
  }
  t.end();
});

void test('the work is sent as a form, without what was left empty', async (t) => {
  const form = formOf(workOf(DRAFT, FIELDS));
  const json = (name: string): unknown => {
    const text = form.get(name);
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  };
  t.strictSame(json('sources'), [{}, { conversion: ID, password: "it's" }, {}]);
  const [rotate, stamp, split] = json('steps') as { html?: string }[];
  t.strictSame(rotate, { type: 'rotate', rotate: 90 });
  t.match(stamp?.html, /<p style="[^"<]*">&lt;Q &amp; A><\/p><\/div>$/);
  t.strictSame({ ...stamp, html: '' }, { type: 'stamp', html: '' });
  t.strictSame(split, { type: 'split', parts: ['1-2', '3'] });
  t.equal(form.get('filename'), 'Report');
  t.strictSame(json('tags'), { month: '11' });
  t.equal(form.get('retention_seconds'), '60');
  const files = form.getAll('files') as unknown as File[];
  t.strictSame(await Promise.all(files.map((file) => file.text())), ['one', 'two']);
});

void test('a new step stands before those that come last', (t) => {
  const added = (['split', 'pages', 'optimize', 'rotate', 'encrypt'] as const)
    .map((type, key) => ({ key, type, values: {} }))
    .reduce<ReturnType<typeof withStep>>(withStep, []);
  const types = added.map(({ type }) => type);
  t.strictSame(types, ['pages', 'rotate', 'optimize', 'encrypt', 'split']);
  t.end();
});

const label = (path: string) => labelOf(DRAFT, FIELDS, path);

const again = (type: StepType, sent: Values) => {
  const values = shownStep(type, sent, FIELDS.steps.fields);
  return workOf({ ...DRAFT, steps: [{ key: 1, type, values }] }, FIELDS).request.steps?.[0];
};

void test('a step that was sent is shown again', (t) => {
  const sent: [StepType, Values][] = [
    ['stamp', { html: '<p>Draft</p>', opacity: 0.5 }],
    ['stamp', { image: 'AAAA', pages: '2' }],
    ['split', { parts: ['1', '2-3'] }],
    ['encrypt', { user_password: 'hush', permissions: { print: false } }],
  ];
  for (const [type, values] of sent) t.strictSame(again(type, values), { type, ...values });
  t.end();
});

void test('a path is called by its PDF, or by its step and field', (t) => {
  t.equal(label('sources'), 'PDFs');
  t.equal(label('sources.1.conversion'), 'Receipt');
  t.equal(label('steps.0'), 'Turn pages');
  t.equal(label('steps.0.rotate'), 'Turn pages: Degrees');
  t.equal(label('steps.1.html'), 'Stamp: Text');
  t.equal(label('steps.2.parts.1'), 'Split into parts: Pages of each part: 2');
  t.equal(label('retention_seconds'), 'Retention seconds');
  t.end();
});

void test('the samples name files, conversions, passwords, steps and names', (t) => {
  const sample = sampleOf(DRAFT, FIELDS, 'http://pdf.example');
  const curl = curlOfWork(sample);
  t.match(
    curl,
    String.raw`--form 'files=@"a\"b.pdf"' \
  --form 'files=@"c.pdf"'`,
  );
  const sources = `[{},{"conversion":"${ID}","password":"it'\\''s"},{}]`;
  t.match(curl, `--form-string 'sources=${sources}'`);
  t.match(curl, `--form-string 'tags={"month":"11"}'`);
  t.notMatch(curl, 'Prefer', 'the answer is a batch at once');
  t.match(curlOfWork({ ...sample, steps: [] }), /--output document\.pdf[^]*Prefer: wait=30/);
  const typescript = typescriptOfWork(sample);
  t.match(typescript, `{ file: await readFile("a\\"b.pdf", 'base64') },`);
  t.match(typescript, `{"conversion":"${ID}","password":"it's"},`);
  t.match(typescript, '["1-2","3"],\n  [\n    {\n      "type": "rotate"');
  t.notMatch(typescript, '"type": "split"');
  const [name] = sample.sources;
  const plain = typescriptOfWork({ ...sample, sources: name ? [name] : [], steps: [], named: {} });
  t.match(plain, /create\(\n {2}\[\n[^\n]*\n {2}\],\n\);/, 'what is empty is left out');
  t.end();
});

void test('steps that are not filled in yet have samples, too', (t) => {
  for (const [key, type] of STEP_TYPES.entries()) {
    const empty = { ...DRAFT, steps: [{ key, type, values: STEPS[type].start }] };
    const sample = sampleOf(empty, FIELDS, 'http://pdf.example');
    t.match(curlOfWork(sample), `"type": "${type}"`);
    t.match(typescriptOfWork(sample), type === 'split' ? 'split(' : `"type": "${type}"`);
  }
  t.end();
});

void test('steps that are too long are read from a file', (t) => {
  const image = 'A'.repeat(70_000);
  const long = { type: 'stamp', values: { what: 'image', image } } as const;
  const [first, ...others] = DRAFT.steps;
  const steps = [{ key: 9, ...long }, ...(first ? [first] : []), ...others];
  const sample = sampleOf({ ...DRAFT, steps }, FIELDS, 'http://pdf.example');
  t.match(curlOfWork(sample), "--form 'steps=<steps.json'");
  t.match(typescriptOfWork(sample), /split\([^]*\["1-2","3"\],\n[^\n]*'steps\.json'.*filter\(/);
  for (const text of [curlOfWork(sample), typescriptOfWork(sample)]) t.ok(text.length < 5000);
  t.end();
});
