/** What a renderer reports becomes an event of its conversion, once, however often it is reported. */
import type { ActorSystem } from '../actors/system.ts';
import { conversionActor } from '../application/kinds.ts';
import type { BlobStore, StagedBlob } from '../blob-store/port.ts';
import type { ConversionCommand } from '../domain/conversion.ts';
import { MAX_MANIFEST_BYTES } from '../domain/render-manifest.ts';
import type { Logger } from '../log.ts';
import type { RenderReport } from '../render-queue/messages.ts';
import type { Consumer, RenderQueue } from '../render-queue/port.ts';

interface Recorded {
  readonly command: ConversionCommand;
  /** Stored with the command's event. */
  readonly blobs: readonly StagedBlob[];
}

const unusable = ({ conversionId, accountId, renderer, attempt, at }: RenderReport) =>
  ({
    type: 'FailConversion',
    conversionId,
    accountId,
    renderer,
    attempt,
    at,
    code: 'renderer_failed',
    message: 'The renderer reported more than can be recorded.',
  }) as const;

function recordOf(report: RenderReport, blobs: BlobStore): Recorded {
  switch (report.kind) {
    case 'started':
      return { command: { ...report, type: 'StartConversion' }, blobs: [] };
    case 'completed': {
      const content = Buffer.from(report.manifest);
      // No renderer of ours makes one; refusing the report would only bring it again for ever.
      if (content.length > MAX_MANIFEST_BYTES) return { command: unusable(report), blobs: [] };
      const staged = blobs.stage(report.conversionId, 'manifest', content);
      const { manifest: _, ...outcome } = report;
      const command = { ...outcome, type: 'CompleteConversion', manifest: staged.ref } as const;
      return { command, blobs: [staged] };
    }
    case 'failed':
      return { command: { ...report, type: 'FailConversion' }, blobs: [] };
  }
}

export function startOutcomes(deps: {
  readonly actors: ActorSystem;
  readonly blobs: BlobStore;
  readonly logger: Logger;
  readonly queue: RenderQueue;
}): Consumer {
  const { actors, blobs, logger, queue } = deps;
  return queue.reports(async (report) => {
    const { conversionId, renderer, attempt, kind, at } = report;
    const commandId = `${conversionId}/${renderer}/${attempt}/${kind}`;
    try {
      const recording = recordOf(report, blobs);
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
