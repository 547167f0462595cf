// Tells the kinds of failure apart: node failures.mjs requests/html.json hello.pdf
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

const server = process.env.PRESSLEDGER_SERVER ?? 'http://localhost:8080';
const TRIES = 5;

const [input, output] = process.argv.slice(2);
const body = await readFile(input, 'utf8');
const idempotencyKey = createHash('sha256').update(body).digest('hex');

try {
  let record = await api('/pdf/', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': idempotencyKey },
    body,
  });
  while (record.status !== 'completed' && record.status !== 'failed') {
    record = await api(`/conversions/${record.id}/`, { headers: { Prefer: 'wait=30' } });
  }
  // The request was right, but the page could not be printed. The credit has been given back.
  if (record.status === 'failed') throw new Error(`The page failed: ${record.error_message}`);
  const file = await fetch(record.file_url);
  await writeFile(output, new Uint8Array(await file.arrayBuffer()));
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

/** Repeats what may succeed later. The idempotency key makes sure that it costs one credit. */
async function api(path, options) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(`${server}/api/v1${path}`, {
      ...options,
      headers: { ...options.headers, 'X-API-Key': process.env.PRESSLEDGER_API_KEY },
    }).catch((error) => error);
    const unreachable = response instanceof Error;
    if (!unreachable && response.ok) return response.json();

    const later = unreachable || response.status === 429 || response.status >= 500;
    if (later && attempt < TRIES) {
      const seconds = unreachable
        ? attempt
        : Number(response.headers.get('Retry-After') ?? attempt);
      await pause(seconds * 1000);
      continue;
    }
    if (unreachable) throw new Error(`No answer from ${server}: is the service running?`);
    throw new Error(await explain(response));
  }
}

async function explain(response) {
  const { error, message, details = {} } = await response.json();
  const id = response.headers.get('X-Request-Id');
  switch (error) {
    case 'validation_error':
      return [
        'The request is wrong:',
        ...Object.entries(details).map(([field, texts]) => `  ${field}: ${texts.join(' ')}`),
      ].join('\n');
    case 'unauthorized':
      return 'The API key is wrong or was revoked: set PRESSLEDGER_API_KEY.';
    case 'insufficient_credits':
      return 'The account has no credits left.';
    default:
      return `${error}: ${message} (request ${id})`;
  }
}
