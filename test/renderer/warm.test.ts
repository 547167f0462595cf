/** What warm tabs must not carry over: from one document to the next, and from one account to another. */
import { readdirSync, readFileSync } from 'node:fs';
import tap, { test } from 'tap';
import { startTestRenderer } from '../support/renderer.ts';
import { accountId } from '../support/samples.ts';

const renderer = await startTestRenderer();
tap.teardown(() => renderer.close());

/** Ours, by the profile on their command line. */
function rendererProcesses(): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return command.includes(renderer.directory) && command.includes('--type=renderer');
    } catch {
      return false;
    }
  });
}

const LEAVE = `<p>left</p><script>
  window.global = 1; window.name = 'named'; Array.prototype.tainted = 1;
  document.cookie = 'a=1'; document.cookie = 'b=1; domain=' + location.hostname.replace(/^[^.]*\\./, '');
  localStorage.a = sessionStorage.a = 1;
  indexedDB.open('left', 1);
  history.pushState(1, ''); history.pushState(2, '');
  setInterval(() => { document.body.textContent = 'overwritten'; }, 5);
  const chatter = new BroadcastChannel('x'); setInterval(() => chatter.postMessage('left'), 5);
  new Worker(URL.createObjectURL(new Blob(['setInterval(() => {}, 5)'])));
  navigator.locks?.request('l', () => new Promise(() => {}));
  requestAnimationFrame(function again() { requestAnimationFrame(again); });
</script>`;

const LOOK = `<p id=p>?</p><script>
  const seen = [];
  const look = (name, value) => { if (value) seen.push(name); };
  look('global', 'global' in window); look('name', window.name); look('prototype', [].tainted);
  look('cookie', document.cookie); look('local', localStorage.length);
  look('session', sessionStorage.length); look('history', history.length > 2 || history.state);
  look('referrer', document.referrer); look('opener', window.opener); look('frames', frames.length);
  look('caches', 'caches' in window); look('workers', 'serviceWorker' in navigator);
  new BroadcastChannel('x').onmessage = () => look('broadcast', true);
  onstorage = () => look('storage event', true);
  (async () => {
    look('databases', (await indexedDB.databases()).length);
    look('locks', (await navigator.locks?.query())?.held.length);
    await new Promise((resolve) => setTimeout(resolve, 60));
    p.textContent = 'saw ' + (seen.join() || 'nothing') + ' at ' + location.host;
    p.id = 'done';
  })();
</script>`;

const look = { html: LOOK, wait_for: { selector: '#done' } };

void test('a document sees nothing of the one before it in the same process', async (t) => {
  const account = accountId(1);
  const first = await renderer.pdf(look, {}, account);
  t.match(first.text, /saw nothing/);
  const before = rendererProcesses();
  const hosts = new Set([first.text]);
  for (const between of [LEAVE, '<p>plain</p>', LEAVE]) {
    await renderer.render({ html: between }, {}, 5_000, account);
    const { text } = await renderer.pdf(look, {}, account);
    t.match(text, /saw nothing/);
    hosts.add(text);
  }
  t.equal(hosts.size, 4, 'each on a host of its own');
  const after = rendererProcesses();
  t.match(before.filter((pid) => after.includes(pid)).length, before.length, 'in the same process');
});
