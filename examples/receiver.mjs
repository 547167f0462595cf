// Receives webhooks, and stores each PDF once: WEBHOOK_SECRET=whsec_… node receiver.mjs 8081 pdfs/
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { verifyWebhook, WebhookRefused } from '@pressledger/client';

const MAX_BYTES = 1024 * 1024;

const [port, folder] = process.argv.slice(2);
await mkdir(folder, { recursive: true });

const server = createServer((request, response) => void answer(request, response));
server.listen(Number(port), '127.0.0.1', () => {
  process.stdout.write(`Listening at http://127.0.0.1:${server.address().port}/\n`);
});

async function answer(request, response) {
  let event;
  try {
    event = await receive(request);
  } catch (error) {
    response.writeHead(error instanceof WebhookRefused ? 401 : 400).end();
    return;
  }
  // The service waits 15 seconds for an answer: the work comes after it.
  response.writeHead(204).end();
  try {
    await work(event);
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
  }
}

async function receive(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > MAX_BYTES) throw new Error('The body is too large.');
    chunks.push(chunk);
  }
  // The signature is of the body as it came.
  const body = Buffer.concat(chunks);
  return await verifyWebhook({ headers: request.headers, body }, process.env.WEBHOOK_SECRET);
}

async function work({ type, data }) {
  if (type === 'conversion.failed') process.stdout.write(`${data.id}: ${data.error_message}\n`);
  if (type !== 'conversion.completed') return;
  const response = await fetch(data.file_url);
  if (!response.ok) throw new Error(`The PDF of ${data.id} was answered with ${response.status}.`);
  // A delivery may come twice: a file that is named by the conversion is then written again.
  const file = join(folder, `${data.id}.pdf`);
  await writeFile(`${file}.part`, new Uint8Array(await response.arrayBuffer()));
  await rename(`${file}.part`, file);
  process.stdout.write(`${file}: ${data.name}\n`);
}
