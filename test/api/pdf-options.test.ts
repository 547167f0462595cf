/** What `pdf` in a request asks for: what is taken, what is refused, and where it is kept. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { readContent } from '../../src/documents/decryption.ts';
import type { EventOf } from '../../src/domain/events.ts';
import { restored } from '../../src/domain/stored-form.ts';
import { BASE, refusal, startApi } from '../support/api.ts';

const PATH = `${BASE}/pdf/`;
const HTML = '<p>x</p>';
const XML = readFileSync(join(import.meta.dirname, '../../samples/e-invoice/invoice.xml'), 'utf8');
const base64 = (text: string | Buffer): string => Buffer.from(text).toString('base64');

const file = { filename: 'a.csv', content: base64('1,2'), type: 'text/csv' };
const named = (filename: string) => ({ attachments: [{ ...file, filename }] });
const invoice = (xml: string | Buffer, profile = 'EN 16931') => ({
  invoice: { xml: base64(xml), profile },
});
/** The invoice with another guideline. */
const guided = (guideline: string): string => XML.replace('urn:cen.eu:en16931:2017', guideline);

const NAME_0 = ['pdf.attachments.0.filename'];
const THE_XML = ['pdf.invoice.xml'];
const BOMB = `<!DOCTYPE a [<!ENTITY a "${'x'.repeat(100)}">${Array.from(
  { length: 20 },
  (_, n) => `<!ENTITY e${n} "${`&e${n - 1};`.repeat(10)}">`,
).join('')}]>`;

const FIELD = { x: '10mm', y: '10mm', width: '70mm', height: '20mm' };
const field = (place: object) => ({ sign: { field: place } });
const FIELD_SIDES = ['pdf.sign.field.height', 'pdf.sign.field.width'];

const refusals: readonly (readonly [string, object, readonly string[]])[] = [
  ['no list', { conformance: 'pdfa-3b' }, ['pdf.conformance']],
  ['an unknown conformance', { conformance: ['pdfa-4'] }, ['pdf.conformance.0']],
  ['two parts', { conformance: ['pdfa-2b', 'pdfa-3b'] }, ['pdf.conformance']],
  ['two levels', { conformance: ['pdfa-3b', 'pdfa-3u', 'pdfua-1'] }, ['pdf.conformance']],
  ['not a switch', { conformance_required: 'no' }, ['pdf.conformance_required']],
  ['part 2 with files', { conformance: ['pdfa-2u'], attachments: [file] }, ['pdf.attachments']],
  ['part 2 with an invoice', { conformance: ['pdfa-2b'], ...invoice(XML) }, ['pdf.invoice']],
  [
    '51 files',
    { attachments: Array.from({ length: 51 }, (_, n) => ({ ...file, filename: `${n}.csv` })) },
    ['pdf.attachments'],
  ],
  ['a path', named('a/b.csv'), NAME_0],
  ['a path of Windows', named('..\\b.csv'), NAME_0],
  ['a name of blanks', named('  '), NAME_0],
  ['no name', named(''), NAME_0],
  ['a long name', named('x'.repeat(201)), NAME_0],
  ['a name that reads backwards', named('a\u202Evsc.exe'), NAME_0],
  ['a name given twice', { attachments: [file, file] }, ['pdf.attachments.1.filename']],
  [
    "the invoice's own name",
    { ...named('factur-x.xml'), ...invoice(XML) },
    ['pdf.attachments.0.filename'],
  ],
  [
    'not base64',
    { attachments: [{ ...file, content: 'not base64' }] },
    ['pdf.attachments.0.content'],
  ],
  ['no media type', { attachments: [{ ...file, type: 'csv' }] }, ['pdf.attachments.0.type']],
  [
    'what files lack',
    { attachments: [{}] },
    ['pdf.attachments.0.content', 'pdf.attachments.0.filename', 'pdf.attachments.0.type'],
  ],
  [
    'an unknown relationship',
    { attachments: [{ ...file, relationship: 'Friend' }] },
    ['pdf.attachments.0.relationship'],
  ],
  [
    'lines in a description',
    { attachments: [{ ...file, description: 'a\nb' }] },
    ['pdf.attachments.0.description'],
  ],
  ['no pages', { pages: '' }, ['pdf.pages']],
  ['pages backwards', { pages: '3-1' }, ['pdf.pages']],
  ['page 0', { pages: '0-1' }, ['pdf.pages']],
  ['pages without their tags', { conformance: ['pdfua-1'], pages: '1' }, ['pdf.pages']],
  ['half a turn too many', { rotate: 360 }, ['pdf.rotate']],
  ['an angle', { rotate: 45 }, ['pdf.rotate']],
  ['no password', { encrypt: {} }, ['pdf.encrypt']],
  ['an empty password', { encrypt: { user_password: '' } }, ['pdf.encrypt.user_password']],
  [
    'a password of too many bytes',
    { encrypt: { owner_password: '€'.repeat(43) } },
    ['pdf.encrypt.owner_password'],
  ],
  [
    'an unknown permission',
    { encrypt: { user_password: 'x', permissions: { sing: true } } },
    ['pdf.encrypt.permissions.sing'],
  ],
  [
    'a conforming PDF that is encrypted',
    { conformance: ['pdfa-2b'], encrypt: { user_password: 'x' } },
    ['pdf.encrypt'],
  ],
  [
    'an invoice that is encrypted',
    { ...invoice(XML), encrypt: { user_password: 'x' } },
    ['pdf.encrypt'],
  ],
  ['no switch', { optimize: 'yes' }, ['pdf.optimize']],
  ['no switch for the link', { verify_link: 'https://x/' }, ['pdf.verify_link']],
  ['a signature without a certificate', { sign: true }, ['pdf.sign']],
  ['texts of a signature without a certificate', { sign: { reason: 'x' } }, ['pdf.sign']],
  ['no signature', { sign: 'yes' }, ['pdf.sign']],
  ['an empty reason', { sign: { reason: '' } }, ['pdf.sign.reason']],
  ['an unknown field of a signature', { sign: { who: 'x' } }, ['pdf.sign.who']],
  ['a place without its size', field({ x: '1mm', y: '1mm' }), FIELD_SIDES],
  ['a place without units', field({ ...FIELD, x: '5' }), ['pdf.sign.field.x']],
  ['a place left of the page', field({ ...FIELD, x: '-1mm' }), ['pdf.sign.field.x']],
  ['a place of no width', field({ ...FIELD, width: '0mm' }), ['pdf.sign', 'pdf.sign.field.width']],
  [
    'a place that is too low',
    field({ ...FIELD, height: '4.9mm' }),
    ['pdf.sign', 'pdf.sign.field.height'],
  ],
  ['a place beside the page', field({ ...FIELD, x: '141mm' }), ['pdf.sign', 'pdf.sign.field.x']],
  ['a place below the page', field({ ...FIELD, y: '280mm' }), ['pdf.sign', 'pdf.sign.field.y']],
  ['page 0 of a place', field({ ...FIELD, page: 0 }), ['pdf.sign.field.page']],
  ['half a page of a place', field({ ...FIELD, page: 1.5 }), ['pdf.sign.field.page']],
  ['an unknown side of a place', field({ ...FIELD, top: '1mm' }), ['pdf.sign.field.top']],
  ['an unknown field', { conform: ['pdfa-3b'] }, ['pdf.conform']],
  ['an unknown profile', invoice(XML, 'COMFORT'), ['pdf.invoice.profile']],
  ['no profile', { invoice: { xml: base64(XML) } }, ['pdf.invoice.profile']],
  ['XML that is not base64', { invoice: { xml: XML, profile: 'EN 16931' } }, THE_XML],
  ['no XML', invoice('not XML'), THE_XML],
  ['XML that breaks off', invoice(XML.slice(0, -20)), THE_XML],
  ['an unknown entity', invoice(XML.replace('Example', '&example;')), THE_XML],
  ['an unbound prefix', invoice(XML.replaceAll(/xmlns:ram="[^"]*"/g, '')), THE_XML],
  ['entities that grow', invoice(XML.replace('?>', `?>${BOMB}`)), THE_XML],
  ['a document type', invoice(XML.replace('?>', '?><!DOCTYPE a SYSTEM "file:///a">')), THE_XML],
  ['another encoding', invoice(Buffer.from(XML, 'utf16le')), THE_XML],
  ['another encoding said', invoice(XML.replace('UTF-8', 'ISO-8859-1')), THE_XML],
  ['elements without end', invoice('<a>'.repeat(50_000)), THE_XML],
  ['another document', invoice('<Invoice xmlns="urn:oasis:names:x"/>'), THE_XML],
  ['no guideline', invoice(guided('')), THE_XML],
  ['an unknown guideline', invoice(guided('urn:example')), THE_XML],
  ['another profile', invoice(guided('urn:factur-x.eu:1p0:minimum')), THE_XML],
];

void test('what is asked of the PDF is checked field by field', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  for (const [name, pdf, details] of refusals) {
    const answer = await api.call('POST', PATH, { key, body: { html: HTML, pdf } });
    t.strictSame(refusal(answer), { status: 400, error: 'validation_error', details }, name);
    api.clock.time += 1_000;
  }
  const locked = { html: HTML, deterministic: true, pdf: { encrypt: { user_password: 'x' } } };
  // Each part of the page that is known says what fits.
  const beyond = { ...FIELD, x: '220mm', y: '190mm' };
  for (const [options, pdf, details] of [
    [{ landscape: true }, field(beyond), ['pdf.sign']],
    [{}, { ...field(beyond), rotate: 270 }, ['pdf.sign']],
    [{ landscape: true }, { ...field(beyond), rotate: 90 }, ['pdf.sign', 'pdf.sign.field.x']],
    [{ prefer_css_page_size: true }, field(beyond), ['pdf.sign']],
    [{ single_page: true }, field({ ...FIELD, y: '3000mm' }), ['pdf.sign']],
  ] as const) {
    const answer = await api.call('POST', PATH, { key, body: { html: HTML, ...options, pdf } });
    const expected = { status: 400, error: 'validation_error', details };
    t.strictSame(refusal(answer), expected, JSON.stringify({ options, pdf }));
  }
  const once = { status: 400, error: 'validation_error', details: ['deterministic'] };
  t.strictSame(refusal(await api.call('POST', PATH, { key, body: locked })), once);
  for (const conformance of ['pdfua-1', 'pdfa-3a']) {
    const body = { html: HTML, tagged: false, pdf: { conformance: [conformance] } };
    const answer = await api.call('POST', PATH, { key, body });
    const refused = { status: 400, error: 'validation_error', details: ['tagged'] };
    t.strictSame(refusal(answer), refused, conformance);
  }
});

const refused = (...details: string[]) => ({ status: 400, error: 'validation_error', details });

void test('a link to the public check has its place, and leads somewhere', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount();
  const send = (given: object, to = api, by = key) =>
    to.call('POST', PATH, { key: by, body: { html: HTML, pdf: { verify_link: true }, ...given } });
  t.strictSame(refusal(await send({ margin_bottom: '9.9mm' })), refused('margin_bottom'));
  const narrow = { page_size: 'A5', margin_left: '30mm', margin_right: '30mm' };
  t.strictSame(refusal(await send(narrow)), refused('pdf.verify_link'));
  const { status, body } = await send({ margin_bottom: '10mm', page_size: 'A5' });
  t.equal(status, 202);
  const path = `${BASE}/conversions/${String(body['id'])}/request/`;
  const stored = (await api.call('GET', path, { key })).body['options'];
  t.strictSame((stored as { pdf?: object }).pdf, { verify_link: true }, 'as it was asked for');
  const plain = await send({ pdf: { verify_link: false }, margin_bottom: '1mm' });
  t.equal(plain.status, 202);
  const closed = await startApi(t, { env: { PUBLIC_VERIFY: 'false' } });
  const other = await closed.newAccount();
  t.strictSame(refusal(await send({}, closed, other.key)), refused('pdf.verify_link'));
  const batch = { requests: [{ html: HTML, pdf: { verify_link: true } }] };
  const many = await closed.call('POST', `${BASE}/batches/`, { key: other.key, body: batch });
  t.strictSame(refusal(many), refused('requests.0.pdf.verify_link'));
});

void test('it is kept with the document, encrypted, and an invoice asks for PDF/A-3', async (t) => {
  const api = await startApi(t);
  const { id: accountId, key } = await api.newAccount();
  const cases: readonly (readonly [object, unknown])[] = [
    [{}, undefined],
    [{ conformance: [], attachments: [], conformance_required: true }, undefined],
    [{ conformance: ['pdfua-1', 'pdfua-1'] }, { conformance: ['pdfua-1'] }],
    [{ optimize: false }, undefined],
    [{ sign: false }, undefined],
    [
      { pages: '2, 1', rotate: 270, encrypt: { user_password: 'x' }, optimize: true },
      { pages: '2, 1', rotate: 270, encrypt: { user_password: 'x' }, optimize: true },
    ],
    [{ attachments: [file] }, { conformance: [], attachments: [file] }],
    [
      { ...invoice(XML), conformance: ['pdfua-1'], conformance_required: false },
      { conformance: ['pdfa-3b', 'pdfua-1'], conformance_required: false, ...invoice(XML) },
    ],
    [
      { ...invoice(XML), conformance: ['pdfa-3u'] },
      { conformance: ['pdfa-3u'], ...invoice(XML) },
    ],
    [
      invoice(guided('urn:cen.eu:en16931:2017#compliant#urn:factur-x.eu:1p0:basic'), 'BASIC'),
      { conformance: ['pdfa-3b'] },
    ],
  ];
  for (const [pdf, kept] of cases) {
    const answer = await api.call('POST', PATH, { key, body: { html: HTML, pdf } });
    t.equal(answer.status, 202, answer.text);
    const events = await api.store.readStream(`account-${accountId}`);
    const { data = {} } = events.at(-1) ?? {};
    const whole = restored('ConversionRequested', data);
    const { conversionId, request } = whole as EventOf<'ConversionRequested'>['data'];
    const contentKey = await api.vault.contentKey(accountId, conversionId);
    const text = (await readContent(api.blobs, contentKey, request)).toString();
    t.match((JSON.parse(text) as { pdf?: unknown }).pdf, kept);
    t.notMatch(
      JSON.stringify(events.map((each) => each.data)),
      /a\.csv|4711/,
      'nothing of it is in the events',
    );
  }
});
