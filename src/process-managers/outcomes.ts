/** What a renderer reports becomes an event of its conversion, once, however often it is reported. */
import type { ActorSystem } from '../actors/system.ts';
import { conversionActor } from '../application/kinds.ts';
import type { ConversionCommand } from '../domain/conversion.ts';
import type { Logger } from '../log.ts';
import type { RenderReport } from '../render-queue/messages.ts';
import type { Consumer, RenderQueue } from '../render-queue/port.ts';

function commandOf(report: RenderReport): ConversionCommand {
  switch (report.kind) {
    case 'started':
      return { ...report, type: 'StartConversion' };
    case 'completed':
      return { ...report, type: 'CompleteConversion' };
    case 'failed':
      return { ...report, type: 'FailConversion' };
  }
}

export function startOutcomes(deps: {
  readonly actors: ActorSystem;
  readonly logger: Logger;
  readonly queue: RenderQueue;
}): Consumer {
  const { actors, logger, queue } = deps;
  return queue.reports(async (report) => {
    const { conversionId, renderer, attempt, kind, at } = report;
    const commandId = `${conversionId}/${renderer}/${attempt}/${kind}`;
    try {
      const outcome = await actors.send(conversionActor, conversionId, commandOf(report), {
        commandId,
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
