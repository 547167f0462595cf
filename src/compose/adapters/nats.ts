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
  { natsUrl, blobStoreUrl }: Config,
  logger: Logger,
  openings: Openings,
  side: Side,
): Promise<NatsLink | undefined> {
  if (natsUrl === undefined) return undefined;
  if (blobStoreUrl === undefined) {
    throw new ConfigError(
      'NATS_URL needs BLOB_STORE_URL, the place that all nodes share for documents and keys: ' +
        'file:PATH (a folder that they share), nats: or s3://bucket?region=….',
    );
  }
  const { connectToNats } = await import('../../nats/connection.ts');
  const { parseNatsUrl } = await import('../../nats/address.ts');
  const { permissionsOf } = await import('../../render-queue/nats-streams.ts');
  const { inboxPrefix } = permissionsOf(parseNatsUrl(natsUrl).namespace)[side];
  const link = await connectToNats(natsUrl, { name: `pressledger ${side}`, inboxPrefix, logger });
  openings.add({
    unhealthyReason: async () => (link.isUp() ? undefined : 'NATS is away'),
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
  openings.add({ unhealthyReason: async () => log.missing(), close: () => log.close() });
  return log;
}
