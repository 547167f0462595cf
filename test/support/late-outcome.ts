/** A renderer that was thought dead, and reports on a conversion that has ended. */
import { pino } from 'pino';
import { connectToNats } from '../../src/nats/connection.ts';
import type { Recorded } from '../../src/render-queue/messages.ts';
import { NatsRenderQueue } from '../../src/render-queue/nats/queue.ts';

/** Reports two starts and two failures. @returns the answers to the starts */
export async function reportLate(
  natsUrl: string,
  ids: { readonly conversionId: string; readonly accountId: string },
): Promise<readonly Recorded[]> {
  const logger = pino({ level: 'silent' });
  const link = await connectToNats(natsUrl, { name: 'late renderer', logger });
  const queue = await NatsRenderQueue.open({ link, logger, side: 'renderer' });
  const answers: Recorded[] = [];
  for (const attempt of [1, 2]) {
    const at = Date.now();
    const about = { ...ids, renderer: 'renderer-late', at, delivery: `late-${at}-${attempt}` };
    answers.push(await queue.report({ ...about, kind: 'started' }));
    const failed = { code: 'timeout', message: 'late', retryable: false } as const;
    await queue.report({ ...about, ...failed, kind: 'failed', attempt });
  }
  await queue.close();
  await link.close();
  return answers;
}
