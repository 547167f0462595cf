import { createHash } from 'node:crypto';
import { test } from 'tap';
import { readContent } from '../../src/documents/decryption.ts';
import { UnencryptedText } from '../../src/documents/encryption.ts';
import type { EventOf } from '../../src/domain/events.ts';
import { decodeEvent } from '../../src/event-store/codec.ts';
import { BASE, refusal, startApi } from '../support/api.ts';
import { newOperator } from '../support/operator.ts';
import { LOCAL_NAMES, PRIVATE_SPELLINGS } from '../support/private-addresses.ts';
import { partsOf, rawHttp } from '../support/raw-http.ts';

const mediaType = (value: string) => ({ 'Content-Type': value });

const PATH = `${BASE}/pdf/`;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

void test('a conversion is accepted', async (t) => {
  const api = await startApi(t);
  const { id: accountId, key, keyId } = await api.newAccount();
  const answer = await api.call('POST', PATH, {
    key,
    body: { html: '<h1>Hello</h1>', url: null, scale: 0.5, metadata: { title: 'T', author: null } },
  });
  t.equal(answer.status, 202, answer.text);
  t.strictSame(Object.keys(answer.body), ['id', 'status', 'created_at']);
  t.match(answer.body, { id: /^conv_[0-9a-z]{26}$/, status: 'pending', created_at: ISO });
  t.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');

  const events = await api.store.readStream(`account-${accountId}`);
  const [debited, requested] = events.slice(-2);
  t.match(debited, { type: 'CreditDebited', data: { amount: 1, conversionId: answer.body['id'] } });
  t.match(requested, {
    type: 'ConversionRequested',
    data: { source: 'html', options: { scale: 0.5 } },
    metadata: {
      actor: { kind: 'key', id: keyId },
      correlationId: answer.body['id'],
    },
  });
  if (requested === undefined) throw new Error('There is no such event.');
  const { data: asked } = decodeEvent(requested);
  const { conversionId, request, requestHmac } = asked as EventOf<'ConversionRequested'>['data'];
  const contentKey = await api.vault.contentKey(accountId, conversionId);
  const text = (await readContent(api.blobs, contentKey, request)).toString();
  t.strictSame(JSON.parse(text), { html: '<h1>Hello</h1>', metadata: { title: 'T' } });
  t.equal(requestHmac, new UnencryptedText(text).hmac(contentKey));
  const plainHash = createHash('sha256').update(text).digest('hex');
  t.notOk(JSON.stringify(events.map(({ data }) => data)).includes(plainHash));
  const { client } = requested.metadata as { client: string };
  t.equal(await api.vault.unseal(accountId, client), '127.0.0.1');
});

void test('every spelling of an address that is not public is refused at once', async (t) => {
  const api = await startApi(t);
  const { id, key } = await api.newAccount();
  const names = LOCAL_NAMES.map((name) => `http://${name}/`);
  for (const url of [...PRIVATE_SPELLINGS, ...names]) {
    api.clock.time += 60_000;
    const answer = await api.call('POST', PATH, { key, body: { url } });
    const refused = { status: 400, error: 'validation_error', details: ['url'] };
    t.strictSame(refusal(answer), refused, JSON.stringify(url));
  }
  const debits = (await api.store.readStream(`account-${id}`)).map(({ type }) => type);
  t.notOk(debits.includes('CreditDebited'), 'and nothing is taken for it');
});

void test('the log and operators learn which setting allows a local URL, and no one else', async (t) => {
  const api = await startApi(t);
  api.logger.level = 'info';
  const [operator, other] = [await newOperator(api), await api.newAccount()];
  const setting = /ALLOW_PRIVATE_NETWORK/;
  const local = { url: 'http://localhost:3000/' };
  const requests: [path: string, body: object][] = [
    ['/pdf/', local],
    ['/pdf/', { url: 'http://192.168.0.1/' }],
    ['/pdf/', { html: '<p>x</p>', webhook_url: 'http://example.com/' }],
    ['/batches/', { requests: [local, local] }],
    ['/webhooks/', { url: 'https://localhost/' }],
  ];
  for (const [path, body] of requests) {
    for (const [key, isTold] of [
      [operator.key, true],
      [other.key, false],
    ] as const) {
      api.logged.length = 0;
      const answer = await api.call('POST', `${BASE}${path}`, { key, body });
      t.equal(answer.status, 400, answer.text);
      t.equal(setting.test(answer.text), isTold, answer.text);
      t.equal(api.logged.filter((line) => setting.test(line)).length, 1, 'one line a request');
    }
  }
  const faulty = { url: 'https://a:b@example.com/' };
  const answer = await api.call('POST', PATH, { key: operator.key, body: faulty });
  t.notMatch(answer.text, setting, 'it would not help');
});

const URL_OK = 'https://example.com/';
const HTML_OK = '<p>x</p>';
type Refused = [what: string, body: unknown, details: string[]];
const refusals: Refused[] = [
  ['neither html nor url', {}, ['html', 'url']],
  ['html and url', { html: HTML_OK, url: URL_OK }, ['html', 'url']],
  ['null is not given', { html: null, url: null, scale: null }, ['html', 'url']],
  [
    'null is not in a list',
    { html: HTML_OK, metadata: { keywords: [null] } },
    ['metadata.keywords.0'],
  ],
  ['an unknown field of null', { html: HTML_OK, pageSize: null }, ['pageSize']],
  [
    'a required one of null',
    { url: URL_OK, cookies: [{ name: 'a', value: null }] },
    ['cookies.0.value'],
  ],
  ['html of the wrong type', { html: 1 }, ['html']],
  ['empty html', { html: '' }, ['html']],
  ['blank html', { html: ' \n\t ' }, ['html']],
  ['plain text', { html: 'just words & more' }, ['html']],
  ['a comment only', { html: '<!-- <p>x</p> -->' }, ['html']],
  ['an end tag only', { html: 'x</div>' }, ['html']],
  ['an unfinished tag', { html: 'a <b' }, ['html']],
  ['a doctype only', { html: '<!doctype html>' }, ['html']],
  ['less-than signs', { html: '1 < 2 <3 << <' }, ['html']],
  ['a lone surrogate', { html: '<p>\ud800</p>' }, ['html']],
  ['NUL', { html: '<p>\0</p>' }, ['html']],
  ['NUL within', { html: HTML_OK, metadata: { title: '\0' } }, ['metadata.title']],
  ['a url of the wrong type', { url: ['x'] }, ['url']],
  ['no url', { url: 'example' }, ['url']],
  ['an empty url', { url: '' }, ['url']],
  ['file:', { url: 'file:///etc/passwd' }, ['url']],
  ['a scheme in capitals', { url: 'FILE:///etc/passwd' }, ['url']],
  ['javascript:', { url: 'javascript:alert(1)' }, ['url']],
  ['a user name', { url: 'https://me@example.com/' }, ['url']],
  ['a password', { url: 'https://me:pw@example.com/' }, ['url']],
  ['a long url', { url: `${URL_OK}${'x'.repeat(2048)}` }, ['url']],
  ['localhost', { url: 'http://localhost/' }, ['url']],
  ['a name below localhost', { url: 'http://a.localhost./' }, ['url']],
  [
    'a header that loads something',
    { html: HTML_OK, header_html: '<img src="https://example.com/logo.png">' },
    ['header_html'],
  ],
  [
    'a footer that loads something',
    { html: HTML_OK, footer_html: '<style>@import url(//example.com/a.css)</style>' },
    ['footer_html'],
  ],
  ['loopback', { url: 'http://127.0.0.1/' }, ['url']],
  [
    'a webhook without TLS',
    { html: '<p>x</p>', webhook_url: 'http://example.com/' },
    ['webhook_url'],
  ],
  ['a negative retention', { html: '<p>x</p>', retention_seconds: -1 }, ['retention_seconds']],
  ['half a second', { html: '<p>x</p>', retention_seconds: 0.5 }, ['retention_seconds']],
  ['a retention in words', { html: '<p>x</p>', retention_seconds: '60' }, ['retention_seconds']],
  [
    'more than the service keeps',
    { html: '<p>x</p>', retention_seconds: 604_801 },
    ['retention_seconds'],
  ],
  ['a webhook to loopback', { html: '<p>x</p>', webhook_url: 'https://127.1/' }, ['webhook_url']],
  ['a webhook to a local name', { html: '<p>x</p>', webhook_url: 'https://db/' }, ['webhook_url']],
  [
    'a webhook to another port',
    { html: '<p>x</p>', webhook_url: 'https://a.com:25/' },
    ['webhook_url'],
  ],
  [
    'a webhook with a password',
    { html: '<p>x</p>', webhook_url: 'https://a:b@a.com/' },
    ['webhook_url'],
  ],
  ['a webhook that is no URL', { html: '<p>x</p>', webhook_url: 'hook' }, ['webhook_url']],
  ['an empty webhook', { html: '<p>x</p>', webhook_url: '' }, ['webhook_url']],
  [
    'a long webhook',
    { html: '<p>x</p>', webhook_url: `https://a.com/${'x'.repeat(2048)}` },
    ['webhook_url'],
  ],
  ['two webhooks', { html: '<p>x</p>', webhook_url: ['https://a.com/'] }, ['webhook_url']],
  ['loopback in short', { url: 'http://127.1/' }, ['url']],
  ['loopback in decimal', { url: 'http://2130706433/' }, ['url']],
  ['loopback in hex', { url: 'http://0x7f000001/' }, ['url']],
  ['loopback in octal', { url: 'http://0177.0.0.1/' }, ['url']],
  ['IPv6 loopback', { url: 'http://[::1]/' }, ['url']],
  ['mapped loopback', { url: 'http://[::ffff:7f00:1]/' }, ['url']],
  ['link-local', { url: 'http://169.254.169.254/latest/meta-data/' }, ['url']],
  ['fullwidth digits', { url: 'http://１２７.0.0.1/' }, ['url']],
  ['page_size', { html: HTML_OK, page_size: 'a4' }, ['page_size']],
  ['landscape', { html: HTML_OK, landscape: 'true' }, ['landscape']],
  ['print_background', { html: HTML_OK, print_background: 1 }, ['print_background']],
  ['scale below', { html: HTML_OK, scale: 0.09 }, ['scale']],
  ['scale above', { html: HTML_OK, scale: 2.01 }, ['scale']],
  ['scale as text', { html: HTML_OK, scale: '1' }, ['scale']],
  ['a margin without unit', { html: HTML_OK, margin_top: '0' }, ['margin_top']],
  ['a negative margin', { html: HTML_OK, margin_left: '-1cm' }, ['margin_left']],
  ['a margin in em', { html: HTML_OK, margin_right: '1em' }, ['margin_right']],
  ['a margin with a space', { html: HTML_OK, margin_bottom: '1 cm' }, ['margin_bottom']],
  ['a margin with an exponent', { html: HTML_OK, margin_bottom: '1e2px' }, ['margin_bottom']],
  ['a margin as a number', { html: HTML_OK, margin_bottom: 1 }, ['margin_bottom']],
  [
    'margins that meet',
    { html: HTML_OK, margin_left: '10.5cm', margin_right: '105mm' },
    ['margin_left', 'margin_right'],
  ],
  [
    'margins that meet in landscape',
    { html: HTML_OK, landscape: true, page_size: 'A5', margin_top: '74mm', margin_bottom: '3in' },
    ['margin_bottom', 'margin_top'],
  ],
  ['width alone', { html: HTML_OK, width: '80mm' }, ['width']],
  ['height alone', { html: HTML_OK, height: '80mm', landscape: false }, ['height']],
  ['a side without unit', { html: HTML_OK, width: '80', height: '1em' }, ['height', 'width']],
  ['sides too short', { html: HTML_OK, width: '9.9mm', height: '37px' }, ['height', 'width']],
  ['sides too long', { html: HTML_OK, width: '5001mm', height: '200in' }, ['height', 'width']],
  [
    'paper by name and by its sides',
    { html: HTML_OK, page_size: 'A4', landscape: true, width: '80mm', height: '80mm' },
    ['landscape', 'page_size'],
  ],
  [
    'margins that meet on it',
    { html: HTML_OK, width: '19mm', height: '80mm' },
    ['margin_left', 'margin_right'],
  ],
  ['format', { html: HTML_OK, format: 'PNG' }, ['format']],
  [
    'a picture with what is for PDFs',
    {
      html: HTML_OK,
      format: 'png',
      page_size: 'A4',
      scale: 1,
      footer_html: 'x',
      tagged: true,
      metadata: {},
      pdf: { optimize: true },
      width: '1mm',
    },
    ['footer_html', 'metadata', 'page_size', 'pdf', 'scale', 'tagged', 'width'],
  ],
  ['single_page', { html: HTML_OK, single_page: 'yes' }, ['single_page']],
  [
    'single_page with what it decides',
    {
      html: HTML_OK,
      single_page: true,
      width: '80mm',
      height: '80mm',
      page_ranges: '1',
      prefer_css_page_size: true,
    },
    ['height', 'page_ranges', 'prefer_css_page_size'],
  ],
  [
    'single_page without room',
    { html: HTML_OK, single_page: true, width: '20mm', margin_bottom: '5000mm' },
    ['margin_bottom', 'margin_left', 'margin_right', 'margin_top'],
  ],
  ['css', { html: HTML_OK, css: '' }, ['css']],
  ['css of more than 1 MiB', { html: HTML_OK, css: 'ä'.repeat(524_289) }, ['css']],
  ['color_scheme', { html: HTML_OK, color_scheme: 'auto' }, ['color_scheme']],
  ['viewport', { html: HTML_OK, viewport: '800x600' }, ['viewport']],
  [
    'within viewport',
    {
      html: HTML_OK,
      viewport: { width: 49, height: 5001, device_scale_factor: 0.4, mobile: true },
    },
    ['viewport.device_scale_factor', 'viewport.height', 'viewport.mobile', 'viewport.width'],
  ],
  [
    'too many pixels',
    { html: HTML_OK, viewport: { width: 2001, height: 2000, device_scale_factor: 2 } },
    ['viewport'],
  ],
  ...['', 'Mars/Olympus', '+01:00', 'Europe/Zurich ', 'x'.repeat(65)].map(
    (timezone): Refused => ['timezone', { html: HTML_OK, timezone }, ['timezone']],
  ),
  ...['', 'de_CH', 'tlh', 'not a language', '*', 'en-'.repeat(40)].map(
    (locale): Refused => ['locale', { html: HTML_OK, locale }, ['locale']],
  ),
  ['an empty page_ranges', { html: HTML_OK, page_ranges: '' }, ['page_ranges']],
  ['page 0', { html: HTML_OK, page_ranges: '0' }, ['page_ranges']],
  ['a backward range', { html: HTML_OK, page_ranges: '3-2' }, ['page_ranges']],
  ['a range of words', { html: HTML_OK, page_ranges: '1, two' }, ['page_ranges']],
  ['an open range', { html: HTML_OK, page_ranges: '1,' }, ['page_ranges']],
  ['header_html', { html: HTML_OK, header_html: 'x'.repeat(65_537) }, ['header_html']],
  ['footer_html', { html: HTML_OK, footer_html: 5 }, ['footer_html']],
  ['prefer_css_page_size', { html: HTML_OK, prefer_css_page_size: 0 }, ['prefer_css_page_size']],
  ['media', { html: HTML_OK, media: 'braille' }, ['media']],
  ['wait_for', { html: HTML_OK, wait_for: 'load' }, ['wait_for']],
  [
    'within wait_for',
    { html: HTML_OK, wait_for: { selector: '', delay_ms: 10_001, network_idle: 'no', x: 1 } },
    ['wait_for.delay_ms', 'wait_for.network_idle', 'wait_for.selector', 'wait_for.x'],
  ],
  ['delay_ms of a half', { html: HTML_OK, wait_for: { delay_ms: 0.5 } }, ['wait_for.delay_ms']],
  ['tagged', { html: HTML_OK, tagged: 'no' }, ['tagged']],
  ['outline', { html: HTML_OK, outline: 'no' }, ['outline']],
  ['javascript', { html: HTML_OK, javascript: 'no' }, ['javascript']],
  ['deterministic', { html: HTML_OK, deterministic: 'yes' }, ['deterministic']],
  [
    'a time of a document that is not deterministic',
    { html: HTML_OK, deterministic_time: '2026-11-26T12:00:00Z' },
    ['deterministic_time'],
  ],
  ...[
    'today',
    '2026-11-26',
    '2026-11-26T12:00:00',
    '2026-13-26T12:00:00Z',
    '1969-12-31T00:00:00Z',
  ].map((time): [string, unknown, string[]] => [
    `the time ${time}`,
    { html: HTML_OK, deterministic: true, deterministic_time: time },
    ['deterministic_time'],
  ]),
  [
    'metadata',
    { html: HTML_OK, metadata: { title: 1, author: 'x'.repeat(1025), keywords: ['', 2], y: 1 } },
    [
      'metadata.author',
      'metadata.keywords.0',
      'metadata.keywords.1',
      'metadata.title',
      'metadata.y',
    ],
  ],
  ['reference empty', { html: HTML_OK, reference: '' }, ['reference']],
  ['reference blank', { html: HTML_OK, reference: ' \u3000' }, ['reference']],
  ['reference that cannot be seen', { html: HTML_OK, reference: '\u200b\ufeff' }, ['reference']],
  ['reference long', { html: HTML_OK, reference: 'x'.repeat(256) }, ['reference']],
  ['reference of lines', { html: HTML_OK, reference: 'a\nb' }, ['reference']],
  ['reference half', { html: HTML_OK, reference: '\ud800' }, ['reference']],
  ['reference number', { html: HTML_OK, reference: 4711 }, ['reference']],
  ['tags text', { html: HTML_OK, tags: 'a' }, ['tags']],
  ['tags array', { html: HTML_OK, tags: ['a'] }, ['tags']],
  [
    'tags many',
    { html: HTML_OK, tags: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [n, 'x'])) },
    ['tags'],
  ],
  [
    'tags',
    {
      html: HTML_OK,
      tags: {
        '': 'x',
        Upper: 'x',
        'a b': 'x',
        ä: 'x',
        ['n'.repeat(41)]: 'x',
        blank: ' ',
        control: 'a\u001bb',
      },
    },
    [
      'tags.',
      'tags.Upper',
      'tags.a b',
      'tags.blank',
      'tags.control',
      `tags.${'n'.repeat(41)}`,
      'tags.ä',
    ],
  ],
  [
    'values of tags',
    {
      html: HTML_OK,
      tags: { empty: '', long: 'x'.repeat(201), number: 1, list: ['x'], 'A B': 'x', c: ' ', D: '' },
    },
    ['tags.A B', 'tags.D', 'tags.c', 'tags.empty', 'tags.list', 'tags.long', 'tags.number'],
  ],
  ['fail_on', { html: HTML_OK, fail_on: ['timeout', 'x'] }, ['fail_on.1']],
  ['headers with html', { html: HTML_OK, headers: { a: 'b' } }, ['headers']],
  ['cookies with html', { html: HTML_OK, cookies: [] }, ['cookies']],
  [
    'headers',
    {
      url: URL_OK,
      headers: {
        Host: 'x',
        'Proxy-Authorization': 'x',
        'content-length': '1',
        Cookie: 'a=b',
        'a b': 'x',
        Split: 'a\r\nb: c',
        Number: 5,
        Connection: 'close',
      },
    },
    ['headers.Number'],
  ],
  [
    'header names and values',
    {
      url: URL_OK,
      headers: { Host: 'x', 'Proxy-X': 'x', Cookie: 'a=b', 'a b': 'x', S: 'a\r\nb: c', s: 'x' },
    },
    ['headers.Cookie', 'headers.Host', 'headers.Proxy-X', 'headers.S', 'headers.a b', 'headers.s'],
  ],
  [
    'too many headers',
    {
      url: URL_OK,
      headers: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`X-${n}`, ''])),
    },
    ['headers'],
  ],
  [
    'cookies',
    {
      url: URL_OK,
      cookies: [{ name: 'a' }, { name: '', value: 'x', path: 'x', same_site: 'lax' }],
    },
    ['cookies.0.value', 'cookies.1.name', 'cookies.1.path', 'cookies.1.same_site'],
  ],
  [
    'cookies that no browser takes',
    {
      url: URL_OK,
      cookies: [
        { name: 'a b', value: 'x;y', domain: 'a b', path: '/;' },
        { name: 'a', value: '', same_site: 'None' },
        { name: '__Host-a', value: '', secure: true },
      ],
    },
    [
      'cookies.0.domain',
      'cookies.0.name',
      'cookies.0.path',
      'cookies.0.value',
      'cookies.1.secure',
      'cookies.2.name',
    ],
  ],
  ['an unknown field', { html: HTML_OK, pageSize: 'A4' }, ['pageSize']],
  [
    'names from the prototype',
    '{"html":"<p>x</p>","__proto__":{"scale":1},"constructor":1}',
    ['__proto__', 'constructor'],
  ],
  [
    'everything at once',
    { html: '  ', scale: 3, margin_top: '20cm', margin_bottom: '20cm', page_ranges: 'x', q: 1 },
    ['html', 'margin_bottom', 'margin_top', 'page_ranges', 'q', 'scale'],
  ],
];

void test('what a request asks for is checked field by field', async (t) => {
  const api = await startApi(t);
  const { id, key } = await api.newAccount();
  for (const [name, body, details] of refusals) {
    const answer = await api.call('POST', PATH, { key, body });
    t.strictSame(refusal(answer), { status: 400, error: 'validation_error', details }, name);
    const messages = Object.values(answer.body['details'] as object).flat() as unknown[];
    t.ok(
      messages.every((each) => typeof each === 'string' && /^\S.+[.?]$/.test(each)),
      `${name}: ${answer.text}`,
    );
  }
  const told: [body: object, message: string][] = [
    [{}, 'Either html or url is required.'],
    [{ scale: 9 }, 'Either html or url is required. See details for one more field.'],
    [
      { html: HTML_OK, scale: 9, media: 'x', q: 1 },
      'q: Is not a known field. See details for 2 more fields.',
    ],
    [{ html: HTML_OK, pageSize: 'A4' }, 'pageSize: Is not a known field. Did you mean page_size?'],
    [
      { html: HTML_OK, wait_for: { delayMs: 1 } },
      'wait_for.delayMs: Is not a known field. Did you mean delay_ms?',
    ],
    [{ html: HTML_OK, paper: 'A4' }, 'paper: Is not a known field.'],
    [{ html: HTML_OK, paper: 'A4', ink: 1 }, 'paper, ink: Is not a known field.'],
    [
      { html: HTML_OK, paper: 'A4', ink: 1, glue: 1, staple: 1, scale: 9 },
      'paper, ink, glue: Is not a known field. See details for 2 more fields.',
    ],
    [{ html: HTML_OK, tagged: 1, outline: 1 }, 'tagged, outline: Must be a boolean.'],
  ];
  for (const [body, message] of told) {
    t.equal((await api.call('POST', PATH, { key, body })).body['message'], message);
  }
  const events = await api.store.readStream(`account-${id}`);
  t.notOk(
    events.some(({ type }) => type === 'CreditDebited'),
    'a refusal costs nothing',
  );
});

void test('every option is taken', async (t) => {
  const api = await startApi(t, { env: { EGRESS_PORTS: '4444' } });
  const { key } = await api.newAccount();
  const url = {
    url: 'https://example.com:4444/ä?b#c',
    page_size: 'Legal',
    landscape: true,
    margin_top: '0px',
    margin_right: '.5in',
    margin_bottom: '1.25cm',
    margin_left: '12mm',
    print_background: true,
    scale: 2,
    page_ranges: '1-5, 8, 11-13',
    header_html: '<b class="title"></b>',
    footer_html: 'plain',
    prefer_css_page_size: true,
    media: 'screen',
    css: 'p { color: red }',
    color_scheme: 'dark',
    viewport: { width: 1280, height: 720, device_scale_factor: 2 },
    timezone: 'Asia/Kathmandu',
    locale: 'sr-Latn-RS',
    wait_for: { selector: '#done', delay_ms: 10_000, network_idle: true },
    tagged: false,
    outline: true,
    metadata: { title: '題', author: 'A', subject: 'S', keywords: ['k'] },
    headers: { 'X-Mine': 'yes', Authorization: 'Bearer x' },
    cookies: [{ name: 'a', value: 'b', domain: '.example.com', path: '/', same_site: 'Lax' }],
    javascript: false,
    deterministic: true,
    deterministic_time: '2026-11-26T12:00:00.5+01:00',
    fail_on: ['resource_error', 'http_status', 'console_error', 'timeout'],
    filename: 'A report',
    reference: 'مرجع <b>4711</b> 🂡',
    tags: { ['t'.repeat(40)]: 'v'.repeat(200), 'a-b_1': 'Ä: "1"', __proto__x: 'x' },
  };
  const none = Object.fromEntries(Object.keys(url).map((name) => [name, null]));
  const nothing = { selector: null, delay_ms: null, network_idle: null };
  const bodies = [
    url,
    { ...none, html: '<p>x</p>', wait_for: nothing, metadata: { title: null, keywords: null } },
    {
      ...none,
      url: url.url,
      html: null,
      headers: { 'X-Mine': null },
      cookies: [{ name: 'a', value: 'b', domain: null, secure: null }],
    },
    { html: '<!doctype html><!-- x --><title>t</title>' },
    { html: 'text first, then <br> alone' },
    { html: `${'word '.repeat(50_000)}<p>late</p>` },
    { html: HTML_OK, width: '10mm', height: '5000mm', margin_left: '0px', margin_right: '0px' },
    { html: HTML_OK, format: 'webp', media: 'print', viewport: { width: 400 }, css: 'p {}' },
    { html: HTML_OK, single_page: true, width: '5000mm', prefer_css_page_size: false },
    { html: HTML_OK, single_page: true, landscape: true, page_size: 'A3' },
    { html: HTML_OK, css: 'x'.repeat(1_048_576), viewport: {}, timezone: 'utc', locale: 'EN-us' },
    {
      html: '<svg xmlns="http://www.w3.org/2000/svg"/>',
      margin_left: '29.6cm',
      page_size: 'A3',
      margin_right: '0cm',
    },
  ];
  for (const body of bodies) {
    const answer = await api.call('POST', PATH, { key, body });
    t.equal(answer.status, 202, answer.text);
  }
});

void test('bodies that are none', async (t) => {
  const api = await startApi(t, { env: { MAX_BODY_BYTES: '4096', MAX_HTML_BYTES: '1024' } });
  const { key } = await api.newAccount();
  const json = '{"html":"<p>x</p>"}';
  const cases: [string, { headers?: Record<string, string>; body?: unknown }, object][] = [
    ['no body', {}, { status: 400, error: 'validation_error' }],
    ['an empty body', { body: '' }, { status: 400, error: 'validation_error' }],
    ['malformed JSON', { body: '{"html":' }, { status: 400, error: 'validation_error' }],
    ['an array', { body: '[]' }, { status: 400, error: 'validation_error' }],
    ['a number', { body: '1' }, { status: 400, error: 'validation_error' }],
    ['null', { body: 'null' }, { status: 400, error: 'validation_error' }],
    ['a string', { body: '"x"' }, { status: 400, error: 'validation_error' }],
    [
      'bad UTF-8',
      {
        body: Buffer.concat([
          Buffer.from('{"html":"<p>'),
          Buffer.from([0xff, 0xfe]),
          Buffer.from('"}'),
        ]),
      },
      { status: 400, error: 'validation_error' },
    ],
    ['deep nesting', { body: '['.repeat(4000) }, { status: 400, error: 'validation_error' }],
    [
      'text',
      { body: json, headers: mediaType('text/plain') },
      { status: 415, error: 'unsupported_media_type' },
    ],
    [
      'a form',
      { body: 'html=x', headers: mediaType('application/x-www-form-urlencoded') },
      { status: 415, error: 'unsupported_media_type' },
    ],
    [
      'another charset',
      { body: json, headers: mediaType('application/json; charset=latin1') },
      { status: 415, error: 'unsupported_media_type' },
    ],
    [
      'gzip',
      { body: json, headers: { 'Content-Encoding': 'gzip' } },
      { status: 415, error: 'unsupported_media_type' },
    ],
    [
      'too much HTML',
      { body: { html: `<p>${'é'.repeat(511)}` } },
      { status: 413, error: 'payload_too_large', details: ['html'] },
    ],
    [
      'too large a body',
      { body: { html: 'x'.repeat(4096) } },
      { status: 413, error: 'payload_too_large' },
    ],
  ];
  for (const [name, options, expected] of cases) {
    t.strictSame(refusal(await api.call('POST', PATH, { key, ...options })), expected, name);
  }
  const stream = new Blob(['{"html":"', 'x'.repeat(100_000), '"}']).stream();
  const chunked = await fetch(api.origin + PATH, {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json' },
    body: stream,
    duplex: 'half',
  });
  t.equal(chunked.status, 413, 'a body of unannounced length is counted while it comes');
  const fits = { html: `<p>${'é'.repeat(510)}` };
  t.equal((await api.call('POST', PATH, { key, body: fits })).status, 202, 'exactly the most');
  const charset = mediaType('application/json; charset="UTF-8"');
  t.equal((await api.call('POST', PATH, { key, body: json, headers: charset })).status, 202);
});

void test('credits', async (t) => {
  const api = await startApi(t);
  const { key } = await api.newAccount({ credits: 10 });
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => api.call('POST', PATH, { key, body: { html: HTML_OK } })),
  );
  t.equal(answers.filter(({ status }) => status === 202).length, 10);
  const refused = answers.filter(({ status }) => status !== 202);
  for (const answer of refused) {
    t.strictSame(refusal(answer), { status: 402, error: 'insufficient_credits' });
  }
  t.equal(
    (await api.call('POST', PATH, { key, body: {} })).status,
    400,
    'the body is judged first',
  );
});

void test('idempotency', async (t) => {
  const api = await startApi(t);
  const one = await api.newAccount({ credits: 3 });
  const other = await api.newAccount();
  const ask = (key: string, idempotencyKey: string, body: unknown = { html: HTML_OK }) =>
    api.call('POST', PATH, { key, body, headers: { 'Idempotency-Key': idempotencyKey } });
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(one.key, 'k')));
  t.equal(new Set(answers.map(({ text }) => text)).size, 1, 'byte for byte the same');
  t.ok(answers.every(({ status }) => status === 202));
  const first = answers.filter(({ headers }) => headers.get('idempotent-replayed') === null);
  t.equal(first.length, 1, 'all but one are replays');
  t.ok(answers.some(({ headers }) => headers.get('idempotent-replayed') === 'true'));

  const different = await ask(one.key, 'k', { url: URL_OK });
  t.equal(different.text, answers[0]?.text, 'whatever the body asks for');
  t.strictSame((await ask(one.key, 'k', {})).status, 400, 'but an invalid body is still refused');
  t.not((await ask(other.key, 'k')).text, answers[0]?.text, 'another account, another scope');
  api.clock.time += 24 * 60 * 60 * 1000 - 1;
  t.equal((await ask(one.key, 'k')).text, answers[0]?.text, 'until 24 hours have passed');
  api.clock.time += 1;
  t.not((await ask(one.key, 'k')).text, answers[0]?.text, 'then the key is new');

  t.equal((await ask(one.key, 'l')).status, 202);
  t.equal((await ask(one.key, 'm')).status, 402);
  t.equal((await ask(one.key, 'l')).status, 202, 'a replay needs no credit');
  const expected = { status: 400, error: 'validation_error', details: ['Idempotency-Key'] };
  for (const bad of ['', 'x'.repeat(256), 'ä', 'a\tb']) {
    t.strictSame(refusal(await ask(one.key, bad)), expected, JSON.stringify(bad));
  }
  const twice = await rawHttp(
    Number(new URL(api.origin).port),
    `POST ${PATH} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Key: ${one.key}\r\nContent-Type: application/json\r\n` +
      'Idempotency-Key: n\r\nIdempotency-Key: o\r\nContent-Length: 2\r\n\r\n{}',
  );
  t.equal(partsOf(twice).status, 400, 'two keys');
  t.match(partsOf(twice).text, /"Idempotency-Key":\["Must be given once\."\]/);
});
