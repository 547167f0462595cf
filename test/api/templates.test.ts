/** Stored templates: their versions, what is made of them, and what they must withstand. */
import { createHash } from 'node:crypto';
import { test } from 'tap';
import { MAX_CONTENT_BYTES } from '../../src/domain/templates.ts';
import { type Api, BASE, refusal, startApi } from '../support/api.ts';

const TEMPLATES = `${BASE}/templates/`;
const NOBODYS = 'tmpl_00000000000000000000000000';

const INVOICE = {
  html: '<h1>Invoice {{ number }}</h1>{% for line in lines %}<p>{{ line.text }}: {{ line.price | money: "EUR", "de-DE" }}</p>{% endfor %}',
  header_html: '<p>{{ number }}</p>',
  files: { 'style.css': 'cHtjb2xvcjpyZWR9' },
  options: { page_size: 'A5', margin_top: '2cm' },
  schema: {
    type: 'object',
    required: ['number', 'lines'],
    properties: {
      number: { type: 'string' },
      lines: {
        type: 'array',
        items: {
          type: 'object',
          required: ['text', 'price'],
          properties: { text: { type: 'string' }, price: { type: 'number' } },
          additionalProperties: false,
        },
      },
    },
  },
  sample: { number: '1', lines: [{ text: 'Bread', price: 2 }] },
};
const DATA = { number: '4711', lines: [{ text: '<Tea>', price: 1234.5 }] };
const FILLED = '<h1>Invoice 4711</h1><p>&lt;Tea&gt;: 1.234,50\u00a0€</p>';

/** Calls of one account. */
const callerOf =
  (api: Api, key: string) =>
  (method: string, path: string, body?: object, headers: Readonly<Record<string, string>> = {}) =>
    api.call(method, path.startsWith('/api/') ? path : BASE + path, {
      key,
      headers,
      ...(body && { body }),
    });

async function withTemplate(t: Parameters<typeof startApi>[0], content: object = INVOICE) {
  const api = await startApi(t);
  const account = await api.newAccount();
  const call = callerOf(api, account.key);
  const { body } = await call('POST', TEMPLATES, { name: 'Invoice', ...content });
  return { api, account, call, id: String(body['id']), created: body };
}

/** The options and the HTML of a request as they are stored. */
async function storedRequest(call: ReturnType<typeof callerOf>, id: unknown) {
  const { body } = await call('GET', `/conversions/${String(id)}/request/`);
  return body as { html?: string; options: Record<string, unknown> };
}

void test('a template is saved in versions, renamed and deleted', async (t) => {
  const { call, id, created, api, account } = await withTemplate(t);
  t.match(created, { id: /^tmpl_[0-9a-z]{26}$/, name: 'Invoice', version: 1 });
  const same = await call('POST', `/templates/${id}/versions/`, INVOICE);
  t.equal(same.body['version'], 1, 'equal content is no other version');
  const next = { ...INVOICE, html: '<p>{{ number }}</p>' };
  t.equal((await call('POST', `/templates/${id}/versions/`, next)).body['version'], 2);
  const versions = await call('GET', `/templates/${id}/versions/`);
  t.match(versions.body, [{ version: 2 }, { version: 1 }]);
  const first = await call('GET', `/templates/${id}/versions/1/`);
  t.match(first.body, { version: 1, ...INVOICE }, 'a version has all that was sent');
  const again = await call('POST', `/templates/${id}/versions/`, INVOICE);
  t.equal(again.body['version'], 3, 'an earlier version is restored by saving it again');
  const renamed = await call('PATCH', `/templates/${id}/`, { name: 'Rechnung 🧾' });
  t.match(renamed.body, { name: 'Rechnung 🧾', version: 3 });
  t.match((await call('GET', TEMPLATES)).body, [{ id, name: 'Rechnung 🧾' }]);
  const logged = (await api.log()).filter(({ type }) => type.startsWith('Template'));
  t.strictSame(
    logged.map(({ type }) => type),
    [
      'TemplateCreated',
      'TemplateVersionSaved',
      'TemplateVersionSaved',
      'TemplateVersionSaved',
      'TemplateRenamed',
    ],
  );
  t.notMatch(JSON.stringify(logged), /Invoice|Rechnung|number/, 'nothing of it is readable');
  const history = await call('GET', '/account/events/?type=TemplateVersionSaved');
  const [entry] = history.body as unknown as readonly { summary: string; data: object }[];
  t.equal(entry?.summary, `Version 3 of the template ${id} was saved.`);
  t.notOk('content' in (entry?.data ?? {}), 'the history leaves out what it holds');
  t.equal((await call('DELETE', `/templates/${id}/`)).status, 204);
  for (const path of ['', 'versions/', 'versions/1/']) {
    t.equal((await call('GET', `/templates/${id}/${path}`)).status, 404, path);
  }
  t.equal((await call('DELETE', `/templates/${id}/`)).status, 404);
  const other = callerOf(api, (await api.newAccount()).key);
  t.strictSame((await other('GET', TEMPLATES)).body, []);
  t.ok(account);
});

void test('a conversion of a template has its HTML, its options, its version and the hash of its data', async (t) => {
  const { call, id } = await withTemplate(t);
  const asked = await call('POST', '/pdf/', {
    template: id,
    data: DATA,
    margin_top: '3cm',
    files: { 'logo.svg': 'PHN2Zy8+' },
  });
  t.equal(asked.status, 202, asked.text);
  const { html, options } = await storedRequest(call, asked.body['id']);
  t.equal(html, FILLED);
  t.match(options, { page_size: 'A5', margin_top: '3cm', header_html: '<p>4711</p>' });
  t.strictSame(Object.keys(options['files'] as object), ['style.css', 'logo.svg']);
  const canonical = '{"lines":[{"price":1234.5,"text":"<Tea>"}],"number":"4711"}';
  const data_sha256 = createHash('sha256').update(canonical).digest('hex');
  const record = await call('GET', `/conversions/${String(asked.body['id'])}/`);
  t.strictSame(record.body['template'], { id, version: 1, data_sha256 });
  const events = await call('GET', `/conversions/${String(asked.body['id'])}/events/`);
  t.match(events.text, new RegExp(`from version 1 of the template ${id}`));

  await call('POST', `/templates/${id}/versions/`, { html: '<p>2: {{ number }}</p>' });
  const newest = await call('POST', '/pdf/', { template: id, data: { number: 'x' } });
  t.equal((await storedRequest(call, newest.body['id'])).html, '<p>2: x</p>');
  const fixed = await call('POST', '/pdf/', { template: `${id}@1`, data: DATA });
  t.equal((await storedRequest(call, fixed.body['id'])).html, FILLED);
  const found = await call('GET', `/conversions/?template=${id}`);
  t.equal(found.headers.get('x-total-count'), '3');
  t.equal((await call('GET', `/conversions/?template=${NOBODYS}`)).text, '[]');
  t.equal((await call('GET', '/conversions/?template=x')).status, 400);
});

void test('a retry of a conversion of a template needs the template no more', async (t) => {
  const { api, account, call, id } = await withTemplate(t);
  const asked = await call('POST', '/pdf/', { template: id, data: DATA });
  const first = String(asked.body['id']);
  await api.fail(account.id, first, 'x');
  await call('DELETE', `/templates/${id}/`);
  const again = await call('POST', `/conversions/${first}/retry/`);
  t.equal(again.status, 202);
  t.equal((await storedRequest(call, again.body['id'])).html, FILLED);
  const records = await Promise.all(
    [first, again.body['id']].map((each) => call('GET', `/conversions/${String(each)}/`)),
  );
  t.strictSame(records[1]?.body['template'], records[0]?.body['template']);
});

void test('what is wrong with data or the name of a template is said at its place, and nothing is taken', async (t) => {
  const { api, call, id } = await withTemplate(t);
  const stranger = callerOf(api, (await api.newAccount()).key);
  const bad = { number: 4711, lines: [DATA.lines[0], { text: 'x' }, { text: 'x', price: '1' }] };
  const wrong = await call('POST', '/pdf/', { template: id, data: bad, scale: 9 });
  t.match(wrong.body['details'], {
    'data.number': ['Must be a string.'],
    'data.lines.1.price': ['Is required.'],
    'data.lines.2.price': ['Must be a number.'],
    scale: ['Must be at most 2.'],
  });
  const cases: readonly [object, ...string[]][] = [
    [{ template: id }, 'data.number', 'data.lines'],
    [{ template: NOBODYS, data: {} }, 'template'],
    [{ template: `${id}@9`, data: DATA }, 'template'],
    [{ template: `${id}@0`, data: DATA }, 'template'],
    [{ template: 'x', data: [] }, 'template', 'data'],
    [{ template: id, data: DATA, html: '<p>x</p>' }, 'html'],
    [{ template: id, data: DATA, url: 'https://example.com/' }, 'url'],
    [{ html: '<p>x</p>', data: DATA }, 'data'],
    [{ template: id, data: DATA, scale: 9, wait_for: { x: 1 } }, 'scale', 'wait_for.x'],
    [{ template: id, data: DATA, headers: { a: 'b' } }, 'headers'],
    [{ template: id, data: DATA, files: { '../x': 'eA==' } }, 'files.../x'],
    [{ template: id, data: { ...DATA, number: 'a\0' } }, 'data'],
    [{ template: id, data: { ...DATA, number: 'a\ud800' } }, 'data'],
  ];
  for (const [body, ...details] of cases) {
    const answer = await call('POST', '/pdf/', body);
    t.match(answer.body, { error: 'validation_error' }, JSON.stringify(body));
    t.strictSame(Object.keys(answer.body['details'] as object).toSorted(), details.toSorted());
  }
  const others = await stranger('POST', '/pdf/', { template: id, data: DATA });
  t.match(others.body['details'], { template: ['There is no such template.'] });
  for (const path of ['', 'versions/', 'versions/1/']) {
    t.equal((await stranger('GET', `/templates/${id}/${path}`)).status, 404);
  }
  for (const [method, path, body] of [
    ['PATCH', '', { name: 'x' }],
    ['DELETE', '', undefined],
    ['POST', 'versions/', { html: '<p>x</p>' }],
    ['POST', 'preview/', {}],
  ] as const) {
    t.equal((await stranger(method, `/templates/${id}/${path}`, body)).status, 404, method);
  }
  t.notOk((await api.log()).some(({ type }) => type === 'ConversionRequested'));
});

void test('a template is refused that cannot be read, or does not fit its sample', async (t) => {
  const { call, id } = await withTemplate(t);
  const cases: readonly [object, object][] = [
    [
      { html: '<p>\n  {{ x | mony }}</p>' },
      { html: ['Line 2, column 3: undefined filter: mony.'] },
    ],
    [
      { html: '<p>', footer_html: '{% if x %}' },
      { footer_html: ['Line 1, column 1: tag {% if x %} not closed.'] },
    ],
    [
      { html: '{% include "/etc/passwd" %}' },
      {
        html: ['Line 1, column 1: there is no tag include: a template is one text without others.'],
      },
    ],
    [
      { html: '<p>', schema: { type: 'object', requird: ['a'] } },
      { 'schema.requird': ['Is not a keyword that is checked. Did you mean required?'] },
    ],
    [
      { html: '<p>', schema: { properties: { a: { $ref: 'https://example.com/s.json' } } } },
      { 'schema.properties.a.$ref': [/^Must begin with #: nothing is fetched/] },
    ],
    [
      { html: '<p>', schema: { properties: { a: { pattern: '(' } } } },
      { 'schema.properties.a.pattern': [/^Must be a regular expression without lookarounds/] },
    ],
    [{ ...INVOICE, sample: { number: '1' } }, { 'sample.lines': ['Is required.'] }],
    [
      { html: '<p>{{ x | money: "EUR" }}</p>', sample: { x: 'y' } },
      { html: [/^Line 1, column 4: money needs a number/] },
    ],
    [
      { html: '<p>', options: { page_size: 'A9', url: 'x' } },
      { 'options.url': [], 'options.page_size': [] },
    ],
    [{ html: '<p>', options: { width: '100mm' } }, { 'options.width': [/^Goes with height/] }],
    [{ html: '<p>', files: { '/x': 'eA==' } }, { 'files./x': [] }],
    [{ html: '<p>', schema: [] }, { schema: ['Must be an object.'] }],
    [{ html: '' }, { html: ['Must not be empty.'] }],
  ];
  for (const [content, details] of cases) {
    for (const path of [TEMPLATES, `/templates/${id}/versions/`]) {
      const named = path === TEMPLATES ? { name: 'x' } : {};
      const answer = await call('POST', path, { ...named, ...content });
      t.match(answer.body, { error: 'validation_error', details }, JSON.stringify(content));
    }
  }
  for (const name of ['', ' ', 'a\nb', 'a\u202eb', 'x'.repeat(201)]) {
    const answer = await call('POST', TEMPLATES, { name, html: '<p>' });
    t.strictSame(refusal(answer), { status: 400, error: 'validation_error', details: ['name'] });
    t.equal((await call('PATCH', `/templates/${id}/`, { name })).status, 400);
  }
  const large = await call('POST', TEMPLATES, { name: 'x', html: 'x'.repeat(MAX_CONTENT_BYTES) });
  t.match(large.body, { error: 'payload_too_large' });
  t.equal((await call('GET', `/templates/${id}/`)).body['version'], 1);
});

void test('a preview answers with the HTML, stores nothing and costs nothing', async (t) => {
  const { api, call, id } = await withTemplate(t);
  const before = (await api.log()).length;
  const sample = await call('POST', `/templates/${id}/preview/`, {});
  t.match(sample.body, { html: /Invoice 1</, header_html: '<p>1</p>' });
  const own = await call('POST', `/templates/${id}/preview/`, { data: DATA, version: 1 });
  t.equal(own.body['html'], FILLED);
  const wrong = await call('POST', `/templates/${id}/preview/`, { data: { number: 'x' } });
  t.strictSame(refusal(wrong), {
    status: 400,
    error: 'validation_error',
    details: ['data.lines'],
  });
  t.equal((await call('POST', `/templates/${id}/preview/`, { version: 2 })).status, 404);
  const text = await call('POST', '/templates/preview/', {
    html: '{{ a }}{{ a | raw }}',
    data: { a: '<b>' },
  });
  t.strictSame(text.body, { html: '&lt;b&gt;<b>' });
  t.equal((await api.log()).length, before);
});

void test('a batch fills a template with the data of each request, and all of them get one version', async (t) => {
  const { api, account, call, id } = await withTemplate(t, { html: '<p>{{ n }}</p>' });
  const requests = [
    { data: { n: 1 } },
    { data: { n: 2 }, page_size: 'A5' },
    { html: '<p>plain</p>' },
    { template: `${id}@1`, data: { n: 4 } },
  ];
  const batch = await call('POST', '/batches/', { template: id, requests });
  t.equal(batch.status, 202, batch.text);
  const made = await Promise.all(
    (batch.body['conversions'] as readonly string[]).map((each) => storedRequest(call, each)),
  );
  t.strictSame(
    made.map(({ html }) => html),
    ['<p>1</p>', '<p>2</p>', '<p>plain</p>', '<p>4</p>'],
  );
  const granted = (await api.log()).length;
  const wrong = await call('POST', '/batches/', {
    requests: [{ template: id, data: { n: 1 } }, { data: { n: 2 } }, { template: NOBODYS }],
  });
  t.match(wrong.body['details'], {
    'requests.1.data': ['Goes with template: name one.'],
    'requests.2.template': ['There is no such template.'],
  });
  const none = await call('POST', '/batches/', { template: 'x', requests: [{ data: {} }] });
  t.strictSame(refusal(none), { status: 400, error: 'validation_error', details: ['template'] });
  t.equal((await api.log()).length, granted, 'nothing was accepted');
  t.ok(account);
});

void test('a repeated key gets its earlier answer, also when the template is gone', async (t) => {
  const { call, id } = await withTemplate(t);
  const one = { template: id, data: DATA };
  const headers = { 'Idempotency-Key': 'one' };
  const first = await call('POST', '/pdf/', one, headers);
  const batch = await call('POST', '/batches/', { requests: [one] }, headers);
  await call('DELETE', `/templates/${id}/`);
  const again = await call('POST', '/pdf/', one, headers);
  t.equal(again.text, first.text);
  t.equal(again.headers.get('idempotent-replayed'), 'true');
  t.equal((await call('POST', '/batches/', { requests: [one] }, headers)).text, batch.text);
  t.equal((await call('POST', '/pdf/', one)).status, 400, 'without the key there is no template');
});

void test('a repeated key with an invalid body is refused, also where it names a template', async (t) => {
  const { call, id } = await withTemplate(t);
  const one = { template: id, data: DATA };
  const headers = { 'Idempotency-Key': 'one' };
  const first = await call('POST', '/pdf/', one, headers);
  const batch = await call('POST', '/batches/', { requests: [one] }, headers);
  t.strictSame([first.status, batch.status], [202, 202]);
  for (const deleted of [false, true]) {
    if (deleted) await call('DELETE', `/templates/${id}/`);
    for (const [field, value] of [
      ['scale', 9],
      ['nothing', 1],
      ['webhook_url', 'ftp://example.com/'],
      ['page_ranges', 'x'],
    ] as const) {
      const wrong = { ...one, [field]: value };
      const pdf = await call('POST', '/pdf/', wrong, headers);
      t.equal(pdf.status, 400, `${field}: ${pdf.text}`);
      t.ok(field in (pdf.body['details'] as object), pdf.text);
      const many = await call('POST', '/batches/', { requests: [wrong] }, headers);
      t.equal(many.status, 400, `${field}: ${many.text}`);
      t.ok(`requests.0.${field}` in (many.body['details'] as object), many.text);
    }
    t.equal((await call('POST', '/pdf/', one, headers)).text, first.text);
  }
});

void test('a form names a template, too', async (t) => {
  const { api, account, call, id } = await withTemplate(t);
  const form = new FormData();
  form.set('template', id);
  form.set('data', JSON.stringify(DATA));
  form.set('files', new Blob(['p{}']), 'more.css');
  const answer = await fetch(`${api.origin}${BASE}/pdf/`, {
    method: 'POST',
    headers: { 'X-API-Key': account.key },
    body: form,
  });
  const body = (await answer.json()) as { id?: string };
  t.equal(answer.status, 202, JSON.stringify(body));
  const { html, options } = await storedRequest(call, body.id);
  t.equal(html, FILLED);
  t.strictSame(Object.keys(options['files'] as object), ['style.css', 'more.css']);
});

void test('an account has no more templates than it may', async (t) => {
  const { call, id } = await withTemplate(t, { html: '<p>' });
  for (let n = 1; n < 100; n += 1) {
    const made = await call('POST', TEMPLATES, { name: `${n}`, html: '<p>' });
    if (made.status !== 201) return t.fail(made.text);
  }
  const answer = await call('POST', TEMPLATES, { name: 'x', html: '<p>' });
  t.match(answer.body['message'], /at most 100 templates/);
  await call('DELETE', `/templates/${id}/`);
  t.equal((await call('POST', TEMPLATES, { name: 'x', html: '<p>' })).status, 201);
});
