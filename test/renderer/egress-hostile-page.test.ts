import { spawn } from 'node:child_process';
import { createServer, type ServerResponse } from 'node:http';
import { Readable, Writable } from 'node:stream';
import { type Test, test } from 'tap';
import { Connection } from '../../src/renderer/browser/connection.ts';
import { findChrome } from '../../src/renderer/browser/find.ts';
import { chromeFlags } from '../../src/renderer/browser/flags.ts';
import { killGroup, removeProfile } from '../../src/renderer/browser/processes.ts';
import { startEgressProxy } from '../../src/renderer/egress/proxy.ts';
import type { EgressSession } from '../../src/renderer/egress/session.ts';
import { eventually } from '../support/deadline.ts';
import { testDirectory } from '../support/directory.ts';
import { startFrontProxy } from '../support/front-proxy.ts';
import {
  hostilePage,
  PAGE_ORIGIN,
  serviceWorker,
  type TargetOf,
  WAYS,
} from '../support/hostile-page.ts';
import { countingListener } from '../support/listener.ts';

// Spelled differently each time; all are this host, the last one by its resolved address only.
const HOSTS = [
  '127.0.0.1',
  'localhost',
  '127.1',
  '[::ffff:127.0.0.1]',
  '2130706433',
  'rebind.example',
];
const COMMAND_MS = 60_000;

interface Outcome {
  readonly reached: ReadonlySet<string>;
  readonly tcp: number;
  readonly udp: number;
  readonly job: EgressSession;
}

/** Starts Chrome with flags of our choice, so that a control can leave some out. */
async function startChrome(t: Test, flags: readonly string[]): Promise<Connection> {
  const profile = testDirectory(t);
  const { path } = await findChrome({
    chromePath: process.env['CHROME_PATH'],
    searchPath: process.env['PATH'],
  });
  const chrome = spawn(path, [...flags, '--remote-debugging-pipe', `--user-data-dir=${profile}`], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  t.teardown(async () => {
    if (chrome.pid !== undefined) killGroup(chrome.pid);
    await removeProfile(profile);
  });
  const [, , , commands, messages] = chrome.stdio;
  if (!(commands instanceof Writable && messages instanceof Readable)) throw new Error('no pipes');
  const connection = new Connection(commands, messages);
  t.teardown(() => connection.close());
  return connection;
}

/** Loads the hostile page until it has tried everything, and prints it. */
async function visit(
  t: Test,
  options: { allowPrivateNetwork: boolean; without?: RegExp },
): Promise<Outcome> {
  const reached = new Set<string>();
  const http = createServer((req, res) => {
    reached.add((req.url ?? '').slice(1));
    res.writeHead(200, { 'Access-Control-Allow-Origin': '*', 'Content-Type': 'text/javascript' });
    res.end();
  });
  const listener = await countingListener((socket) => void http.emit('connection', socket));
  t.teardown(() => listener.close());
  const proxy = await startEgressProxy({
    allowPrivateNetwork: options.allowPrivateNetwork,
    extraPorts: [listener.port],
    resolve: async () => ['127.0.0.1'],
  });
  t.teardown(() => proxy.close());
  const to: TargetOf = (way, scheme = 'http') =>
    `${scheme}://${HOSTS[Math.max(0, WAYS.indexOf(way)) % HOSTS.length]}:${listener.port}/${way}`;
  const site = (url: URL, res: ServerResponse): void => {
    const target = url.searchParams.get('to') ?? '';
    if (url.pathname === '/redirect') res.writeHead(302, { Location: target }).end();
    else if (url.pathname === '/sw.js') {
      res.writeHead(200, { 'Content-Type': 'text/javascript' }).end(serviceWorker(target));
    } else if (url.pathname === '/') {
      const report = JSON.stringify({
        group: 'g',
        max_age: 60,
        endpoints: [{ url: to('report-to') }],
      });
      res.writeHead(200, {
        'Content-Type': 'text/html',
        Link: `<${to('link-header')}>; rel=preload; as=image`,
        'Report-To': report,
        'Reporting-Endpoints': `g="${to('reporting-endpoints')}"`,
        'Content-Security-Policy-Report-Only': `img-src 'none'; report-uri ${to('report-uri')}; report-to g`,
      });
      res.end(hostilePage(to));
    } else res.writeHead(404).end();
  };
  const front = await startFrontProxy(PAGE_ORIGIN, proxy, site);
  t.teardown(() => front.close());
  const job = proxy.beginSession();

  const sandbox = process.getuid?.() !== 0;
  const flags = chromeFlags({ proxyPort: front.port, sandbox });
  const chrome = await startChrome(
    t,
    flags.filter((flag) => options.without?.test(flag) !== true),
  );
  const send = chrome.send.bind(chrome);
  const { browserContextId } = await send('Target.createBrowserContext', {}, COMMAND_MS);
  const { targetId } = await send(
    'Target.createTarget',
    { url: 'about:blank', browserContextId },
    COMMAND_MS,
  );
  const attach = { targetId, flatten: true };
  const { sessionId } = await send('Target.attachToTarget', attach, COMMAND_MS);
  await send('Page.navigate', { url: `${PAGE_ORIGIN}/` }, COMMAND_MS, sessionId);
  await eventually('everything tried', async () => {
    const { targetInfo } = await send('Target.getTargetInfo', { targetId }, COMMAND_MS);
    return targetInfo.title === 'tried' ? true : undefined;
  });
  await send('Page.printToPDF', {}, COMMAND_MS, sessionId);
  await send('Target.disposeBrowserContext', { browserContextId }, COMMAND_MS);
  return { reached, tcp: listener.tcp, udp: listener.udp, job };
}

void test('a page that tries every way reaches nothing private', async (t) => {
  const { reached, tcp, udp, job } = await visit(t, { allowPrivateNetwork: false });
  t.same([...reached], []);
  t.equal(tcp, 0, 'no connection');
  t.equal(udp, 0, 'no packet');
  t.ok(job.refused.length >= 60, `it did try: ${job.refused.length} requests were refused`);
  t.ok(
    job.refused.some(({ url }) => url.startsWith('https:')),
    'also by CONNECT',
  );
});

void test('the same page reaches the listener where nothing holds it', async (t) => {
  const { reached, tcp, udp } = await visit(t, {
    allowPrivateNetwork: true,
    without: /webrtc|block-new/,
  });
  t.comment(`not reached: ${WAYS.filter((way) => !reached.has(way)).join(' ')}`);
  t.ok(reached.size >= 60, `${reached.size} ways over ${tcp} connections`);
  t.ok(udp > 0, `${udp} packets`);
});
