/** The pipes to a real Chrome: what passes through them, and what is told when they close. */
import { PassThrough } from 'node:stream';
import { type Test, test } from 'tap';
import { Connection } from '../../src/renderer/browser/connection.ts';
import { type LaunchedChrome, launchChrome } from '../../src/renderer/browser/launch.ts';
import { Deadline } from '../../src/renderer/chrome/deadline.ts';
import { Tab } from '../../src/renderer/chrome/tab.ts';
import { testDirectory } from '../support/directory.ts';
import { installedChrome, startTestRenderer } from '../support/renderer.ts';

const COMMAND_MS = 60_000;
/** Large messages take their time where many tests run at once. */
const PATIENT = { timeout: 120_000 };

async function chromeFor(t: Test): Promise<LaunchedChrome> {
  const path = await installedChrome();
  const chrome = await launchChrome({ path, directory: testDirectory(t) });
  t.teardown(() => chrome.end());
  return chrome;
}

/** A tab, and what an expression in it gives. */
async function tabOf(connection: Connection) {
  const { targetId } = await connection.send(
    'Target.createTarget',
    { url: 'about:blank' },
    COMMAND_MS,
  );
  const attach = { targetId, flatten: true };
  const { sessionId } = await connection.send('Target.attachToTarget', attach, COMMAND_MS);
  const evaluate = async (expression: string, timeoutMs = COMMAND_MS): Promise<unknown> => {
    const params = { expression, returnByValue: true, awaitPromise: true };
    const answer = await connection.send('Runtime.evaluate', params, timeoutMs, sessionId);
    const value: unknown = answer.result.value;
    return value;
  };
  return { targetId, sessionId, evaluate };
}

void test('a message of any size passes whole, in both directions', PATIENT, async (t) => {
  const { connection } = await chromeFor(t);
  const { targetId, sessionId, evaluate } = await tabOf(connection);
  // One to four bytes a character, and 11 each time: chunks end within characters.
  const part = 'aā€😀\0';
  const left = part.replace('\0', '-').repeat(600_000);
  // A comment, because laying out so long a text takes minutes.
  const document = { frameId: targetId, html: `<!--${left}-->` };
  await connection.send('Page.setDocumentContent', document, COMMAND_MS, sessionId);
  t.ok((await evaluate('document.firstChild.data')) === left, 'a document of 6 MB');
  const times = 1_000_000;
  const answer = await evaluate(`${JSON.stringify(part)}.repeat(${times})`);
  t.ok(answer === part.repeat(times), 'an answer of 11 MB and more');
});

void test('values come from a page as they are there', async (t) => {
  const { connection } = await chromeFor(t);
  const { evaluate } = await tabOf(connection);
  const answer = await evaluate(`(() => {
    const values = [0, -1, 23, 24, -25, 255, 256, 65536, -65537, 2 ** 31, -(2 ** 31), 2 ** 53, 0.1, -1e300, true, false,
      null, '', 'é', '\\ud83d', 'x'.repeat(300), [], {}, { a: [{ b: 'c' }], '': 1 }, JSON.parse('{"__proto__": {"a": 1}}')];
    return [JSON.stringify(values), values];
  })()`);
  const [theirJson, values] = answer as [string, unknown];
  t.equal(JSON.stringify(values), theirJson);
  const sent = ['\ud83d', 'é😀', '\0', 'x'.repeat(70_000)];
  for (const text of sent) {
    t.equal(await evaluate(`'${text.replace('\0', '\\0')}'`), text);
  }
});

void test('many commands at once get each its own answer, beside events', async (t) => {
  const { connection } = await chromeFor(t);
  const { sessionId, evaluate } = await tabOf(connection);
  const logged: unknown[] = [];
  const off = connection.on(
    'Runtime.consoleAPICalled',
    ({ args }) => logged.push(args[0]?.value),
    sessionId,
  );
  await connection.send('Runtime.enable', undefined, COMMAND_MS, sessionId);
  const numbers = Array.from({ length: 500 }, (_, number) => number);
  const answers = await Promise.all(
    numbers.map((number) => evaluate(`console.log(${number}), ${number}`)),
  );
  t.same(answers, numbers);
  t.same(logged, numbers, 'each event before the answer that follows it');
  off();
  await evaluate('console.log("unheard")');
  t.equal(logged.length, numbers.length);
});

void test('a command that fails says how', async (t) => {
  const chrome = await chromeFor(t);
  const { connection } = chrome;
  const { evaluate } = await tabOf(connection);
  const close = connection.send('Target.closeTarget', { targetId: 'none' }, COMMAND_MS);
  await t.rejects(close, { name: 'CommandRefused', message: /target/i });

  const late = evaluate('new Promise(() => {})', 50);
  await t.rejects(late, { name: 'CommandTimeout', message: /Runtime\.evaluate.* 50 ms/ });
  t.equal(await evaluate('1 + 1'), 2, 'the next one has an answer');

  const told = Promise.withResolvers<void>();
  connection.onDisconnect(() => told.resolve());
  const waiting = t.rejects(evaluate('new Promise(() => {})'), { name: 'ChromeGone' });
  process.kill(chrome.pid, 'SIGKILL');
  await waiting;
  await told.promise;
  t.notOk(connection.isOpen);
  await t.rejects(evaluate('1'), { name: 'ChromeGone' }, 'at once');
});

void test(
  'a message that no command of ours asks for ends the connection, not the service',
  PATIENT,
  async (t) => {
    const { connection } = await chromeFor(t);
    const { evaluate } = await tabOf(connection);
    await t.rejects(evaluate('"x".repeat(65 * 1024 * 1024)'), { name: 'ChromeGone' });
    t.notOk(connection.isOpen);
  },
);

void test('an event handler that throws fails the document of its tab, and nothing else', async (t) => {
  const { connection } = await chromeFor(t);
  const [tab, other] = await Promise.all([Tab.open(connection), Tab.open(connection)]);
  for (const each of [tab, other]) each.begin(new Deadline(COMMAND_MS));
  tab.on('Runtime.consoleAPICalled', () => {
    throw new Error('a fault of ours');
  });
  await tab.send('Runtime.enable', undefined);
  const waiting = tab.untilGone(new Promise(() => {}));
  tab.send('Runtime.evaluate', { expression: 'console.log(1)' }).catch(() => {});
  await t.rejects(waiting, { message: /could not be handled: a fault of ours/ });
  await t.rejects(tab.send('Runtime.disable', undefined), { message: /a fault of ours/ });
  t.ok(connection.isOpen);
  const { result } = await other.send('Runtime.evaluate', { expression: '1 + 1' });
  t.equal(result.value, 2);
});

void test('an event handler that throws without a tab ends the connection', async (t) => {
  const chrome = await chromeFor(t);
  const { connection } = chrome;
  const { sessionId, evaluate } = await tabOf(connection);
  connection.on(
    'Runtime.consoleAPICalled',
    () => {
      throw new Error('a fault of ours');
    },
    sessionId,
  );
  await connection.send('Runtime.enable', undefined, COMMAND_MS, sessionId);
  await t.rejects(evaluate('console.log(1)'), { name: 'ChromeGone' });
  t.notOk(connection.isOpen);
  // It writes its profile while it ends by itself.
  await chrome.end();
});

void test(
  'a page that makes Chrome send too long a message fails, and the next one does not',
  PATIENT,
  async (t) => {
    const renderer = await startTestRenderer();
    t.teardown(() => renderer.close());
    const html = `<script>fetch('data:text/plain,' + 'x'.repeat(70 * 1024 * 1024))</script>`;
    const result = await renderer.render({ html }, {}, COMMAND_MS);
    t.match(result, { kind: 'failed', code: 'too_large', message: /more than 64 MiB at once/ });
    t.match(await renderer.render({ html: '<p>next</p>' }), { kind: 'completed' });
  },
);

void test('a page whose picture is too long an answer is told so', async (t) => {
  const messages = new PassThrough();
  const connection = new Connection(new PassThrough(), messages);
  const reason = new Promise((resolve) => connection.onDisconnect(resolve));
  messages.write('{"id"');
  messages.write(`:1,"result":{"data":"${'A'.repeat(65 * 2 ** 20)}`);
  t.match(await reason, { code: 'too_large', message: /answered with .* picture .* jpeg or webp/ });
});

void test('a long event tells the beginnings of its data URLs, and all else whole', async (t) => {
  const messages = new PassThrough();
  const connection = new Connection(new PassThrough(), messages);
  const data = `data:image/png;base64,${'A'.repeat(200_000)}`;
  const quoted = `data:image/svg+xml,<svg id="a\\">${'\n'.repeat(5_000)}"data:`;
  const said = `say "${data}" and "`;
  const text = 'x'.repeat(200_000);
  const logged = [data, quoted, said + data, text, `${data}"`, data];
  const heard = new Promise((resolve) => connection.on('Runtime.consoleAPICalled', resolve));
  const event = { method: 'Runtime.consoleAPICalled', params: { logged, last: 'é😀' } };
  const bytes = Buffer.from(`${JSON.stringify(event)}\0`);
  for (let at = 0; at < bytes.length; at += 65_535) messages.write(bytes.subarray(at, at + 65_535));
  const short = data.slice(0, 2_048);
  const told = [short, quoted, said + short, text, `${data}"`, short];
  const same = JSON.stringify(await heard) === JSON.stringify({ logged: told, last: 'é😀' });
  t.ok(same);

  const asked = connection.send('Runtime.evaluate', { expression: '' }, COMMAND_MS);
  const answer = JSON.stringify({ id: 1, result: { data } });
  messages.write(answer.slice(0, 65_536));
  messages.write(`${answer.slice(65_536)}\0`);
  t.ok(JSON.stringify(await asked) === JSON.stringify({ data }), 'an answer is whole');
});
