import { REQUEST_FILE, type SampleRequest } from './json.ts';

/** JSON is an object literal but for this name, which would set the prototype. */
export const literal = (json: string): string =>
  json.replace(/^(\s*)"__proto__":/gm, '$1["__proto__"]:');

/** The lines that bring the client and open it. */
export const clientIn = (server: string, files: readonly string[]): string =>
  `// npm install --allow-remote=root ${server}/client.tgz
import { ${files.join(', ')} } from 'node:fs/promises';
import { PressledgerClient } from '@pressledger/client';

const client = new PressledgerClient({
  server: '${server}',
  apiKey: process.env.PRESSLEDGER_API_KEY,
});
`;

export function typescriptSample({ json, server, made }: SampleRequest): string {
  const request =
    json === undefined ? `JSON.parse(await readFile('${REQUEST_FILE}', 'utf8'))` : literal(json);
  return `${clientIn(server, json === undefined ? ['readFile', 'writeFile'] : ['writeFile'])}
const ${made.name.toLowerCase()} = await client.convert(${request});
await writeFile('${made.file}', ${made.name.toLowerCase()});
`;
}
