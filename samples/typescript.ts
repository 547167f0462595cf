import { REQUEST_FILE, type SampleRequest } from './json.ts';

/** JSON is an object literal but for this name, which would set the prototype. */
const literal = (json: string): string => json.replace(/^(\s*)"__proto__":/gm, '$1["__proto__"]:');

export function typescriptSample({ json, server, made }: SampleRequest): string {
  const files = json === undefined ? 'readFile, writeFile' : 'writeFile';
  const request =
    json === undefined ? `JSON.parse(await readFile('${REQUEST_FILE}', 'utf8'))` : literal(json);
  return `// npm install --allow-remote=root ${server}/client.tgz
import { ${files} } from 'node:fs/promises';
import { PressledgerClient } from '@pressledger/client';

const client = new PressledgerClient({
  server: '${server}',
  apiKey: process.env.PRESSLEDGER_API_KEY,
});

const ${made.name.toLowerCase()} = await client.convert(${request});
await writeFile('${made.file}', ${made.name.toLowerCase()});
`;
}
