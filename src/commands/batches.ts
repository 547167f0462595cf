/** Batches of an account at a service: listed, read, cancelled, and their PDFs in one ZIP file. */
import { Readable } from 'node:stream';
import { type Invocation, type Run, requiredOption, UsageError } from './command.ts';
import { counted } from '../domain/counted.ts';
import { checkOutputFile, writeOutputFile } from './pdf-target.ts';
import { dateOf, isPressledgerError, limitOf, recordRows, serviceOf, take } from './service.ts';

/** @throws {UsageError} */
function idOf({ positionals: [id = ''] }: Invocation): string {
  if (/^batch_\w+$/.test(id)) return id;
  throw new UsageError("<id> is that of a batch, such as 'batches list' shows.");
}

export const batchesList: Run = async (invocation, context) => {
  const limit = limitOf(invocation);
  const { client } = await serviceOf(invocation, context);
  const found = await take(limit, (query) => client.batches.all(query));
  context.output.json(found);
  context.output.table(
    ['ID', 'STATUS', 'CREATED', 'TOTAL', 'PENDING', 'COMPLETED', 'FAILED', 'REFERENCE'],
    found.map(({ id, status, created_at, total, pending, completed, failed, reference }) => [
      id,
      status,
      dateOf(created_at),
      total,
      pending,
      completed,
      failed,
      reference,
    ]),
    'There is no batch.',
  );
};

export const batchesGet: Run = async (invocation, context) => {
  const id = idOf(invocation);
  const { client } = await serviceOf(invocation, context);
  const { conversions = [], ...batch } = await client.batches.get(id);
  context.output.json({ ...batch, conversions });
  const ids = conversions.map((each) => ['conversion', each] as const);
  context.output.table([], [...recordRows(batch), ...ids]);
};

export const batchesCancel: Run = async (invocation, context) => {
  const id = idOf(invocation);
  const { client } = await serviceOf(invocation, context);
  const { status } = await client.batches.get(id);
  await client.batches.cancel(id);
  context.output.json({ id });
  context.output.line(
    status === 'running' ? `${id}: what had not ended is cancelled.` : `${id} had ended before.`,
  );
};

export const batchesZip: Run = async (invocation, context) => {
  const id = idOf(invocation);
  const path = requiredOption(invocation, 'output');
  await checkOutputFile(path);
  const { client } = await serviceOf(invocation, context);
  const partial = invocation.values['partial'] === true;
  const zip = async () => {
    try {
      return await client.batches.zip(id, { partial });
    } catch (error) {
      if (!isPressledgerError(error, 'not_ready')) throw error;
      const { total, pending } = await client.batches.get(id);
      const left = `${id} has not ended: ${pending} of ${counted(total, 'conversion')} are unfinished`;
      throw new Error(
        partial
          ? `${left}, and none has a PDF yet. Wait, and repeat the command.`
          : `${left}. Wait, and repeat the command, or take the PDFs that are there with --partial.`,
        { cause: error },
      );
    }
  };
  const open = async () => Readable.fromWeb(await zip());
  const { bytes } = await writeOutputFile(open, path, context.outputMode);
  context.output.json({ id, path, bytes });
  context.output.line(`The PDFs of ${id} are in ${path}.`);
};
