/** The commands for batches of an account at a service. */
import type { Command } from '../command.ts';
import { LIMIT, SERVICE_OPTIONS, HEADER } from '../options.ts';

const ID = { id: "the batch's id, as 'batches list' shows it" };
const BATCH = 'batch_06f3k8r1v2w9x4y5z6a7b8c9d0';

export const BATCHES: readonly Command[] = [
  {
    name: 'batches list',
    summary: 'List the batches of your account, newest first.',
    examples: ['batches list'],
    options: { header: HEADER, limit: LIMIT, ...SERVICE_OPTIONS },
    run: async (...given) => (await import('../batches.ts')).batchesList(...given),
  },
  {
    name: 'batches get',
    summary: 'Show a batch, its progress and its conversions.',
    examples: [`batches get ${BATCH}`],
    positionals: ID,
    options: SERVICE_OPTIONS,
    run: async (...given) => (await import('../batches.ts')).batchesGet(...given),
  },
  {
    name: 'batches cancel',
    summary: 'Cancel the conversions of a batch that have not ended.',
    examples: [`batches cancel ${BATCH}`],
    positionals: ID,
    options: SERVICE_OPTIONS,
    run: async (...given) => (await import('../batches.ts')).batchesCancel(...given),
  },
  {
    name: 'batches zip',
    summary: 'Download all PDFs of a batch as one ZIP file.',
    examples: [`batches zip ${BATCH} -o pdfs.zip`],
    positionals: ID,
    options: {
      output: { value: 'file', short: 'o', help: 'the ZIP file to write', needed: true },
      partial: { help: 'before the end of the batch, too: the PDFs that are there' },
      ...SERVICE_OPTIONS,
    },
    run: async (...given) => (await import('../batches.ts')).batchesZip(...given),
  },
];
