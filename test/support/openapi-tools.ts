/** Other people's tools on the OpenAPI document, in `test/openapi-tools/`. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const TOOLS = join(import.meta.dirname, '../openapi-tools');

export const ENV: NodeJS.ProcessEnv = {
  ...process.env,
  PATH: `${join(TOOLS, 'node_modules/.bin')}:${process.env['PATH']}`,
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  DOTNET_CLI_TELEMETRY_OPTOUT: '1',
  DOTNET_NOLOGO: '1',
  KIOTA_CLI_TELEMETRY_OPTOUT: 'true',
  // It asks for a newer version otherwise.
  KIOTA_OFFLINE_ENABLED: 'true',
  // No build server stays behind.
  MSBUILDDISABLENODEREUSE: '1',
  UseSharedCompilation: 'false',
};

/** @throws {Error} with the program's output, where it fails */
export async function run(
  command: string,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
): Promise<{ readonly stdout: string }> {
  const options = { cwd: TOOLS, env: { ...ENV, ...more }, maxBuffer: 2 ** 26 };
  return await promisify(execFile)(command, args, options).catch((error: unknown) => {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${args.join(' ')}\n${stdout}\n${stderr}`, { cause: error });
  });
}

export async function saveDocument(serviceUrl: string, path: string): Promise<void> {
  const document = await fetch(`${serviceUrl}/openapi.json`);
  await writeFile(path, await document.text());
}
