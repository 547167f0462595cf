/** The operator's own conversion: asked for in the store, rendered by a process of that store. */
import type { Readable } from 'node:stream';
import { conversionQueries } from '../../projections/conversions.ts';
import { refundsDueQueries } from '../../projections/refunds-due.ts';
import { openContent } from '../blob-store/decryption.ts';
import { UnencryptedText } from '../blob-store/encryption.ts';
import { readRenderManifest } from '../use-cases/render-manifest.ts';
import { operatorContext } from '../use-cases/command-context.ts';
import { requestConversion } from '../use-cases/request-conversion.ts';
import { warningsOf } from '../use-cases/records.ts';
import { isoTime } from '../clock.ts';
import { copyableCommand } from '../copyable-command.ts';
import type { Core } from '../core.ts';
import { checkConversionRequest } from '../conversion-request/validate.ts';
import { ServiceError } from '../errors.ts';
import { ValidationIssues } from '../validation.ts';
import type { CommandContext } from './command.ts';
import { type FilesBeside, notLoaded } from './convert-files.ts';
import type { Conversion, ConversionOptions } from './service.ts';

export interface Converted {
  readonly record: {
    readonly id: string;
    readonly status: Conversion['status'];
    readonly created_at: string;
    readonly completed_at?: string;
    readonly error_message?: string;
    readonly warnings?: readonly string[];
  };
  /** Resources of the page that could not be loaded when it was printed, each with the reason. */
  readonly notLoaded: () => Promise<readonly string[]>;
  /** The PDF of a completed conversion. */
  readonly open: () => Promise<Readable>;
}

/** Ctrl-C, and what it leaves behind. */
export interface Interrupt {
  readonly signal: AbortSignal;
  /** What becomes of the conversion, in words. */
  left: string;
}

type Row = NonNullable<ReturnType<ReturnType<typeof conversionQueries>['byId']>>;

/**
 * Resolves when the conversion has ended and its credit is back if it failed.
 * @throws {ProjectionFailed} nobody will see it end
 */
async function settled(core: Core, id: string, signal: AbortSignal): Promise<Row> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Row>();
  signal.addEventListener('abort', () => reject(signal.reason));
  const look = (): void => {
    const row = core.readModel.query(conversionQueries).byId(id);
    const ended = row?.status === 'completed' || row?.status === 'failed';
    if (ended && !core.readModel.query(refundsDueQueries).has(id)) resolve(row);
  };
  const unsubscribe = core.runner.onCommit(look);
  // Otherwise it would wait for what nobody will ever tell it.
  core.runner.ended.catch(reject);
  look();
  try {
    return await promise;
  } finally {
    unsubscribe();
  }
}

export interface LocalAccount {
  readonly id: string;
  readonly email: string;
}

export async function convertLocally(
  core: Core,
  { id: accountId, email }: LocalAccount,
  body: ConversionOptions,
  beside: Pick<FilesBeside, 'reasonFor'>,
  { output, startRendering }: CommandContext,
  { isTemporary, interrupt }: { readonly isTemporary: boolean; readonly interrupt: Interrupt },
): Promise<Converted> {
  const issues = new ValidationIssues();
  const { document, ...request } = checkConversionRequest(body, issues, core.config);
  issues.throwIfAny();
  const text = new UnencryptedText(JSON.stringify(document));
  if (text.bytes > core.config.maxBodyBytes) {
    const size = `${text.bytes} bytes, larger than MAX_BODY_BYTES`;
    throw new ServiceError('payload_too_large', `The page with its files has ${size}.`);
  }
  const { conversionId: id } = await requestConversion(
    core,
    { accountId, ...request, document: text },
    operatorContext(core.clock),
  ).catch((error: unknown) => {
    if (!(error instanceof ServiceError && error.code === 'insufficient_credits')) throw error;
    const remedy = `\`${copyableCommand(core.config.dataDir, 'credits', 'grant', email, '1000')}\` adds 1000`;
    throw new ServiceError(error.code, `${email} has no credits left: ${remedy}.`);
  });
  if (!isTemporary) {
    const later = copyableCommand(core.config.dataDir, 'evidence', id, '-o', `${id}.zip`);
    interrupt.left = `a service on this store, or the next 'convert' there, renders ${id}, which costs its credit unless it fails. \`${later}\` then writes its PDF into a ZIP file.`;
  }
  output.waiting(`${id} is accepted; waiting for the PDF`);
  const rendering = await startRendering(core);
  try {
    const row = await settled(core, id, interrupt.signal);
    const { errorMessage } = row;
    const warnings = await warningsOf(core.vault, row);
    return {
      record: {
        id: row.id,
        status: row.status,
        created_at: isoTime(row.createdAt),
        ...(row.completedAt === undefined ? {} : { completed_at: isoTime(row.completedAt) }),
        ...(errorMessage === undefined
          ? {}
          : { error_message: await core.vault.unseal(accountId, errorMessage) }),
        ...(warnings && { warnings }),
      },
      notLoaded: async () => notLoaded(await readRenderManifest(core, id), beside),
      open: async () => {
        if (!row.document) throw new Error(`${row.id} has no file.`);
        const contentKey = await core.vault.contentKey(accountId, row.id);
        return await openContent(core.blobs, contentKey, row.document);
      },
    };
  } finally {
    await rendering.stop(interrupt.signal);
  }
}
