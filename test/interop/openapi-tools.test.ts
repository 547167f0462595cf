/** Other people's tools on the OpenAPI document: linters, generators of clients, a validating proxy. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Test, test } from 'tap';
import { lacks } from '../support/lacks.ts';
import { ENV, run, saveDocument, TOOLS } from '../support/openapi-tools.ts';
import { startService } from '../support/service.ts';

const GENERATED = join(TOOLS, 'generated');
const DOCUMENT = './generated/openapi.json';

/** Findings that the interface forces, by the name of their rule. */
const ALLOWED: Readonly<Record<string, string>> = {
  'no-path-trailing-slash': 'Trailing slashes are part of the paths.',
  'path-keys-no-trailing-slash': 'Trailing slashes are part of the paths.',
  'no-ambiguous-paths': 'No id of an endpoint is `secret` or `deliveries`.',
  'operation-4xx-response': 'Health checks refuse nobody.',
  'no-server-example.com': 'The service of this test runs on localhost.',
};

/** The steps that every generated client takes, and what it tells of them. */
const TOLD = {
  status: 'completed',
  pdf: '%PDF-',
  listed: true,
  keys: 1,
  plan: 'pro',
  entry: 'debit',
  error: 'not_found',
};

interface Ran {
  readonly stdout: string;
}

async function lint(): Promise<readonly string[]> {
  const redocly = [
    'lint',
    DOCUMENT,
    '--extends=recommended-strict',
    '--format=json',
    '--max-problems=100000',
  ];
  const [first, second] = await Promise.all([
    run('redocly', redocly).catch(({ cause }: Error) => cause as Ran),
    run('node', ['lint.mjs', DOCUMENT]),
  ]);
  const { problems } = JSON.parse(first.stdout) as { problems: { ruleId: string }[] };
  const findings = JSON.parse(second.stdout) as { code: string }[];
  return [...problems.map(({ ruleId }) => ruleId), ...findings.map(({ code }) => code)];
}

/** The origin of a proxy in front of the service, which answers 500 in place of what is not as documented. */
async function proxied(t: Test, url: string): Promise<string> {
  const args = ['proxy', DOCUMENT, url, '--errors', '--port', '0'];
  const proxy = spawn('prism', args, {
    cwd: TOOLS,
    env: ENV,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(proxy, 'close');
  t.teardown(async () => {
    proxy.kill();
    await closed;
  });
  for await (const line of createInterface(proxy.stdout)) {
    const origin = /listening on (http:\/\/[^\s]+)/.exec(line)?.[1];
    if (origin !== undefined) {
      proxy.stdout.resume();
      return origin;
    }
  }
  throw new Error('Prism ended before it listened.');
}

const version = Number.parseInt(spawnSync('dotnet', ['--version']).stdout?.toString() ?? '', 10);
const nswag = join(TOOLS, 'node_modules/nswag/bin/binaries', `Net${version}0`);
const noDotnet = lacks('NSwag', ['dotnet', join(nswag, 'dotnet-nswag.dll'), 'version']);

void test('linters, generated clients and a validating proxy take the document', async (t) => {
  const service = await startService(t, { RATE_LIMIT_PRO: '1000' });
  const { apiKey } = service.firstStart;
  await rm(GENERATED, { recursive: true, force: true });
  await mkdir(GENERATED);
  await saveDocument(service.url, join(TOOLS, DOCUMENT));
  const told = async (command: string, args: readonly string[]) =>
    (await run(command, [...args, apiKey])).stdout.trim().toLowerCase();
  const expected = JSON.stringify(TOLD).toLowerCase();

  await t.test('linters', async (own) => {
    const findings = await lint();
    own.strictSame(
      [...new Set(findings)].filter((rule) => !(rule in ALLOWED)),
      [],
    );
    own.equal(findings.filter((rule) => rule === 'operation-4xx-response').length, 2);
  });

  await t.test('TypeScript: openapi-typescript and Hey API', async (own) => {
    await run('openapi-typescript', [DOCUMENT, '--output', 'generated/schema.ts']);
    await run('openapi-ts', ['-i', DOCUMENT, '-o', 'generated/hey-api', '--no-log-file']);
    await run('tsc', ['--project', '.']);
    // The package here is one of ECMAScript modules, and what was compiled is CommonJS.
    await writeFile(join(GENERATED, 'compiled/package.json'), '{"type":"commonjs"}');
    for (const name of ['openapi-fetch', 'hey-api']) {
      const program = `generated/compiled/${name}.js`;
      own.equal(await told('node', [program, service.url]), expected, name);
    }
  });

  await t.test('Prism passes every answer of the service', async (own) => {
    const origin = await proxied(own, service.url);
    const program = 'generated/compiled/openapi-fetch.js';
    own.equal(await told('node', [program, origin]), expected);
  });

  await t.test('C#: NSwag, with both serialisers', { skip: noDotnet }, async (own) => {
    const folder = join(GENERATED, 'csharp');
    await cp(join(TOOLS, 'csharp'), folder, { recursive: true });
    const consumer = await readFile(join(folder, 'Consumer.cs'), 'utf8');
    const other = consumer.replaceAll('NewtonsoftJson', 'SystemTextJson');
    await writeFile(join(folder, 'Consumer.SystemTextJson.cs'), other);
    for (const library of ['NewtonsoftJson', 'SystemTextJson']) {
      await run('dotnet', [
        join(nswag, 'dotnet-nswag.dll'),
        'openapi2csclient',
        `/input:${DOCUMENT}`,
        `/output:generated/csharp/${library}.cs`,
        `/namespace:Generated.${library}`,
        '/className:PressledgerClient',
        `/jsonLibrary:${library}`,
        `/jsonLibraryVersion:${version}.0`,
        '/generateOptionalParameters:true',
      ]);
    }
    const generated = await readFile(join(folder, 'NewtonsoftJson.cs'), 'utf8');
    const [, parameters = ''] =
      /Task<Conversion> CreateConversionAsync\((.*)\)/.exec(generated) ?? [];
    own.match(
      parameters,
      /^ConversionRequest body, string idempotency_Key = null, string prefer = null, /,
    );
    const numbered = /\b(?:class|enum) (\w+\d+)\b/g;
    own.strictSame(
      Array.from(generated.matchAll(numbered), ([, name]) => name),
      [],
      'nothing is numbered for want of a name',
    );
    await run('dotnet', ['build', folder, '--output', join(folder, 'built')], {
      ConsumerFramework: `net${version}.0`,
      NSwagFolder: nswag,
    });
    const program = join(folder, 'built/consumer.dll');
    own.equal(await told('dotnet', [program, service.url]), `${expected}\n${expected}`);
  });
});
