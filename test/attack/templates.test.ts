/** Templates and schemas of accounts that mean harm: each ends within its bounds, and the others go on. */
import { test } from 'tap';
import type { FillJob } from '../../src/templates/messages.ts';
import { TemplateThreads } from '../../src/templates/threads.ts';

const threadsOf = (t: { teardown(end: () => Promise<void>): void }) => {
  const threads = new TemplateThreads();
  t.teardown(() => threads.close());
  return (html: string, job: Partial<FillJob> = {}, accountId = 'mallory') =>
    threads.fill(accountId, {
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

void test('a slow pattern of a schema ends with its thread, while others are filled', async (t) => {
  const fill = threadsOf(t);
  // Both threads have started.
  await Promise.all(['ada', 'bob'].map((who) => fill('<p>', {}, who)));
  const schema = json({ properties: { a: { pattern: '^(a+)+$' } } });
  const slow = problemsOf(fill('<p>', { schema, data: [json({ a: `${'a'.repeat(60)}!` })] }));
  const next = problemsOf(fill('<p>', { schema, data: [json({ a: `${'a'.repeat(60)}!` })] }));
  const ended: string[] = [];
  const note = (who: string) => () => void ended.push(who);
  await Promise.all([
    slow.then(note('mallory')),
    textOf(fill('<p>ada</p>', {}, 'ada')).then(note('ada')),
    textOf(fill('<p>bob</p>', {}, 'bob')).then(note('bob')),
  ]);
  t.equal(ended.at(-1), 'mallory', 'they do not wait for it');
  t.match(await slow, /takes more than 3 s/);
  t.match(await next, /takes more than 3 s/, 'one job of an account at a time');
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
    [{ patternProperties: { '(': true } }, /Its name must be a regular expression/],
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
