/** Pages that fight back: each is printed, and leaves nothing for the next. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import tap, { test } from 'tap';
import { startTestRenderer } from '../support/renderer.ts';
import { accountId } from '../support/samples.ts';

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());

const withScript = (script: string): string => `<p>alive</p><script>${script}</script>`;

void test('pages that fight back are printed', async (t) => {
  const tricks = {
    'a getter on then': 'Object.defineProperty(Object.prototype,"then",{get(){for(;;);}})',
    'no promises': 'Promise=undefined;Promise.prototype',
    'no frames': 'requestAnimationFrame=()=>{};document.fonts.__proto__=null',
    dialogs: 'alert(1);confirm(2);prompt(3)',
    'a popup': 'open("about:blank");open("https://example.com/")',
    'leaving is refused': 'onbeforeunload=()=>"stay"',
    'covered names':
      'document.body.insertAdjacentHTML("beforeend","<form name=fonts></form><form name=querySelectorAll></form>")',
  };
  for (const [name, script] of Object.entries(tricks)) {
    t.match((await renderer.pdf({ html: withScript(script) })).text, /alive/, name);
  }
  t.match((await renderer.pdf({ html: '<p>next</p>' })).text, /next/, 'the next one is fine');
});

void test('a tab that does not close takes no document of another account with it', async (t) => {
  const page = withScript(
    "function f() { document.open(); document.write('<script>setTimeout(() => parent.f(), 10)<' + '/script>'); document.close(); setTimeout(f, 50) } setTimeout(f, 300)",
  );
  const failed = await renderer.render({ html: page }, {}, 3_000, accountId(2));
  t.match(failed, { kind: 'failed', code: 'timeout' });
  const next = await renderer.render({ html: withScript('1') }, {}, 60_000, accountId(3));
  t.equal(next.kind, 'completed');
});

void test('nothing of one document is seen by the next', async (t) => {
  const html =
    '<p id=p></p><script>p.textContent=(localStorage.a??"none")+document.cookie+location.protocol;localStorage.a="left"</script>';
  t.match((await renderer.pdf({ html })).text, /^nonehttp:$/);
  t.match((await renderer.pdf({ html })).text, /^nonehttp:$/);
});

void test('a page that locks the orientation of its screen turns no other one', async (t) => {
  const lock = "screen.orientation.lock('portrait').catch(({ name }) => { p.textContent = name })";
  const locking = `<p id=p>locked<script>${lock}</script>`;
  t.match((await renderer.pdf({ html: locking }, {}, accountId(4))).text, /NotSupportedError/);
  const framed = `<p>x</p><iframe srcdoc="<script>screen.orientation.lock('portrait').catch(() => {})</script>"></iframe>`;
  t.match((await renderer.pdf({ html: framed }, {}, accountId(4))).text, /x/);
  const look = '<p id=p><script>p.textContent = screen.orientation.type</script>';
  for (const account of [accountId(4), accountId(5)]) {
    t.match((await renderer.pdf({ html: look }, {}, account)).text, /^landscape-\s?primary/);
  }
});

void test('a page does not move or size its window, as in a tab of a browser', async (t) => {
  const resizes =
    'onresize = () => { p.textContent = "heard" }; resizeTo(320, 240); resizeBy(50, 50); moveTo(9, 9)';
  const html = `<p id=p>not heard<script>${resizes}</script><p id=q></p>
    <script>setTimeout(() => { q.textContent = [innerWidth, innerHeight, outerWidth, outerHeight] }, 300)</script>`;
  t.match((await renderer.pdf({ html })).text, /not heard\s+800,600,800,600/);
});

void test('what a page writes to its console is kept nowhere', async (t) => {
  const said = 'told-to-the-console';
  const page = withScript(
    `console.log('${said}'); console.error('${said}'); throw Error('${said}')`,
  );
  t.match((await renderer.pdf({ html: page })).text, /alive/);
  const files = await readdir(renderer.directory, { recursive: true, withFileTypes: true });
  const outputs = files.filter((each) => each.isFile() && /output|log/i.test(each.name));
  t.ok(outputs.length > 0, 'Chrome has files of its output');
  for (const { parentPath, name } of outputs) {
    t.notMatch(await readFile(join(parentPath, name), 'latin1'), said, name);
  }
  // Chrome deletes the file that it is to write a log to.
  t.ok((await stat('/dev/null')).isCharacterDevice());
});
