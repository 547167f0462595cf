/** Other programs of the same machine, who see every port and command line, against a renderer at work. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, chown, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import tap, { test } from 'tap';
import { processGroup, processIds } from '../../src/renderer/browser/processes.ts';
import { descendants } from '../support/processes.ts';
import { startTestRenderer } from '../support/renderer.ts';

const NOBODY = 65534;
const isRoot = process.getuid?.() === 0;

interface Neighbour {
  readonly name: string;
  readonly uid?: number;
}
/** Only root can become another user. */
const NEIGHBOURS: readonly Neighbour[] = [
  { name: 'the same user' },
  ...(isRoot ? [{ name: 'another user', uid: NOBODY }] : []),
];

/** Sends bytes to a port as a program of its own, and returns what comes back until the end. */
async function ask({ uid }: Neighbour, port: number, bytes: string): Promise<string> {
  const script = 'exec 3<>"/dev/tcp/127.0.0.1/$0"; printf %s "$1" >&3; cat <&3';
  const child = spawn('bash', ['-c', script, String(port), bytes], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'ignore'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  return await text(child.stdout);
}

const get = (url: string): string =>
  `GET ${url} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`;

const renderer = await startTestRenderer({ allowPrivateNetwork: true });
tap.teardown(() => renderer.close());
const chrome = theChrome();

/** The first process of the renderer's Chrome. */
function theChrome() {
  const found = descendants(process.pid).find(
    ({ commandLine }) =>
      commandLine.includes(`--user-data-dir=${renderer.directory}`) &&
      !commandLine.includes(' --type='),
  );
  if (found === undefined) throw new Error('no Chrome');
  return found;
}

/** Inodes of the sockets that processes hold. */
async function socketsOf(pids: readonly (number | string)[]): Promise<ReadonlySet<string>> {
  const inodes = new Set<string>();
  for (const pid of pids) {
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const link = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => '');
      const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1];
      if (inode !== undefined) inodes.add(inode);
    }
  }
  return inodes;
}

/** Ports that one of the sockets listens on. */
async function listening(inodes: ReadonlySet<string>): Promise<readonly number[]> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')),
  );
  return tables.flatMap((table) =>
    table
      .split('\n')
      .map((line) => line.trim().split(/ +/))
      .filter((fields) => fields[3] === '0A' && inodes.has(fields[9] ?? ''))
      .map((fields) => Number.parseInt(fields[1]?.split(':')[1] ?? '', 16)),
  );
}

void test('Chrome can be driven by nobody else: it listens nowhere', async (t) => {
  const sockets = await socketsOf(processIds().filter((pid) => processGroup(pid) === chrome.pid));
  t.ok(sockets.size > 0, 'its sockets can be seen');
  t.same(await listening(sockets), [], 'none of them listens');
  t.match(chrome.commandLine, /--remote-debugging-pipe/);
  t.notMatch(chrome.commandLine, /--remote-debugging-(?!pipe)/);
  const profile = /--user-data-dir=(\S+)/.exec(chrome.commandLine)?.[1] ?? '';
  await t.rejects(access(join(profile, 'DevToolsActivePort')), { code: 'ENOENT' });

  const ports = await listening(await socketsOf([process.pid]));
  t.ok(ports.length > 0, 'the proxies of its tabs can be seen');
  for (const neighbour of NEIGHBOURS) {
    const answers = await Promise.all(
      ports.map((port) => ask(neighbour, port, get('/json/version'))),
    );
    t.same(answers.join(''), '', `${neighbour.name} finds no /json/version`);
  }
});

void test("a job's network is closed to every other program", async (t) => {
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    const answer = (): unknown =>
      response.writeHead(200, { 'Content-Type': 'image/svg+xml' }).end('<svg/>');
    if (request.url !== '/held.svg') return void answer();
    asked.resolve();
    void released.promise.then(answer);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const origin = `127.0.0.1:${port}`;
  const rendering = renderer.render({ html: `<img src="http://${origin}/held.svg">` });
  await asked.promise;
  const proxyPort = (await listening(await socketsOf([process.pid]))).find((each) => each !== port);
  if (proxyPort === undefined) throw new Error('no proxy');
  for (const neighbour of NEIGHBOURS) {
    const connect = `CONNECT ${origin} HTTP/1.1\r\nHost: ${origin}\r\n\r\n`;
    const [direct, ...answers] = await Promise.all([
      ask(neighbour, port, get('/direct')),
      ask(neighbour, proxyPort, get(`http://${origin}/stolen`)),
      ask(neighbour, proxyPort, connect + get('/stolen')),
      ask(neighbour, proxyPort, get('http://192.0.2.1/')),
    ]);
    t.match(direct, /^HTTP\/1\.1 200 /, `${neighbour.name} can connect at all`);
    t.same(answers, ['', '', ''], `${neighbour.name} gets no resource, tunnel or reason`);
  }
  released.resolve();
  const result = await rendering;
  if (result.kind !== 'completed') throw new Error(`${result.kind}: ${result.message}`);
  const { resources, tunnels } = result.page;
  t.match(
    resources.find(({ url }) => url === `http://${origin}/held.svg`),
    { status: 200 },
  );
  t.notMatch(
    JSON.stringify(result.page),
    /stolen|192\.0\.2\.1/,
    'its manifest knows nothing of it',
  );
  t.same(tunnels, []);
  t.notOk(paths.includes('/stolen'), 'and the server was not asked');
});

// Of a sandboxed process the kernel may tell its own user less than it tells root.
const unlessRoot = !isRoot && { skip: 'only root can become another user' };
void test('the same for an unprivileged user, whose Chrome has a sandbox', {
  ...unlessRoot,
}, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'pressledger-nobody-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  await chown(directory, NOBODY, NOBODY);
  const { PATH = '', CHROME_PATH } = process.env;
  const environment = [`PATH=${PATH}`, `HOME=${directory}`, `TMPDIR=${directory}`];
  if (CHROME_PATH !== undefined) environment.push(`CHROME_PATH=${CHROME_PATH}`);
  const run = async (...args: readonly string[]) => {
    // Without `env` tap would load a part of itself that writes into its own folder.
    const child = spawn('env', ['-i', ...environment, process.execPath, ...args], {
      uid: NOBODY,
      gid: NOBODY,
      cwd: directory,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [output, errors, [status]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ]);
    return { output: output + errors, status: Number(status) };
  };
  const { status: readable } = await run('--check', import.meta.filename);
  if (readable !== 0) {
    t.pass('', { skip: `user ${NOBODY} may not run this Node or read this folder` });
    return;
  }
  const { output, status } = await run(import.meta.filename);
  t.equal(status, 0, status === 0 ? 'every test passes' : output);
});
