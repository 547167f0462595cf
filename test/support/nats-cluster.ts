/** Three real nats-servers that form a cluster on loopback. A test may kill or freeze each, or cut it off from the others. */
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { Test } from 'tap';
import { type Cable, cable } from './cable.ts';
import { eventually } from './deadline.ts';
import { freePort } from './free-port.ts';
import { type NatsServer, startNatsServer } from './nats-server.ts';

const NAMES = ['one', 'two', 'three'] as const;
const READY_MS = 90_000;

export interface NatsCluster {
  /** All servers. */
  readonly url: string;
  readonly servers: readonly NatsServer[];
  /** The server that leads this stream. */
  leaderOf(stream: string): Promise<NatsServer>;
  /** Its clients still reach it, but no other server does. Clients are told nothing. */
  cutOff(server: NatsServer): void;
}

export async function startNatsCluster(t: Test): Promise<NatsCluster> {
  const ports = await Promise.all(NAMES.map(() => freePort()));
  // A cable for each direction between two servers: [from][to].
  const cables: Cable[][] = await Promise.all(
    NAMES.map(() => Promise.all(ports.map((port) => cable(t, port)))),
  );
  const servers = await Promise.all(
    NAMES.map((name, from) => {
      const routes = (cables[from] ?? [])
        .filter((_, to) => to !== from)
        .map(({ url }) => `"${url}"`);
      // Nobody listens at the advertised address: routes that others tell of lead nowhere.
      const config =
        `cluster { name: test, listen: "127.0.0.1:${ports[from]}", ` +
        `advertise: "127.0.0.1:1", routes: [${routes.join(', ')}] }`;
      return startNatsServer(t, { name, config });
    }),
  );
  const url = servers.map((server) => server.url).join(',');
  const manage = async <T>(
    use: (manager: Awaited<ReturnType<typeof jetstreamManager>>) => Promise<T>,
  ): Promise<T> => {
    const connection = await connect({
      servers: servers.filter(({ pid }) => pid() !== 0).map((server) => server.url),
    });
    try {
      return await use(await jetstreamManager(connection, { checkAPI: false }));
    } finally {
      await connection.close();
    }
  };
  await eventually(
    'the cluster',
    () =>
      manage(async (manager) => {
        const probe = { name: 'probe', subjects: ['probe'], num_replicas: NAMES.length };
        await manager.streams.add(probe);
        return await manager.streams.delete(probe.name);
      }).catch(() => undefined),
    READY_MS,
  );
  return {
    url,
    servers,
    leaderOf: (stream) =>
      eventually(
        `the leader of ${stream}`,
        () =>
          manage(async (manager) => {
            const { cluster } = await manager.streams.info(stream);
            return servers[NAMES.findIndex((name) => name === cluster?.leader)];
          }).catch(() => undefined),
        READY_MS,
      ),
    cutOff: (server) => {
      const index = servers.indexOf(server);
      for (const [from, row] of cables.entries())
        for (const [to, each] of row.entries()) if (from === index || to === index) each.cut();
    },
  };
}
