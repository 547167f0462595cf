/** The page Documents: the request that it sends, how it calls fields, and the samples that it shows. */
import { test } from 'tap';
import { formOf, sampleOf, workOf } from '../../../dashboard/src/pages/documents/work.ts';
import { broughtBack, replacedBy, withPart } from '../../../dashboard/src/request/edited.ts';
import { type ApiDocument, fieldsOf } from '../../../dashboard/src/request/schema.ts';
import { stampHtml } from '../../../dashboard/src/request/stamp.ts';
import {
  itemOf,
  labelOfPath,
  newItem,
  optionsOf,
  placesIn,
  type Values,
  withItem,
} from '../../../dashboard/src/request/values.ts';
import { curlOfWork, samplesOfWork, typescriptOfWork } from '../../../samples/documents.ts';
import { LANGUAGES } from '../../../samples/all.ts';
import { readConfig } from '../../../src/config/config.ts';
import { buildDocument } from '../../../src/http/openapi/document.ts';
import { ROUTES } from '../../../src/http/routes.ts';
import { STEP_FIELDS, type StepType } from '../../../src/requests/documents.ts';

const config = readConfig({});
const document = buildDocument(ROUTES, { publicUrl: 'http://localhost', config });
const FIELDS = fieldsOf(document as unknown as ApiDocument, 'DocumentRequest');
const STEPS = FIELDS.filter(({ name }) => name === 'steps');
const TYPES = STEPS.flatMap(({ types }) => types);
const typeOf = (type: string) => TYPES.filter((each) => each.type === type);
const ID = `conv_${'0'.repeat(26)}`;

const DRAFT = {
  sources: [
    { key: 1, name: 'a"b.pdf', bytes: 3, file: new File(['one'], 'a"b.pdf') },
    { key: 2, name: 'Receipt', bytes: 5, conversion: ID, password: "it's" },
    { key: 3, name: 'c.pdf', bytes: 3, file: new File(['two'], 'c.pdf'), password: '' },
  ],
  steps: [
    { key: 4, type: 'rotate', rotate: 90, pages: '' },
    { key: 5, type: 'stamp', what: 'text', text: 'Q', html: '<p>Q', opacity: 1 },
    { key: 6, type: 'split', parts: '1-2\n\n 3 ' },
  ],
  filename: 'Report',
  tags: [{ name: 'month', value: '11' }],
  retention_seconds: 60,
};

void test('each step has the fields that the service takes for it', (t) => {
  t.strictSame(
    [...TYPES.map(({ type }) => type), 'merge'].toSorted(),
    Object.keys(STEP_FIELDS).toSorted(),
  );
  for (const { type, fields } of TYPES) {
    const { needs, takes } = STEP_FIELDS[type as StepType];
    t.strictSame(fields.map(({ name }) => name).toSorted(), [...needs, ...takes].toSorted(), type);
  }
  const pages = typeOf('pages').flatMap(({ fields }) => fields.map(({ label: each }) => each));
  t.strictSame(pages, ['Pages to keep'], 'a step calls its fields as it wants');
  t.match(typeOf('rotate').map(itemOf), [{ type: 'rotate', rotate: 90 }]);
  t.match(typeOf('attach').map(itemOf), [{ type: 'attach', attachments: [{}] }]);
  t.end();
});

void test('the work is sent as a form, without what was left empty', async (t) => {
  const form = formOf(workOf(FIELDS, DRAFT));
  const json = (name: string): unknown => {
    const text = form.get(name);
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  };
  t.strictSame(json('sources'), [{}, { conversion: ID, password: "it's" }, {}]);
  t.strictSame(json('steps'), [
    { type: 'rotate', rotate: 90 },
    { type: 'stamp', html: '<p>Q' },
    { type: 'split', parts: ['1-2', '3'] },
  ]);
  t.equal(form.get('filename'), 'Report');
  t.strictSame(json('tags'), { month: '11' });
  t.equal(form.get('retention_seconds'), '60');
  const files = form.getAll('files') as unknown as File[];
  t.strictSame(await Promise.all(files.map((file) => file.text())), ['one', 'two']);
});

void test('a text that is stamped is text, whatever signs it has', (t) => {
  t.match(stampHtml('<Q & A>', 'top'), /<p style="[^"<]*">&lt;Q &amp; A><\/p><\/div>$/);
  t.equal(stampHtml('', 'top'), undefined, 'without a text there is no stamp');
  t.end();
});

void test('a new step stands before those that come last', (t) => {
  const added = ['split', 'pages', 'optimize', 'rotate', 'encrypt'].map((type) =>
    newItem({ type }),
  );
  for (const field of STEPS) {
    const steps = added.reduce<readonly Values[]>(
      (before, step) => withItem(field, before as typeof added, step),
      [],
    );
    const types = steps.map(({ type }) => type);
    t.strictSame(types, ['pages', 'rotate', 'encrypt', 'optimize', 'split']);
  }
  t.end();
});

const label = (path: string) => labelOfPath(FIELDS, path, DRAFT);

void test('a step that was sent is shown again', (t) => {
  const steps = [
    { type: 'stamp', html: '<p>Draft</p>', opacity: 0.5 },
    { type: 'stamp', image: 'AAAA', pages: '2' },
    { type: 'encrypt', user_password: 'hush', permissions: { print: false } },
    { type: 'split', parts: ['1', '2-3'] },
  ];
  const shown = optionsOf(FIELDS, { steps: [{ type: 'merge' }, ...steps] });
  t.strictSame(workOf(FIELDS, shown).request.steps, steps, 'but for one that goes without saying');
  t.end();
});

void test('a path is called by its PDF, or by its step and field', (t) => {
  t.equal(label('sources'), 'PDFs');
  t.equal(label('sources.1.conversion'), 'Receipt: Conversion');
  t.equal(label('steps.0'), 'Turn pages');
  t.equal(label('steps.0.rotate'), 'Turn pages: Degrees');
  t.equal(label('steps.1.html'), 'Stamp: Text', 'as the person filled it in');
  const untouched = { steps: [{ key: 1, type: 'stamp' }] };
  t.equal(labelOfPath(FIELDS, 'steps.0.html', untouched), 'Stamp: Text', 'as its form asks');
  t.match(workOf(FIELDS, untouched).request.steps, [{ type: 'stamp', html: '' }]);
  const picture = { steps: [{ key: 1, type: 'stamp', what: 'image' }] };
  t.match(workOf(FIELDS, picture).request.steps, [{ type: 'stamp', image: '' }]);
  t.equal(label('steps.2.parts.1'), 'Split into parts: Pages of each part: 2');
  t.equal(label('retention_seconds'), 'Keep for');
  t.end();
});

void test('what was there before comes back whole, and what was there since after it', (t) => {
  const first = { draft: DRAFT as Values, number: 0 };
  const reset = replacedBy(first, Object.fromEntries(FIELDS.map(({ name }) => [name, undefined])));
  const since = withPart(reset, { steps: [{ key: 9, type: 'optimize' }], filename: 'Other' });
  const back = broughtBack(since);
  t.strictSame(back.draft, DRAFT);
  t.equal(back.number, 2, 'editors begin again');
  t.strictSame(broughtBack(back).draft, since.draft);
  const empty = broughtBack(withPart(replacedBy({ draft: {}, number: 0 }, {}), { filename: 'a' }));
  t.strictSame(empty.draft, {}, 'nothing of another work is left');
  t.end();
});

const places = (attachments: readonly object[]) =>
  placesIn({ pdf: { attachments }, steps: [{ key: 3, attachments: [] }] });

void test('items in other places are noticed, also within others', (t) => {
  const [one, two] = [{ key: 1 }, { key: 2 }];
  t.not(places([one, two]), places([two, one]));
  t.not(places([one, two]), places([one]));
  t.equal(places([one, two]), places([{ ...one, filename: 'a.csv' }, two]), 'an edit moves none');
  t.end();
});

void test('the samples name files, conversions, passwords, steps and names', (t) => {
  const sample = sampleOf(FIELDS, DRAFT, 'http://pdf.example');
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

const idsOf = (work: Parameters<typeof samplesOfWork>[0]) =>
  samplesOfWork(work).map(({ id }) => id);

void test('PDFs that the service has are worked on in all languages', (t) => {
  const work = sampleOf(FIELDS, DRAFT, 'http://pdf.example');
  const stored = {
    ...work,
    sources: work.sources.filter(({ conversion }) => conversion !== undefined),
    steps: work.steps.filter(({ type }) => type !== 'split'),
  };
  t.strictSame(
    idsOf(stored),
    LANGUAGES.map(({ id }) => id),
  );
  const own = ['curl', 'typescript'];
  t.strictSame(idsOf({ ...stored, sources: work.sources }), own, 'files are read by these');
  t.strictSame(idsOf({ ...stored, steps: work.steps }), own, 'a split has no PDF of its own');
  t.strictSame(idsOf({ ...stored, sources: [] }), own);
  for (const { id, code } of samplesOfWork(stored)) {
    t.match(code, id === 'typescript' ? 'client.documents.create(' : 'documents/', id);
    t.notMatch(code, 'v1/pdf/', id);
    t.match(code, ID, id);
  }
  t.end();
});

void test('steps that are not filled in yet have samples, too', (t) => {
  for (const each of TYPES) {
    const { type } = each;
    const sample = sampleOf(FIELDS, { ...DRAFT, steps: [itemOf(each)] }, 'http://pdf.example');
    t.match(curlOfWork(sample), `"type": "${type}"`);
    t.match(typescriptOfWork(sample), type === 'split' ? 'split(' : `"type": "${type}"`);
  }
  t.end();
});

void test('steps that are too long are read from a file', (t) => {
  const long = { type: 'stamp', image: 'A'.repeat(70_000) };
  const steps = [long, ...DRAFT.steps];
  const sample = sampleOf(FIELDS, { ...DRAFT, steps }, 'http://pdf.example');
  t.match(curlOfWork(sample), "--form 'steps=<steps.json'");
  t.match(typescriptOfWork(sample), /split\([^]*\["1-2","3"\],\n[^\n]*'steps\.json'.*filter\(/);
  for (const text of [curlOfWork(sample), typescriptOfWork(sample)]) t.ok(text.length < 5000);
  t.end();
});
