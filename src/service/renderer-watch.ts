/** The renderers that take jobs now, and whether somebody feeds them, as a process sees them from outside. */
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { isFileLeaseHeld } from '../leader/file-lease.ts';
import type { NatsLink } from '../nats/connection.ts';
import { createLogger } from '../observe/log.ts';
import type { RendererWatch } from '../render-queue/port.ts';

/** The process that leads renders as well, where there is no NATS. */
export function watchHere({ dataDir, renderConcurrency }: Config): RendererWatch {
  return {
    look: async () => {
      const isLed = await isFileLeaseHeld(join(dataDir, 'render.lock'));
      return { isLed, renderers: isLed ? [{ id: 'here', slots: renderConcurrency }] : [] };
    },
    close: () => {},
  };
}

/** Knows each renderer a second after it was opened. */
export async function watchOverNats(link: NatsLink): Promise<RendererWatch> {
  const [{ SlotCounter }, { isNatsLeaseHeld }] = await Promise.all([
    import('../render-queue/nats/slots.ts'),
    import('../leader/nats-lease.ts'),
  ]);
  // The leader logs who comes and goes.
  const slots = new SlotCounter(link, createLogger('silent'), () => {});
  return {
    look: async () => ({ isLed: await isNatsLeaseHeld(link), renderers: slots.renderers() }),
    close: () => slots.close(),
  };
}
