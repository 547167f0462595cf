/** The playground's form: what it sends for the fields that a schema asks for, and how it calls them. */
import { test } from 'tap';
import {
  changesFiles,
  NO_TEMPLATE,
  requestOf,
  wholeUrl,
} from '../../../dashboard/src/pages/playground/request.ts';
import type { Field } from '../../../dashboard/src/request/schema.ts';
import { changedCount, labelOfPath, optionsOf } from '../../../dashboard/src/request/values.ts';

const field = (name: string, kind: Field['kind'], more: Partial<Field> = {}): Field => ({
  name,
  group: undefined,
  label: name.toUpperCase(),
  description: undefined,
  usual: undefined,
  isRequired: false,
  kind,
  choices: [],
  fields: [],
  types: [],
  most: 1,
  minimum: undefined,
  maximum: undefined,
  isWhole: false,
  isLong: false,
  ...more,
});

const FIELDS = [
  field('pdf', 'group', {
    fields: [
      field('sign', 'extended', { fields: [field('reason', 'text')] }),
      field('required', 'switch', { usual: true }),
      field('attachments', 'list', { fields: [field('content', 'file')] }),
    ],
  }),
];

const NOTHING = { source: 'html', html: '', url: '', template: NO_TEMPLATE, options: {} } as const;

const sent = (pdf: unknown) => requestOf(FIELDS, { ...NOTHING, options: { pdf } })['pdf'];

void test('files that are chosen again are told from other changes', (t) => {
  const before = { files: [], pdf: { attachments: [], tagged: true } };
  t.notOk(changesFiles(before, { ...before, pdf: { ...before.pdf, tagged: false } }));
  t.ok(changesFiles(before, { ...before, files: [{ name: 'a.png', value: 'AAAA' }] }));
  t.ok(changesFiles(before, { ...before, pdf: { attachments: [{ key: 1 }] } }));
  t.end();
});

void test('a switch with fields is sent as true, or as the fields that are filled in', (t) => {
  t.equal(sent({ sign: undefined }), undefined);
  t.strictSame(sent({ sign: {} }), { sign: true });
  t.strictSame(sent({ sign: { reason: 'Approved' } }), { sign: { reason: 'Approved' } });
  for (const sign of [true, { reason: 'Approved' }]) {
    t.strictSame(sent(optionsOf(FIELDS, { pdf: { sign } })['pdf']), { sign }, 'taken over');
  }
  t.equal(sent(optionsOf(FIELDS, { pdf: { sign: false } })['pdf']), undefined);
  t.equal(changedCount(FIELDS, { pdf: { sign: {} } }), 1);
  t.end();
});

void test('a switch that is on by default is sent when it is off', (t) => {
  t.equal(sent({ required: true }), undefined);
  t.strictSame(sent({ required: false }), { required: false });
  t.end();
});

void test('a path is called by the labels of its fields', (t) => {
  t.equal(labelOfPath(FIELDS, 'pdf.sign.reason'), 'PDF: SIGN: REASON');
  t.equal(labelOfPath(FIELDS, 'pdf.attachments.1.content'), 'PDF: ATTACHMENTS: 2: CONTENT');
  const pdf = { attachments: [{ key: 1 }, { key: 2, filename: 'hours.csv' }] };
  t.equal(labelOfPath(FIELDS, 'pdf.attachments.1.content', { pdf }), 'PDF: hours.csv: CONTENT');
  t.equal(labelOfPath(FIELDS, 'pdf.unknown'), 'PDF');
  t.equal(labelOfPath(FIELDS, 'unknown.0'), 'unknown.0');
  t.end();
});

void test('a template is sent by its id, with its data and without the options of its version', (t) => {
  const data = '{"number":"4711"}';
  const draft = { ...NOTHING, source: 'template', options: { pdf: { required: false } } } as const;
  const template = { ...NO_TEMPLATE, data };
  const expected = { template: 'tmpl_…', data: { number: '4711' } };
  t.strictSame(requestOf(FIELDS, { ...draft, template }), expected, 'before it is saved');
  const saved = { id: 'tmpl_1', name: 'Invoice', version: 2 };
  t.match(requestOf(FIELDS, { ...draft, template: { ...template, saved } }), {
    template: 'tmpl_1',
  });
  t.match(requestOf(FIELDS, { ...draft, template: { ...template, data: '[' } }), { data: {} });
  t.end();
});

void test('an address is whole, whether its scheme was typed or not', (t) => {
  t.equal(wholeUrl(' example.com/a?b=c '), 'https://example.com/a?b=c');
  t.equal(wholeUrl('localhost:8080/x'), 'http://localhost:8080/x');
  t.equal(wholeUrl('HTTP://example.com'), 'HTTP://example.com');
  t.equal(wholeUrl('ftp://example.com'), 'ftp://example.com', 'the service says what is wrong');
  t.equal(wholeUrl(''), '');
  t.end();
});
