// Converts one request with Node 20 or later and nothing else: node convert.mjs requests/html.json hello.pdf
import { readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

const server = process.env.PRESSLEDGER_SERVER ?? 'http://localhost:8080';

/** Creates a conversion, waits for its end and returns the bytes of the PDF. */
export async function convert(request) {
  // The answer is the PDF as soon as it is there, or a status after 30 seconds.
  const headers = {
    'X-API-Key': process.env.PRESSLEDGER_API_KEY,
    Accept: 'application/pdf',
    Prefer: 'wait=30',
  };
  let response = await fetch(`${server}/api/v1/pdf/`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(request),
  });
  const file = `${response.headers.get('Location')}file/`;
  while (response.status === 202 || response.status === 409) {
    response = await fetch(file, { headers });
  }
  if (response.ok) return new Uint8Array(await response.arrayBuffer());
  const { error, message } = await response.json();
  throw new Error(`${response.status} ${error}: ${message}`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [request, pdf] = process.argv.slice(2);
  await writeFile(pdf, await convert(JSON.parse(await readFile(request, 'utf8'))));
}
