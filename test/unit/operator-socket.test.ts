import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { connectToService, listenForCommands } from '../../src/service/operator-socket.ts';
import { createPlace } from '../support/place.ts';

function place(t: Test) {
  const { dataDir } = createPlace(t);
  mkdirSync(dataDir, { mode: 0o700 });
  const logged: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
  const listen = (name: string, dir = dataDir) =>
    listenForCommands(dir, (_request, response) => response.end(name), logger);
  return { dataDir, path: join(dataDir, 'operator.sock'), logged, listen };
}

/** The service that answers by the socket, if any does. */
async function whoAnswers(dataDir: string): Promise<string | undefined> {
  const socket = await connectToService(dataDir);
  if (socket === undefined) return undefined;
  const asked = request({ createConnection: () => socket }).end();
  const [answer] = await once(asked, 'response');
  return await text(answer);
}

void test('the socket is for its owner alone, and goes with the service', async (t) => {
  const { dataDir, path, listen, logged } = place(t);
  t.equal(await whoAnswers(dataDir), undefined, 'none yet');
  const service = await listen('first');
  t.equal(lstatSync(path).mode & 0o777, 0o600);
  t.equal(await whoAnswers(dataDir), 'first');
  await service.stop();
  t.strictSame(readdirSync(dataDir), []);
  t.equal(await whoAnswers(dataDir), undefined);
  t.strictSame(logged, []);
});

void test('a service never removes the socket of another', async (t) => {
  const { dataDir, path, listen } = place(t);
  const first = await listen('first');
  // Another process on the same directory puts its own there.
  const second = await listen('second');
  t.equal(await whoAnswers(dataDir), 'second');
  await first.stop();
  t.equal(await whoAnswers(dataDir), 'second');
  await second.stop();
  t.notOk(existsSync(path));
});

void test('a socket that nobody listens at is no service', async (t) => {
  const { dataDir, path, listen } = place(t);
  const bound = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  t.throws(() => execFileSync(process.execPath, ['-e', bound]));
  t.ok(lstatSync(path).isSocket(), 'it was left behind');
  t.equal(await whoAnswers(dataDir), undefined);
  const service = await listen('new');
  t.equal(await whoAnswers(dataDir), 'new');
  await service.stop();
});

void test('neither a link nor a file is taken for the socket', async (t) => {
  const { dataDir, path } = place(t);
  const elsewhere = createServer((socket) => socket.end()).listen(`${dataDir}.sock`);
  await once(elsewhere, 'listening');
  symlinkSync(`${dataDir}.sock`, path);
  t.equal(await connectToService(dataDir), undefined);
  elsewhere.close();
  const { path: file, dataDir: other } = place(t);
  writeFileSync(file, '');
  t.equal(await connectToService(other), undefined);
});

void test('where others may write, nothing is sent', async (t) => {
  const { dataDir, path, listen } = place(t);
  const service = await listen('first');
  chmodSync(path, 0o666);
  await t.rejects(connectToService(dataDir), /operator\.sock may be written by other users/);
  chmodSync(path, 0o600);
  chmodSync(dataDir, 0o777);
  await t.rejects(connectToService(dataDir), /data may be written by other users/);
  await service.stop();
});

void test('a service whose directory has too long a name runs without the socket', async (t) => {
  const { dataDir, listen, logged } = place(t);
  const long = join(dataDir, 'x'.repeat(100));
  mkdirSync(long);
  const service = await listen('first', long);
  t.match(logged, [/"reason":"its path is too long".*commands open the store beside the service/]);
  t.strictSame(readdirSync(long), []);
  t.equal(await connectToService(long), undefined);
  await service.stop();
});
