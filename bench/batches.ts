/**
 * The processor time of 1,000 letters that are accepted in one batch, beside that of 1,000 requests: of the whole
 * process, client and read model included, until the read model has them.
 */
import { startApi } from '../test/support/api.ts';

const LETTERS = 1_000;
const HTML = `<h1>Letter</h1><p>${'x'.repeat(2_000)}</p>`;
const ROUNDS = 3;

const ends: (() => unknown)[] = [];
const api = await startApi({ teardown: (end) => void (ends as unknown[]).push(end) });
const { key } = await api.newAccount({ credits: 1_000_000 });
const post = async (path: string, body: object) => {
  const { status, text } = await api.call('POST', `/api/v1${path}`, { key, body });
  if (status !== 202) throw new Error(text);
};

async function cpuMs(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  await api.runner.waitFor(await api.store.head());
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

const requests = Array.from({ length: LETTERS }, () => ({ html: HTML }));
for (let round = 0; round < ROUNDS; round += 1) {
  const alone = await cpuMs(async () => {
    for (let n = 0; n < LETTERS; n += 20) {
      await Promise.all(requests.slice(n, n + 20).map((each) => post('/pdf/', each)));
    }
  });
  const began = performance.now();
  let answeredMs = 0;
  const together = await cpuMs(async () => {
    await post('/batches/', { requests });
    answeredMs = performance.now() - began;
  });
  const events = (await api.log()).slice(-2 * LETTERS);
  const bytes = events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0);
  process.stdout.write(
    `${LETTERS} requests ${alone.toFixed(0)} ms, one batch ${together.toFixed(0)} ms (${(together / alone).toFixed(2)}), ` +
      `answered in ${answeredMs.toFixed(0)} ms; ${(bytes / LETTERS).toFixed(0)} bytes of events for each\n`,
  );
}
for (const end of ends.toReversed()) await end();
