import type { Route } from '../route.ts';
import { exampleOf } from './example.ts';
import { SCHEMAS, schemaObject } from './schemas.ts';

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The operation as a command to paste, with the key in `$PRESSLEDGER_API_KEY`. */
export function curlSample(
  { method, path, auth, doc }: Pick<Route<never>, 'method' | 'path' | 'auth' | 'doc'>,
  publicUrl: string,
): string {
  const example = (name: string): string => {
    const parameter = doc.parameters?.find((each) => each.name === name);
    return parameter ? String(exampleOf(schemaObject(parameter.schema), SCHEMAS)) : name;
  };
  const query = auth === 'link' ? `?token=${example('token')}` : '';
  const url = publicUrl + path.replaceAll(/\{(\w+)\}/g, (_, name: string) => example(name)) + query;
  const [body] = Object.values(doc.body?.examples ?? {});
  const parts = [
    `curl ${method === 'delete' ? '-X DELETE ' : ''}${quoted(url)}`,
    ...(auth === 'link' ? ['-o document.pdf'] : []),
    ...(auth === 'caller' ? ['-H "X-API-Key: $PRESSLEDGER_API_KEY"'] : []),
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body))}`]),
  ];
  return parts.join(' \\\n  ');
}
