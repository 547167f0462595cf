/** The package as its users get it: packed, unpacked below node_modules, imported from JavaScript and TypeScript. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'tap';
import { startApi } from '../support/api.ts';

const execute = promisify(execFile);
/** Without the loaders that the test runner gives to every child: a consumer has none, and tsc fails on them. */
const run = (file: string, args: readonly string[], options: { readonly cwd?: string } = {}) =>
  execute('env', ['-u', 'NODE_OPTIONS', file, ...args], options);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TSC = join(ROOT, 'node_modules', '.bin', 'tsc');

const JAVASCRIPT = `
import { isPressledgerError, PressledgerClient } from 'pressledger/client';
const [server, apiKey] = process.argv.slice(2);
const client = new PressledgerClient({ server, apiKey });
const { id } = await client.create({ html: '<p>x</p>' });
const error = await client.create({}).catch((thrown) => thrown);
const ids = [];
for await (const each of client.conversions()) ids.push(each.id);
console.log(JSON.stringify({ id, ids, refused: isPressledgerError(error, 'validation_error') }));
`;

const TYPESCRIPT = `
import { isPressledgerError, PressledgerClient, type Conversion } from 'pressledger/client';
const client = new PressledgerClient({ server: 'https://pdf.example.com', apiKey: 'k' });
export async function convert(html: string): Promise<ReadableStream<Uint8Array>> {
  const { id } = await client.create({ html, page_size: 'A5' }, { idempotencyKey: 'k' });
  const record = await client.wait(id);
  if (record.status === 'failed') throw new Error(record.error_message);
  const link: string = record.file_url;
  return link === '' ? Promise.reject(new Error()) : client.download(record);
}
export const running = ({ status }: Conversion): boolean => status === 'processing';
export const broke = (error: unknown): 'insufficient_credits' | undefined =>
  isPressledgerError(error, 'insufficient_credits') ? error.code : undefined;
// @ts-expect-error there is no such option
void client.create({ html: 'x', pageSize: 'A4' });
// @ts-expect-error there is no such code
isPressledgerError(undefined, 'no_such_code');
`;

/** Strict, without the types of Node, and looking into the package's own declarations. */
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable'],
    types: [],
  },
  files: ['consumer.ts'],
};

void test('the packed client serves JavaScript and TypeScript', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'pressledger-consumer-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const packed = await run('npm', ['pack', '--json', '--offline', '--pack-destination', folder], {
    cwd: ROOT,
  });
  const start = packed.stdout.indexOf('[\n');
  const [{ filename, files }] = JSON.parse(packed.stdout.slice(start)) as [
    { filename: string; files: { path: string }[] },
  ];
  const strange = files
    .map(({ path }) => path)
    .filter((path) => !/^(?:dist\/client\/|package\.json$|README|LICENSE|bin\/)/.test(path));
  t.strictSame(strange, [], 'nothing of the service');
  t.notOk(
    files.some(({ path }) => /(?<!\.d)\.ts$/.test(path)),
    'no sources that Node would not take from a package',
  );

  const installed = join(folder, 'node_modules', 'pressledger');
  await mkdir(installed, { recursive: true });
  await run('tar', ['-xzf', join(folder, filename), '-C', installed, '--strip-components=1']);
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  await write('package.json', '{"type":"module"}');
  await write('consumer.mjs', JAVASCRIPT);
  await write('consumer.ts', TYPESCRIPT);
  await write('tsconfig.json', JSON.stringify(TSCONFIG));

  const api = await startApi(t);
  const { key } = await api.newAccount();
  const { stdout } = await run(process.execPath, ['consumer.mjs', api.origin, key], {
    cwd: folder,
  });
  const told = JSON.parse(stdout) as { id: string };
  t.match(told, { id: /^conv_/, ids: [told.id], refused: true });

  const checked = await run(TSC, ['-p', folder]).catch((error: unknown) => error);
  t.match(checked, { stdout: '' }, 'its types stand alone');
  const entry = await readFile(join(installed, 'dist/client/index.d.ts'), 'utf8');
  t.notMatch(entry, /typebox|node:/);
});
