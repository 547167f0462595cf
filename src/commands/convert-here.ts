/** The operator's own conversion: asked for in the store, rendered by whoever renders for it. */
import type { Readable } from 'node:stream';
import { conversionQueries } from '../../projections/conversions.ts';
import { operatorContext } from '../application/operator.ts';
import { requestConversion } from '../application/request-conversion.ts';
import type { Conversion, ConversionOptions } from '../client/types.ts';
import { isoTime } from '../clock.ts';
import type { Core } from '../core.ts';
import type { Toolbox } from './command.ts';

export interface Converted {
  readonly record: Conversion;
  /** The PDF of a completed conversion. */
  readonly open: () => Promise<Readable>;
}

type Row = NonNullable<ReturnType<ReturnType<typeof conversionQueries>['byId']>>;

/** Resolves when the conversion has ended: its deadline is the renderer's. */
async function ended(core: Core, id: string): Promise<Row> {
  const { promise, resolve } = Promise.withResolvers<Row>();
  const look = (): void => {
    const row = core.readModel.query(conversionQueries).byId(id);
    if (row?.status === 'completed' || row?.status === 'failed') resolve(row);
  };
  const unsubscribe = core.runner.onCommit(look);
  look();
  try {
    return await promise;
  } finally {
    unsubscribe();
  }
}

export async function convertHere(
  core: Core,
  accountId: string,
  options: ConversionOptions,
  { output, startRendering }: Toolbox,
): Promise<Converted> {
  const { conversionId } = await requestConversion(
    core,
    { accountId, body: options },
    operatorContext(core.clock),
  );
  output.progress(`${conversionId} is accepted; waiting for the PDF`);
  const rendering = await startRendering(core);
  try {
    const row = await ended(core, conversionId);
    // A refund that is due is given before the command ends.
    await core.caughtUp();
    const { document } = row;
    return {
      record: {
        id: row.id,
        status: row.status,
        created_at: isoTime(row.createdAt),
        ...(row.completedAt === undefined ? {} : { completed_at: isoTime(row.completedAt) }),
        ...(row.errorMessage === undefined ? {} : { error_message: row.errorMessage }),
      },
      open: () => {
        if (!document) throw new Error(`${row.id} has no file.`);
        return core.blobs.open(document);
      },
    };
  } finally {
    await rendering.stop();
  }
}
