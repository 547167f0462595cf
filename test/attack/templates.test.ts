/** Templates and schemas of accounts that mean harm: each ends within its bounds, and the others go on. */
import { test } from 'tap';
import type { FillJob } from '../../src/templates/messages.ts';
import { TemplateThreads } from '../../src/templates/threads.ts';
import { BASE, startApi } from '../support/api.ts';

const threadsOf = (t: { teardown(end: () => Promise<void>): void }) => {
  const threads = new TemplateThreads();
  t.teardown(() => threads.close());
  return (html: string, job: Partial<FillJob> = {}) =>
    threads.run({
      texts: { html },
      data: ['{}'],
      maxBytes: 2_000,
      maxTotalBytes: 10_000_000,
      ...job,
    });
};
const json = (value: unknown): string => JSON.stringify(value);

/** What is wrong, in one text. */
const problemsOf = async (result: ReturnType<ReturnType<typeof threadsOf>>): Promise<string> => {
  const { filled, problems } = await result;
  const all = [...problems, ...filled.flatMap((each) => ('problems' in each ? each.problems : []))];
  return all.map(({ path, message }) => `${path.join('.')}: ${message}`).join(' ');
};
const textOf = async (result: ReturnType<ReturnType<typeof threadsOf>>): Promise<unknown> => {
  const { filled } = await result;
  const [first] = filled;
  return first !== undefined && 'texts' in first ? first.texts.html : filled;
};

void test('a template that takes too much ends, and its line is named', async (t) => {
  const fill = threadsOf(t);
  const cases: readonly [html: string, problem: RegExp][] = [
    [
      '<p>\n{% for i in (1..1000000000) %}x{% endfor %}',
      /^html: Line 2, column 1: it takes too much/,
    ],
    ['{{ (1..1000000000) | join: "," }}', /too much memory/],
    [
      '{% for i in (1..10000) %}{% for j in (1..10000) %}{% assign x = 1 %}{% endfor %}{% endfor %}',
      /takes more than 1 s/,
    ],
    [
      '{% for i in (1..9) %}{% for j in (1..9) %}xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{% endfor %}{% endfor %}',
      /more than 2000 bytes/,
    ],
    [
      '{% assign a = "xxxxxxxxxx" %}{% for i in (1..60) %}{% capture a %}{{ a }}{{ a }}{% endcapture %}{% endfor %}{{ a }}',
      /too much memory|more than/,
    ],
    [
      '{% if true %}'.repeat(8_000) + '{% endif %}'.repeat(8_000),
      /nested too deeply|takes more than/,
    ],
    [`{{ ${'a['.repeat(20_000)}1${']'.repeat(20_000)} }}`, /nested too deeply|takes more than/],
  ];
  for (const [html, problem] of cases) {
    t.match(await problemsOf(fill(html)), problem, html.slice(0, 60));
  }
  t.equal(await textOf(fill('<p>{{ 1 | plus: 1 }}</p>')), '<p>2</p>', 'the thread goes on');
});

void test('a template reaches no files, no other texts and nothing of JavaScript', async (t) => {
  const fill = threadsOf(t);
  for (const tag of ['include', 'render', 'layout', 'block']) {
    t.match(
      await problemsOf(fill(`{% ${tag} "/etc/passwd" %}`)),
      new RegExp(`there is no tag ${tag}`),
    );
  }
  const reach = [
    '"".constructor',
    'a.constructor.name',
    'a.__proto__.toString',
    'a["constructor"]["constructor"]',
    'list.map',
    'list.length',
    'constructor',
    '__proto__',
    'process.env.MASTER_KEY',
    'globalThis',
  ];
  const data = [json({ a: {}, list: [1] })];
  const html = reach.map((each) => `[{{ ${each} }}]`).join('');
  const expected = reach.map((each) => (each === 'list.length' ? '[1]' : '[]'));
  t.equal(await textOf(fill(html, { data })), expected.join(''));
  const polluted = ['{"__proto__":{"polluted":"yes"},"a":{"__proto__":{"polluted":"yes"}}}'];
  await fill('{{ a.polluted }}', { data: polluted });
  t.equal(await textOf(fill('<p>{{ a.polluted }}{{ polluted }}</p>', { data })), '<p></p>');
  t.notOk('polluted' in {});
});

void test('values are escaped, and a value in a script cannot end it', async (t) => {
  const fill = threadsOf(t);
  const data = [json({ x: '</script><script>alert("1")</script>' })];
  t.equal(
    await textOf(fill('<i>{{ x }}</i>', { data })),
    '<i>&lt;/script&gt;&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;</i>',
  );
  t.notMatch(await textOf(fill('{{ x | json | raw }}', { data })), /<\/script/);
});

void test('patterns of schemas are matched in linear time, as values, as names and for all others', async (t) => {
  const fill = threadsOf(t);
  await fill('<p>');
  const evil = '^(a+)+$';
  const long = `${'a'.repeat(200_000)}!`;
  const cases: readonly [name: string, schema: object, data: object, isRight: boolean][] = [
    ['value', { properties: { a: { pattern: evil } } }, { a: long }, false],
    ['value that fits', { properties: { a: { pattern: evil } } }, { a: 'a'.repeat(200_000) }, true],
    ['name', { patternProperties: { [evil]: false } }, { [long]: 1 }, true],
    ['name that fits', { patternProperties: { [evil]: false } }, { aaa: 1 }, false],
    [
      'others',
      { patternProperties: { [evil]: true }, additionalProperties: false },
      { [long]: 1 },
      false,
    ],
    ['names', { propertyNames: { pattern: evil } }, { [long]: 1 }, false],
    [
      'referred',
      {
        $ref: '#/$defs/x',
        $defs: { x: { required: ['a'], properties: { a: { pattern: evil } } } },
      },
      { a: long },
      false,
    ],
    ['no name fits', { additionalProperties: false }, { a: 1 }, false],
    [
      'plain names',
      { properties: { 'a.b': true, é: true }, additionalProperties: false },
      { 'a.b': 1, é: 2 },
      true,
    ],
    [
      'a plain name',
      { properties: { 'a.b': true }, additionalProperties: false },
      { axb: 1 },
      false,
    ],
    ['unicode', { properties: { a: { pattern: '^\\p{L}\\u00e9{2}.$' } } }, { a: 'ßéé😀' }, true],
  ];
  for (const [name, schema, data, isRight] of cases) {
    const began = performance.now();
    const problems = await problemsOf(fill('<p>', { schema: json(schema), data: [json(data)] }));
    t.equal(problems === '', isRight, `${name}: ${problems.slice(0, 200)}`);
    t.ok(performance.now() - began < 2_500, `${name} took ${performance.now() - began} ms`);
    t.notMatch(problems, /takes more/);
  }
  for (const pattern of ['(?=a)b', '(a)\\1', 'a{2000}', '(']) {
    for (const schema of [{ pattern }, { patternProperties: { [pattern]: true } }]) {
      t.match(
        await problemsOf(fill('<p>', { schema: json(schema) })),
        /Must be a regular expression without lookarounds/,
        pattern,
      );
    }
  }
});

void test('schemas refer to nothing elsewhere, have an end and are not made into code', async (t) => {
  const fill = threadsOf(t);
  const cases: readonly [schema: unknown, problem: RegExp][] = [
    [{ $ref: 'http://127.0.0.1/s.json' }, /schema\.\$ref: Must begin with #/],
    [{ $ref: '#' }, /schema: Has no end/],
    [
      { type: 'object', properties: { 'x"];process.exit(1);//': { type: 'strng' } } },
      /Must be one or/,
    ],
    [
      Array.from({ length: 50 }).reduce<object>((inner) => ({ not: inner }), {}),
      /nested too deeply/,
    ],
    [{ requird: [] }, /Did you mean required\?/],
    [{ patternProperties: { '(': true } }, /schema\.patternProperties\.\(: Must be a regular/],
  ];
  for (const [schema, problem] of cases) {
    t.match(
      await problemsOf(fill('<p>', { schema: json(schema) })),
      problem,
      json(schema).slice(0, 60),
    );
  }
  const code = json({ required: ['x"];globalThis.hit=1;//'], properties: { '`${hit}`': {} } });
  t.match(await problemsOf(fill('<p>', { schema: code })), /Is required/);
});

void test('all texts of one job together are bounded, and so is what it says', async (t) => {
  const fill = threadsOf(t);
  const data = Array.from({ length: 100 }, (_, n) => json({ n }));
  const html = `<p>{{ n }}${'x'.repeat(50_000)}</p>`;
  const { filled, problems } = await fill(html, {
    data,
    maxBytes: 60_000,
    maxTotalBytes: 1_000_000,
  });
  t.equal(filled.length, 19);
  t.match(problems, [{ message: /together has more than 1000000 bytes/ }]);
});

const batchOf = (template: string, n: number, count: number) => ({
  requests: Array.from({ length: count }, () => ({ template, data: { n } })),
});

void test('templates that fail do not take more than their time of a minute', async (t) => {
  const api = await startApi(t, { env: { MAX_ACCOUNT_TEMPLATE_MS: '1500', RATE_LIMIT: 'off' } });
  const [mallory, ada] = [await api.newAccount({ plan: 'free' }), await api.newAccount()];
  const html =
    '<p>{% for i in (1..n) %}{% for j in (1..n) %}{% assign x = 1 %}{% endfor %}{% endfor %}';
  const call = (key: string, path: string, body: object) =>
    api.call('POST', BASE + path, { key, body });
  const templateOf = async (key: string) => {
    const body = { name: 'loops', html, sample: { n: 1 } };
    return String((await call(key, '/templates/', body)).body['id']);
  };
  const [hers, adas] = [await templateOf(mallory.key), await templateOf(ada.key)];
  const began = performance.now();
  // All of them are asked for before the first has ended.
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => call(mallory.key, '/batches/', batchOf(hers, 9_000, 3))),
  );
  const took = performance.now() - began;
  const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b);
  t.strictSame(statuses, [400, 429, 429, 429, 429, 429, 429, 429]);
  t.ok(took < 10_000, `${took} ms for 24 loops of a second`);
  const refused = answers.find(({ status }) => status === 429);
  t.match(refused?.body, {
    error: 'rate_limit_exceeded',
    message: /^Templates that fail and previews/,
  });
  const seconds = Number(refused?.headers.get('retry-after'));
  t.ok(seconds > 30 && seconds < 300, String(seconds));
  const preview = { html: '<p>', data: {} };
  t.equal((await call(mallory.key, '/templates/preview/', preview)).status, 429);
  t.equal((await call(mallory.key, '/pdf/', { html: '<p>x</p>' })).status, 202, 'all else goes on');
  t.equal(
    (await call(ada.key, '/batches/', batchOf(adas, 3, 3))).status,
    202,
    'and other accounts',
  );
  api.clock.time += seconds * 1000;
  t.equal((await call(mallory.key, '/templates/preview/', preview)).status, 200);
  // The preview took some of the little that was left.
  api.clock.time += 60_000;
  t.equal((await call(mallory.key, '/batches/', batchOf(hers, 3, 3))).status, 202);
});
