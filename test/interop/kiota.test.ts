/** The client that Kiota generates from the OpenAPI document. */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'tap';
import { testDirectory } from '../support/directory.ts';
import { lacks } from '../support/lacks.ts';
import { ENV, run, saveDocument, TOOLS } from '../support/openapi-tools.ts';
import { startService } from '../support/service.ts';

const inTools = { cwd: TOOLS, env: ENV };
const skip =
  lacks('Kiota', ['dotnet', 'tool', 'restore'], inTools) ||
  lacks('Kiota', ['dotnet', 'kiota', '--version'], inTools) ||
  lacks('Packages of Kiota', ['dotnet', 'restore', 'kiota'], inTools);

void test('C#: Kiota, whose method for a PDF gives a stream', { skip }, async (t) => {
  const service = await startService(t);
  const folder = testDirectory(t);
  await cp(join(TOOLS, 'kiota'), folder, { recursive: true });
  const document = join(folder, 'openapi.json');
  await saveDocument(service.url, document);
  await run('dotnet', [
    'kiota',
    'generate',
    '--language=CSharp',
    `--openapi=${document}`,
    `--output=${join(folder, 'generated')}`,
    '--namespace-name=Generated',
    '--class-name=PressledgerClient',
    '--log-level=Error',
  ]);
  await run('dotnet', ['build', folder, '--output', join(folder, 'built')]);
  const program = join(folder, 'built/consumer.dll');
  const { stdout } = await run('dotnet', [program, service.url, service.firstStart.apiKey]);
  t.strictSame(JSON.parse(stdout), { status: 'Completed', pdf: '%PDF-', error: 'Not_found' });
});
