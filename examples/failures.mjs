// Tells the kinds of failure apart: node failures.mjs requests/html.json hello.pdf
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';

const server = process.env.PRESSLEDGER_SERVER ?? 'http://localhost:8080';
const TRIES = 5;

const [input, output] = process.argv.slice(2);
const body = await readFile(input, 'utf8');
const headers = {
  'X-API-Key': process.env.PRESSLEDGER_API_KEY,
  Accept: 'application/pdf',
  Prefer: 'wait=30',
};

try {
  // The key makes sure that the document costs one credit, however often the request is sent.
  const key = createHash('sha256').update(body).digest('hex');
  let response = await send(`${server}/api/v1/pdf/`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body,
  });
  const file = `${response.headers.get('Location')}file/`;
  while (response.status === 202 || response.status === 409)
    response = await send(file, { headers });
  if (!response.ok) throw new Error(await explain(response));
  await writeFile(output, new Uint8Array(await response.arrayBuffer()));
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

/** Repeats what may succeed later. */
async function send(url, options) {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(url, options).catch(() => undefined);
    const later = !response || response.status === 429 || response.status >= 500;
    if (response && (!later || attempt === TRIES)) return response;
    if (attempt === TRIES) throw new Error(`No answer from ${server}: is the service running?`);
    await pause(Number(response?.headers.get('Retry-After') ?? attempt) * 1000);
  }
}

async function explain(response) {
  const { error, message, details = {} } = await response.json();
  switch (error) {
    case 'validation_error': {
      const fields = Object.entries(details).map(
        ([field, texts]) => `  ${field}: ${texts.join(' ')}`,
      );
      return ['The request is wrong:', ...fields].join('\n');
    }
    case 'unauthorized':
      return 'The API key is wrong or was revoked: set PRESSLEDGER_API_KEY.';
    case 'insufficient_credits':
      return 'The account has no credits left.';
    case 'conversion_failed':
      // The credit has been given back.
      return `The page failed: ${message}`;
    default:
      return `${error}: ${message} (request ${response.headers.get('X-Request-Id')})`;
  }
}
