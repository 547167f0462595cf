// Converts one request with Node 20 or later and nothing else: node convert.mjs requests/html.json hello.pdf
import { readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

const server = process.env.PRESSLEDGER_SERVER ?? 'http://localhost:8080';

/** Creates a conversion, waits for its end and returns the bytes of the PDF. */
export async function convert(request) {
  const { id } = await api('/pdf/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(request),
  });
  for (;;) {
    // Answers as soon as the conversion has ended, or after 30 seconds.
    const record = await api(`/conversions/${id}/`, { headers: { Prefer: 'wait=30' } });
    if (record.status === 'failed') throw new Error(record.error_message);
    if (record.status !== 'completed') continue;
    const file = await fetch(record.file_url);
    if (!file.ok) throw new Error((await file.json()).message);
    return new Uint8Array(await file.arrayBuffer());
  }
}

async function api(path, options) {
  const response = await fetch(`${server}/api/v1${path}`, {
    ...options,
    headers: { ...options.headers, 'X-API-Key': process.env.PRESSLEDGER_API_KEY },
  });
  const body = await response.json();
  if (!response.ok) throw new Error(`${response.status} ${body.error}: ${body.message}`);
  return body;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [request, pdf] = process.argv.slice(2);
  await writeFile(pdf, await convert(JSON.parse(await readFile(request, 'utf8'))));
}
