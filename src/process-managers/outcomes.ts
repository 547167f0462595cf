/** What a renderer reports becomes an event of its conversion, once, however often it is reported. */
import type { ActorSystem } from '../actors/system.ts';
import { conversionActor } from '../application/kinds.ts';
import type { ConversionCommand } from '../domain/conversion.ts';
import { KeyErased } from '../keyring/port.ts';
import type { Vault } from '../keyring/vault.ts';
import type { Logger } from '../log.ts';
import type { RenderReport } from '../render-queue/messages.ts';
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

async function commandOf(report: RenderReport, vault: Seals): Promise<ConversionCommand> {
  switch (report.kind) {
    case 'started':
      return { ...report, type: 'StartConversion' };
    case 'completed':
      return { ...report, type: 'CompleteConversion' };
    case 'failed': {
      const message = await sealed(vault, report.accountId, report.message);
      return { ...report, message, type: 'FailConversion' };
    }
  }
}

export function startOutcomes(deps: {
  readonly actors: ActorSystem;
  readonly logger: Logger;
  readonly queue: RenderQueue;
  readonly vault: Seals;
}): Consumer {
  const { actors, logger, queue, vault } = deps;
  return queue.reports(async (report) => {
    const { conversionId, renderer, attempt, kind, at } = report;
    const commandId = `${conversionId}/${renderer}/${attempt}/${kind}`;
    try {
      const command = await commandOf(report, vault);
      const outcome = await actors.send(conversionActor, conversionId, command, {
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
