/**
 * Merges and a split by `POST /documents/`, of a service of its own: `work-on-pdfs.ts [ROUNDS]`. Of a merge: the time until
 * it has ended, and the processor time of the service, for each file. Of a split: the processor time until it is accepted, and
 * how long an answer to `GET /healthz` takes meanwhile, which on a quiet machine is how long the main thread is held up.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { PressledgerClient } from '../client/src/client.ts';
import type { DocumentSource } from '../client/src/documents.ts';
import { letter } from './documents.ts';
import { inTemporaryDirectory, median, print } from './measure.ts';
import { ownProcessorTime } from './processor-time.ts';
import { startService } from './running-service.ts';

const MERGED = [10, 25, 50, 100];
const LETTERS = 10;
/** Bytes of the PDF that is split, which each part has a copy of: all copies together may be 4 bodies. */
const LARGE_BYTES = 7_000_000;
const PARTS = ['1', '2', '3', '4', '5'];

const rounds = Number(process.argv[2] ?? 5);

async function pdfOf(client: PressledgerClient, id: string): Promise<Buffer> {
  const ended = await client.wait(id);
  if (ended.status !== 'completed') throw new Error(`${id}: ${ended.error_message}`);
  return Buffer.from(await (await fetch(ended.file_url)).arrayBuffer());
}

async function askUntilEnd(server: string): Promise<void> {
  const end = new AbortController();
  parentPort?.once('message', () => end.abort());
  let longest = 0;
  for (let first = true; first || !end.signal.aborted; first = false) {
    const before = performance.now();
    await new Promise((resolve, reject) => {
      get(`${server}/healthz`, (answer) => answer.resume().on('end', resolve)).on('error', reject);
    });
    longest = Math.max(longest, performance.now() - before);
    if (first) parentPort?.postMessage('begun', []);
  }
  parentPort?.postMessage(longest, []);
}

/** The longest answer to a request that needs next to nothing, until `work` resolves: another thread asks. */
async function longestAnswer(server: string, work: () => Promise<unknown>): Promise<number> {
  const thread = new Worker(new URL(import.meta.url), { workerData: server });
  await once(thread, 'message');
  await work();
  thread.postMessage('end', []);
  const [longest] = (await once(thread, 'message')) as [number];
  await thread.terminate();
  return longest;
}

async function untilEnded(client: PressledgerClient, batch: string): Promise<void> {
  while ((await client.batches.get(batch)).status === 'running') await setTimeout(100);
}

interface Cost {
  readonly took: number;
  /** Of the service. */
  readonly spent: number;
}

async function compare(directory: string): Promise<void> {
  const service = await startService(directory);
  const { client, pid, server } = service;
  const cost = async (work: () => Promise<unknown>): Promise<Cost> => {
    const [before, began] = [ownProcessorTime(pid), performance.now()];
    await work();
    return { took: performance.now() - began, spent: ownProcessorTime(pid) - before };
  };
  const medians = async (run: () => Promise<Cost>): Promise<Cost> => {
    const costs: Cost[] = [];
    for (let round = 0; round < rounds; round += 1) costs.push(await run());
    const of = (name: keyof Cost): number => median(costs.map((each) => each[name]));
    return { took: of('took'), spent: of('spent') };
  };

  const letters: DocumentSource[] = [];
  let bytes = 0;
  for (let n = 0; n < LETTERS; n += 1) {
    const pdf = await pdfOf(client, (await client.create({ html: letter(n) })).id);
    bytes += pdf.length;
    letters.push({ file: pdf.toString('base64') });
  }
  const sourcesOf = (files: number): DocumentSource[] =>
    Array.from({ length: files }, (_, n) => letters[n % LETTERS] ?? { file: '' });
  const merge = async (files: number): Promise<void> => {
    await client.wait((await client.documents.create(sourcesOf(files))).id);
  };
  await merge(2);
  print(`PDFs of ${Math.round(bytes / LETTERS / 1000)} kB, ${rounds} rounds, medians`);
  print(
    '| files | ended after | processor time | of it for each file beyond 10 |\n|---|---|---|---|',
  );
  let least: number | undefined;
  for (const files of MERGED) {
    const { took, spent } = await medians(() => cost(() => merge(files)));
    least ??= spent;
    const beyond = files === MERGED[0] ? '' : ` ${((spent - least) / (files - 10)).toFixed(1)} ms`;
    print(`| ${files} | ${took.toFixed(0)} ms | ${spent.toFixed(0)} ms |${beyond} |`);
  }

  const content = randomBytes(LARGE_BYTES).toString('base64');
  const attachments = [{ filename: 'x.bin', content, type: 'application/octet-stream' }];
  const steps = [{ type: 'attach', attachments } as const];
  const { id } = await client.documents.create(sourcesOf(LETTERS), steps);
  const large = await pdfOf(client, id);
  const from = { conversion: { conversion: id }, file: { file: large.toString('base64') } };
  for (const [how, source] of Object.entries(from)) {
    const longest: number[] = [];
    const { took, spent } = await medians(async () => {
      let batch = '';
      let accepted: Cost | undefined;
      longest.push(
        await longestAnswer(server, async () => {
          accepted = await cost(async () => {
            batch = (await client.documents.split([source], PARTS)).id;
          });
        }),
      );
      await untilEnded(client, batch);
      if (accepted === undefined) throw new Error('The split was not measured.');
      return accepted;
    });
    print(
      `A split of ${(large.length / 1e6).toFixed(1)} MB, sent as ${how}, into ${PARTS.length}: accepted after ` +
        `${took.toFixed(0)} ms, processor time ${spent.toFixed(0)} ms, longest answer meanwhile ${median(longest).toFixed(0)} ms`,
    );
  }
  await service.stop();
}

if (isMainThread) await inTemporaryDirectory(compare);
else await askUntilEnd(String(workerData));
