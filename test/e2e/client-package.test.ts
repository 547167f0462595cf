/** The client's package as its users get it: installed from the service, imported from JavaScript and TypeScript. */
import { execFile } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'tap';
import { readVersion } from '../../src/config/version.ts';
import { startService } from '../support/service.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CLIENT = join(ROOT, 'client');
const TSC = join(ROOT, 'node_modules', '.bin', 'tsc');

interface Manifest {
  readonly dependencies?: object;
  readonly bin?: object;
  readonly version: string;
}
const manifestIn = async (folder: string) =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;

const TYPESCRIPT = `
import { isPressledgerError, PressledgerClient, type Conversion } from '@pressledger/client';
declare const apiKey: string | undefined;
const client = new PressledgerClient({ server: 'https://pdf.example.com', apiKey });
export const pdf: Promise<Uint8Array> = client.convert({ html: '<p>x</p>', page_size: 'A5' });
export async function stream(url: string): Promise<ReadableStream<Uint8Array>> {
  const { id } = await client.create({ url }, { idempotencyKey: 'k' });
  const record = await client.wait(id, { timeoutMs: 1000 });
  if (record.status === 'failed') throw new Error(record.error_message);
  const link: string = record.file_url;
  return link === '' ? Promise.reject(new Error()) : client.download(record);
}
export const running = ({ status }: Conversion): boolean => status === 'processing';
export const broke = (error: unknown): 'insufficient_credits' | undefined =>
  isPressledgerError(error, 'insufficient_credits') ? error.code : undefined;
// @ts-expect-error there is no such option
void client.create({ html: 'x', pageSize: 'A4' });
// @ts-expect-error it names no document
void client.create({});
// @ts-expect-error it names two documents
void client.convert({ html: 'x', url: 'https://example.com/' });
// @ts-expect-error there is no such code
isPressledgerError(undefined, 'no_such_code');
`;

/** Strict, without the types of Node, and looking into the package's own declarations. */
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: false,
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
  },
  files: ['consumer.ts', 'consumer.cts'],
};

void test('the client that the service serves suits ECMAScript, CommonJS and TypeScript', async (t) => {
  const folder = t.testdir({
    'package.json': '{"type":"module"}',
    'consumer.ts': TYPESCRIPT,
    'consumer.cts': `import client = require('@pressledger/client');\nvoid client.PressledgerClient;\n`,
    'tsconfig.json': JSON.stringify(TSCONFIG),
  });
  const service = await startService(t);
  const readme = await readFile(join(CLIENT, 'README.md'), 'utf8');
  const [, command = ''] = /^npm (install .* http:.*)$/m.exec(readme) ?? [];
  const args = command.replace('http://localhost:8080', service.url).split(' ');
  const installed = await run('npm', args, { cwd: folder });
  t.match(installed.stdout, /^added 1 package\b/m);
  const place = join(folder, 'node_modules/@pressledger/client');
  const files = await readdir(place, { recursive: true });
  const strange = files.filter(
    (path) => !/^(dist|dist\/[\w-]+(\.d)?\.[jt]s|package\.json|README\.md|LICENSE)$/.test(path),
  );
  t.strictSame(strange, [], 'nothing of the service, and no sources');
  const sources = await readdir(join(CLIENT, 'src'));
  t.equal(files.filter((path) => path.endsWith('.d.ts')).length, sources.length);
  const { dependencies, bin, version } = await manifestIn(place);
  t.strictSame([dependencies, bin, version], [undefined, undefined, readVersion()]);
  t.strictSame(await readdir(join(folder, 'node_modules/@pressledger')), ['client']);
  const checked = await run(TSC, ['-p', folder], { cwd: folder }).catch((error: unknown) => error);
  t.match(checked, { stdout: '' }, 'its types stand alone');

  const programs = [...readme.matchAll(/^```(js|cjs)\n(.*?)^```$/gms)];
  t.equal(programs.length, 7);
  const output: string[] = [];
  for (const [index, [, form = '', program = '']] of programs.entries()) {
    const name = `example${index}.${form === 'js' ? 'mjs' : form}`;
    await writeFile(join(folder, name), program.replace('http://localhost:8080', service.url));
    const env = { ...process.env, PRESSLEDGER_API_KEY: service.firstStart.apiKey };
    const { stdout, stderr } = await run(process.execPath, [name], { cwd: folder, env });
    t.equal(stderr, '', name);
    output.push(stdout);
  }
  for (const name of ['invoice.pdf', 'report.pdf']) {
    t.ok((await stat(join(folder, name))).size > 1000, name);
  }
  t.match(
    output.join(''),
    /has 99 credits[^]*scale: \[ 'Must be at most 2[^]*completed[^]*pk_live_/,
  );
});
