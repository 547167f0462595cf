/** Writes src/api/schema.d.ts: the types of the service's OpenAPI document. No service needs to run. */
import { writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';
import { readConfig } from '../../src/config/config.ts';
import { buildDocument } from '../../src/http/openapi/document.ts';
import { ROUTES } from '../../src/http/routes.ts';

const HEADER = `/** The types of the OpenAPI document. Generated: run \`npm run types\` instead of editing. */\n`;

/** @returns {Promise<string>} the text of src/api/schema.d.ts */
export async function schemaTypes() {
  const publicUrl = 'http://localhost';
  const document = buildDocument(ROUTES, { publicUrl, config: readConfig({}) });
  const nodes = await openapiTS(JSON.stringify(document), { alphabetize: true });
  return HEADER + astToString(nodes);
}

if (import.meta.main) {
  await writeFile(new URL('../src/api/schema.d.ts', import.meta.url), await schemaTypes());
}
