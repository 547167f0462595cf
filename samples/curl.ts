import { REQUEST_FILE, type SampleRequest } from './json.ts';

/** A shell takes all characters in single quotes as they are, but for the single quote. */
export const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

export function curlSample({ json, server, made }: SampleRequest): string {
  return `# The answer is the ${made.name}, or after 30 seconds status 202 and the id of the conversion.
curl --silent --show-error --fail-with-body \\
  --output ${made.file} --write-out '%{http_code}\\n' \\
  --header "X-API-Key: $PRESSLEDGER_API_KEY" \\
  --header 'Content-Type: application/json' \\
  --header 'Accept: ${made.type}' \\
  --header 'Prefer: wait=30' \\
  --data-binary ${json === undefined ? `@${REQUEST_FILE}` : quoted(json)} \\
  ${quoted(`${server}/api/v1/pdf/`)}
`;
}
