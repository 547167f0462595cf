/** A real cluster of three event store servers without TLS, where EVENTSTORE_TEST_CLUSTER_URL names all hosts. */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { openKurrentDb } from '../../src/event-store/kurrentdb/store.ts';
import type { CopyableEventStore } from '../../src/event-store/port.ts';
import { eventually } from '../support/deadline.ts';
import { clusterHosts, needsEventStoreCluster } from '../support/event-store-server.ts';
import { newEvents } from '../support/events.ts';

interface Member {
  readonly state: string;
  readonly httpEndPointPort: number;
}

async function open(
  t: Test,
  hosts: readonly string[],
  lines: string[] = [],
): Promise<CopyableEventStore> {
  const namespace = `test_${randomUUID().replaceAll('-', '')}`;
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const store = await openKurrentDb(`esdb://${hosts.join(',')}?tls=false&namespace=${namespace}`, {
    logger,
  });
  t.teardown(() => store.close());
  return store;
}

/** The hosts of the leader and of the followers. */
async function roles(): Promise<{
  readonly leader: string;
  readonly followers: readonly string[];
}> {
  const hosts = clusterHosts();
  return await eventually('a leader', async () => {
    const response = await fetch(`http://${hosts[0]}/gossip`).catch(() => undefined);
    const { members = [] } = ((await response?.json()) ?? {}) as { members?: readonly Member[] };
    const portsOf = (state: string): readonly number[] =>
      members.filter((each) => each.state === state).map((each) => each.httpEndPointPort);
    const hostsOf = (state: string): readonly string[] =>
      hosts.filter((host) => portsOf(state).includes(Number(host.split(':')[1])));
    const [leader] = hostsOf('Leader');
    const followers = hostsOf('Follower');
    return leader !== undefined && followers.length === 2 ? { leader, followers } : undefined;
  });
}

void test(
  'one host that does not lead serves, with a warning',
  needsEventStoreCluster,
  async (t) => {
    const { followers } = await roles();
    for (const follower of followers) {
      const lines: string[] = [];
      const store = await open(t, [follower], lines);
      t.equal((await store.append('a-1', newEvents(2), 'no-stream')).revision, 1);
      t.equal((await store.readStream('a-1')).length, 2);
      t.match(lines.join(''), /one host of a cluster of 3 nodes/);
    }
    const lines: string[] = [];
    await open(t, clusterHosts(), lines);
    t.strictSame(lines, []);
  },
);

void test(
  'no append and no read fails while the leader resigns',
  needsEventStoreCluster,
  async (t) => {
    const store = await open(t, clusterHosts());
    let revision = -1;
    for (let round = 0; round < 3; round += 1) {
      const { leader } = await roles();
      const resigned = await fetch(`http://${leader}/admin/node/resign`, { method: 'POST' });
      t.ok(resigned.ok, leader);
      for (let n = 0; n < 100; n += 1) {
        const before = revision;
        ({ revision } = await store.append('a-1', newEvents(1), before < 0 ? 'no-stream' : before));
        t.equal((await store.readStream('a-1', { from: revision })).length, 1);
      }
    }
    t.equal(revision, 299);
  },
);
