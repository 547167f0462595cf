/** The files beside the HTML of `POST /pdf/`, as JSON and as a form. */
import { type Test, test } from 'tap';
import { readContent } from '../../src/documents/decryption.ts';
import type { EventOf } from '../../src/domain/events.ts';
import { decodeEvent } from '../../src/event-store/codec.ts';
import { type Answer, type Api, BASE, refusal, startApi } from '../support/api.ts';

const PATH = `${BASE}/pdf/`;
const PAGE = '<link rel=stylesheet href=style.css><p>x</p>';
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const STYLE = base64('p { color: red }');

/** A part with its headers as they are sent. */
type Part = readonly [headers: string, content: string | Buffer];
const BOUNDARY = 'a boundary';
const FORM = { 'Content-Type': `multipart/form-data; boundary="${BOUNDARY}"` };
const part = (name: string, content: string | Buffer, fileName?: string): Part => [
  `Content-Disposition: form-data; name="${name}"${fileName === undefined ? '' : `; filename="${fileName}"`}`,
  content,
];
const file = (name: string, content: string | Buffer = 'x'): Part => part('files', content, name);
const page = file('index.html', PAGE);
const end = `--${BOUNDARY}--\r\n`;

function form(parts: readonly Part[], ending = end): Buffer {
  const pieces = parts.flatMap(([headers, content]) => [
    Buffer.from(`--${BOUNDARY}\r\n${headers}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(ending)]);
}

/** The request document as it was stored. */
async function stored(api: Api, accountId: string): Promise<unknown> {
  const requested = (await api.store.readStream(`account-${accountId}`)).findLast(
    ({ type }) => type === 'ConversionRequested',
  );
  if (requested === undefined) throw new Error('Nothing was requested.');
  const { data } = decodeEvent(requested);
  const { conversionId, request } = data as EventOf<'ConversionRequested'>['data'];
  const contentKey = await api.vault.contentKey(accountId, conversionId);
  return JSON.parse((await readContent(api.blobs, contentKey, request)).toString());
}

async function start(t: Test) {
  const api = await startApi(t);
  const { id, key } = await api.newAccount();
  const send = async (body: unknown, headers = {}): Promise<Answer> =>
    await api.call('POST', PATH, { key, body, headers });
  return { api, id, send };
}

const withType = (value: string) => ({ 'Content-Type': value });
const details = ({ body }: Answer) => body['details'] as Readonly<Record<string, string[]>>;

void test('files are kept with their HTML, whichever way they come', async (t) => {
  const { api, id, send } = await start(t);
  const files = { 'style.css': STYLE, 'img/grün 😀.png': '', __proto__: STYLE };
  const named = Object.defineProperty({ ...files }, '__proto__', {
    value: STYLE,
    enumerable: true,
  });
  const asJson = await send({ html: PAGE, files: named, metadata: { title: 'T' } });
  t.equal(asJson.status, 202, asJson.text);
  const first = await stored(api, id);
  t.strictSame(first, { html: PAGE, files: named, metadata: { title: 'T' } });
  const parts = [
    part('metadata', '{"title":"T"}'),
    page,
    file('style.css', 'p { color: red }'),
    file('img/grün 😀.png', ''),
    file('__proto__', 'p { color: red }'),
  ];
  const asForm = await send(form(parts), FORM);
  t.equal(asForm.status, 202, asForm.text);
  t.strictSame(await stored(api, id), first);
});

void test('header.html and footer.html of a form are the header and the footer', async (t) => {
  const { api, id, send } = await start(t);
  const [header, footer] = [file('header.html', '<p>H</p>'), file('footer.html', '<p>F</p>')];
  const answer = await send(form([page, header, footer]), FORM);
  t.equal(answer.status, 202, answer.text);
  t.match(await stored(api, id), {
    header_html: '<p>H</p>',
    footer_html: '<p>F</p>',
    files: undefined,
  });
  const twice = await send(form([page, header, part('header_html', '<p>x</p>')]), FORM);
  t.strictSame(refusal(twice), {
    status: 400,
    error: 'validation_error',
    details: ['header_html'],
  });
});

void test('the fields of a form are options', async (t) => {
  const { api, id, send } = await start(t);
  const own = new FormData();
  own.append('html', PAGE);
  own.append('scale', '1.5');
  own.append('landscape', 'true');
  own.append('page_size', 'A5');
  own.append('page_ranges', '1');
  own.append('wait_for', new Blob(['{"delay_ms":5}'], { type: 'application/json' }));
  own.append('files', new Blob(['p {}']), 'style.css');
  const { key } = await api.newAccount();
  const headers = { 'X-API-Key': key };
  const answer = await fetch(api.origin + PATH, { method: 'POST', body: own, headers });
  t.equal(answer.status, 202);

  const url = form([part('url', 'https://example.com/'), part('headers', '{"X-A":"1"}')]);
  t.equal((await send(url, FORM)).status, 202);
  t.strictSame(await stored(api, id), { url: 'https://example.com/', headers: { 'X-A': '1' } });

  const wrong = [
    page,
    part('scale', 'large'),
    part('landscape', 'yes'),
    part('wait_for', '{'),
    part('metadata', `{"title":"${'x'.repeat(600_000)}"}`),
    part('pageSize', 'A4'),
    part('media', 'screen'),
    part('media', 'print'),
    part('footer_html', Buffer.from([0xff])),
  ];
  const refused = await send(form(wrong), FORM);
  t.match(refusal(refused), { status: 400, error: 'validation_error' });
  t.match(details(refused), {
    scale: ['Must be a number.'],
    landscape: ['Must be a boolean.'],
    wait_for: ['Must be an object.'],
    metadata: ['Must have at most 524288 bytes in a form.'],
    pageSize: [/not a known field/],
    media: ['Is given twice.'],
    footer_html: ['Must be UTF-8.'],
  });
});

void test('forms as other clients write them', async (t) => {
  const { api, id, send } = await start(t);
  const written: [client: string, headers: string, name: string][] = [
    ['.NET', "name=files; filename=a.css; filename*=utf-8''a.css", 'a.css'],
    [
      '.NET, not ASCII',
      'name=files; filename="=?utf-8?B?w7w=?="; filename*=utf-8\'\'%C3%BC.css',
      'ü.css',
    ],
    ['Python', 'name="files"; filename*=utf-8\'\'img%2Fgr%C3%BCn.png', 'img/grün.png'],
    ['curl', 'name="files"; filename="img/a b.png"\r\nContent-Type: image/png', 'img/a b.png'],
    [
      'Go',
      'name="files"; filename="q\\"x.css"\r\nContent-Type: application/octet-stream',
      'q"x.css',
    ],
  ];
  for (const [client, headers, name] of written) {
    const parts: Part[] = [page, [`content-disposition: form-data; ${headers}`, 'x']];
    const body = Buffer.concat([
      Buffer.from('a preamble\r\n'),
      form(parts),
      Buffer.from('and more'),
    ]);
    const answer = await send(body, FORM);
    t.equal(answer.status, 202, `${client}: ${answer.text}`);
    t.strictSame(await stored(api, id), { html: PAGE, files: { [name]: base64('x') } }, client);
  }
});

const HOSTILE = [
  '/etc/passwd',
  '../style.css',
  'a/../../b',
  './a',
  'a//b',
  'a/',
  '.',
  '..',
  '..\\up.css',
  'C:\\a.css',
  'a\u0001b',
  'a\u0085b',
  'ü'.repeat(128),
];

void test('hostile names are refused, each by its name', async (t) => {
  const { api, id, send } = await start(t);
  const files = Object.fromEntries(['', 'index.html', ...HOSTILE].map((name) => [name, STYLE]));
  const asJson = await send({ html: PAGE, files });
  t.match(refusal(asJson), { status: 400, error: 'validation_error' });
  const named = Object.keys(files).map((name) => `files.${name}`.replace(/^(.{100}).+$/s, '$1…'));
  t.strictSame(Object.keys(details(asJson)).toSorted(), named.toSorted());
  for (const name of HOSTILE) {
    const asForm = await send(form([page, file(name)]), FORM);
    t.match(refusal(asForm), { status: 400, error: 'validation_error' }, name);
    t.match(Object.keys(details(asForm)), [/^files\./], name);
  }
  const debits = (await api.store.readStream(`account-${id}`)).map(({ type }) => type);
  t.notOk(debits.includes('CreditDebited'), 'nothing is taken for it');
});

void test('what is wrong with files is named', async (t) => {
  const { send } = await start(t);
  const many = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`f${n}`, '']));
  const json: [object, Record<string, string[] | RegExp[]>][] = [
    [{ html: PAGE, files: many }, { files: ['Must have at most 200 entries.'] }],
    [{ html: PAGE, files: [STYLE] }, { files: ['Must be an object.'] }],
    [{ html: PAGE, files: { 'a.css': 5 } }, { 'files.a.css': ['Must be a string.'] }],
    [{ url: 'https://example.com/', files: { 'a.css': '' } }, { files: ['Goes with html only.'] }],
    [{ files: { 'a.css': '' } }, { html: [/required/] }],
    ...['a', 'ab=', 'ab==\n', 'YW_-', 'data:text/css;base64,YWI=', 'Y===', '=YWI'].map(
      (content): [object, Record<string, RegExp[]>] => [
        { html: PAGE, files: { 'a.css': content } },
        { 'files.a.css': [/^Must be base64/] },
      ],
    ),
  ];
  for (const [body, expected] of json) {
    const answer = await send(body);
    t.match(refusal(answer), { status: 400, error: 'validation_error' }, answer.text);
    t.match(details(answer), expected);
  }
  const forms: [readonly Part[], Record<string, (string | RegExp)[]>][] = [
    [[page, file('a.css'), file('a.css')], { 'files.a.css': ['Is given twice.'] }],
    [[page, part('html', '<p>')], { html: ['Is given twice.'] }],
    [[page, part('files', 'x')], { files: [/needs a file name/] }],
    [[file('a.css')], { files: ['One of them must be index.html, the page itself.'] }],
    [[part('url', 'https://example.com/'), page], { html: [/cannot be combined/] }],
    [[file('index.html', Buffer.from([0x3c, 0x70, 0x3e, 0xff]))], { html: ['Must be UTF-8.'] }],
  ];
  for (const [parts, expected] of forms) {
    const answer = await send(form(parts), FORM);
    t.match(refusal(answer), { status: 400, error: 'validation_error' }, answer.text);
    t.match(details(answer), expected);
  }
});

void test('forms that cannot be read', async (t) => {
  const { send } = await start(t);
  const large = Buffer.alloc(9 * 2 ** 20, '\r');
  const pair = `Content-Disposition: form-data; name="scale"`;
  const bodies: [name: string, body: Buffer | string, headers: object, message: RegExp][] = [
    ['no boundary', form([page]), withType('multipart/form-data'), /no boundary/],
    [
      'a bad one',
      form([page]),
      withType('multipart/form-data; boundary="ä"'),
      /70 of the characters/,
    ],
    ['another one', form([page]), withType('multipart/form-data; boundary=other'), /not valid/],
    ['no parts', Buffer.from(end), FORM, /not valid|required/],
    ['no end', form([page], ''), FORM, /does not end with its boundary/],
    ['no end of a header', form([], `--${BOUNDARY}\r\n${pair}`), FORM, /not valid|cannot be read/],
    ['a part without a name', form([page, ['X-A: b', 'x']]), FORM, /a part without a name/],
    ['with an empty one', form([page, part('', 'x')]), FORM, /a part without a name/],
    [
      'a long header',
      form([page, [`X: ${'x'.repeat(9e6)}\r\n${pair}`, '1']]),
      FORM,
      /cannot be read/,
    ],
    ['many parts', form(Array<Part>(301).fill(part('a', ''))), FORM, /more than 300 parts/],
    ['100,000 of them', form(Array<Part>(1e5).fill(part('a', ''))), FORM, /more than 300 parts/],
    ['much that looks like a boundary', form([file('a.css', large)]), FORM, /must be index\.html/],
    ['JSON', JSON.stringify({ html: PAGE }), FORM, /not valid|does not end/],
  ];
  for (const [name, body, headers, message] of bodies) {
    const answer = await send(body, headers);
    t.match(refusal(answer), { status: 400, error: 'validation_error' }, name);
    t.match(answer.body['message'], message, name);
  }
});

void test('forms are for conversions alone, and have the size of any other body', async (t) => {
  const { api, send } = await start(t);
  const odd = await send(form([page]), { 'Content-Type': 'multipart/mixed; boundary=b' });
  t.strictSame(refusal(odd), { status: 415, error: 'unsupported_media_type' });
  t.match(odd.body['message'], /application\/json or as multipart\/form-data/);
  const { key } = await api.newAccount();
  const options = { key, body: form([part('name', 'k')]), headers: FORM };
  const elsewhere = await api.call('POST', `${BASE}/api-keys/`, options);
  t.strictSame(refusal(elsewhere), { status: 415, error: 'unsupported_media_type' });
  const large = await send(form([page, file('a', Buffer.alloc(10 * 2 ** 20))]), FORM);
  t.strictSame(refusal(large), { status: 413, error: 'payload_too_large' });
  const html = await send(form([file('index.html', `<p>${'x'.repeat(5 * 2 ** 20)}`)]), FORM);
  t.strictSame(refusal(html), {
    status: 413,
    error: 'payload_too_large',
    details: ['html'],
  });
});
