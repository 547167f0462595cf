/** What a renderer reports becomes an event of its conversion, once, however often it is reported. */
import type { ActorSystem } from '../actors/system.ts';
import { conversionActor } from '../application/kinds.ts';
import type { BlobStore, StagedBlob } from '../blob-store/port.ts';
import type { ConversionCommand } from '../domain/conversion.ts';
import { MAX_MANIFEST_BYTES } from '../domain/render-manifest.ts';
import { KeyErased } from '../keyring/port.ts';
import type { Vault } from '../keyring/vault.ts';
import type { Logger } from '../log.ts';
import type { CompletedReport, FailedReport, RenderReport } from '../render-queue/messages.ts';
import type { Consumer, RenderQueue } from '../render-queue/port.ts';

type Seals = Pick<Vault, 'seal'>;

/** What stands where the key of a failure's account is gone: nobody is left to read the reason. */
const UNREADABLE = 'erased';

async function sealed(vault: Seals, accountId: string, message: string): Promise<string> {
  try {
    return await vault.seal(accountId, message);
  } catch (error) {
    // The report would come again for ever.
    if (error instanceof KeyErased) return UNREADABLE;
    throw error;
  }
}

interface Recorded {
  readonly command: ConversionCommand;
  /** Stored with the command's event. */
  readonly blobs: readonly StagedBlob[];
}

/** What stands for a report that is too large to be recorded. */
const unusable = (report: CompletedReport): FailedReport => ({
  kind: 'failed',
  conversionId: report.conversionId,
  accountId: report.accountId,
  renderer: report.renderer,
  attempt: report.attempt,
  at: report.at,
  code: 'renderer_failed',
  message: 'The renderer reported more than can be recorded.',
});

async function recordOf(report: RenderReport, blobs: BlobStore, vault: Seals): Promise<Recorded> {
  switch (report.kind) {
    case 'started':
      return { command: { ...report, type: 'StartConversion' }, blobs: [] };
    case 'completed': {
      const content = Buffer.from(report.manifest);
      // No renderer of ours makes one; refusing the report would only bring it again for ever.
      if (content.length > MAX_MANIFEST_BYTES) return recordOf(unusable(report), blobs, vault);
      const staged = blobs.stage(report.conversionId, 'manifest', content);
      const { manifest: _, ...outcome } = report;
      const command = { ...outcome, type: 'CompleteConversion', manifest: staged.ref } as const;
      return { command, blobs: [staged] };
    }
    case 'failed': {
      const message = await sealed(vault, report.accountId, report.message);
      return { command: { ...report, message, type: 'FailConversion' }, blobs: [] };
    }
  }
}

export function startOutcomes(deps: {
  readonly actors: ActorSystem;
  readonly blobs: BlobStore;
  readonly logger: Logger;
  readonly queue: RenderQueue;
  readonly vault: Seals;
}): Consumer {
  const { actors, blobs, logger, queue, vault } = deps;
  return queue.reports(async (report) => {
    const { conversionId, renderer, attempt, kind, at } = report;
    const commandId = `${conversionId}/${renderer}/${attempt}/${kind}`;
    try {
      const recording = await recordOf(report, blobs, vault);
      // What comes after the end leaves nothing that its retention would have to find again.
      const { status } = (await actors.read(conversionActor, conversionId)).state;
      const late = status === 'completed' || status === 'failed';
      const outcome = await actors.send(conversionActor, conversionId, recording.command, {
        commandId,
        prerequisites: late ? [] : recording.blobs,
        metadata: {
          correlationId: conversionId,
          causationId: commandId,
          actor: { kind: 'renderer', id: renderer },
          time: at,
        },
      });
      const [recorded] = outcome.accepted ? outcome.events : [];
      logger.debug({ conversionId, attempt, kind, recorded: recorded?.type }, 'render report');
    } catch (error) {
      logger.error({ err: error, conversionId, kind }, 'a render report could not be recorded yet');
      throw error;
    }
  });
}
