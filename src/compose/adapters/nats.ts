import { type Config, ConfigError } from '../../config.ts';
import type { EventStore } from '../../event-store/port.ts';
import type { Logger } from '../../log.ts';
import type { NatsLink } from '../../nats/connection.ts';
import type { Openings } from '../openings.ts';
import type { NatsLog } from './nats-log.ts';

/** Each side has an inbox of its own at the server, or its permissions could not be told apart. */
type Side = 'api' | 'renderer';

/** The connection that the adapters of a process share; undefined where no server is named. */
export async function connect(
  { natsUrl }: Config,
  logger: Logger,
  openings: Openings,
  side: Side,
): Promise<NatsLink | undefined> {
  if (natsUrl === undefined) return undefined;
  const { connectToNats } = await import('../../nats/connection.ts');
  const { PERMISSIONS } = await import('../../render-queue/nats-streams.ts');
  const { inboxPrefix } = PERMISSIONS[side];
  const link = await connectToNats(natsUrl, { name: `pressledger ${side}`, inboxPrefix, logger });
  openings.add({
    missing: async () => (link.isUp() ? undefined : 'NATS is away'),
    close: () => link.close(),
  });
  return link;
}

/** @throws {Error} one line: the server belongs to another event log */
export async function openNatsLog(
  link: NatsLink,
  store: EventStore,
  logger: Logger,
  openings: Openings,
): Promise<NatsLog> {
  const { NatsLog: Log } = await import('./nats-log.ts');
  const log = await Log.open({ link, store, logger });
  openings.add({ missing: async () => log.missing(), close: () => log.close() });
  return log;
}

/** @throws {ConfigError} */
export function demandNats(nats: NatsLink | undefined): NatsLink {
  if (nats === undefined) throw new ConfigError('NATS_URL is needed.');
  return nats;
}
