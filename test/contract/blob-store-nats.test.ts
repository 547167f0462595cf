import { randomBytes } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { test } from 'tap';
import { NatsObjects } from '../../src/blob-store/nats-objects.ts';
import { ObjectBlobStore } from '../../src/blob-store/remote.ts';
import { newConversionId } from '../../src/ids.ts';
import { startNatsServer } from '../support/nats-server.ts';
import { runBlobStoreContract } from './blob-store-contract.ts';

for (const [name, key] of [
  ['NATS', undefined],
  ['NATS, encrypted', Buffer.alloc(32, 9)],
] as const) {
  runBlobStoreContract({
    name,
    open: async (t) => {
      const { url } = await startNatsServer(t);
      const connection = await connect({ servers: url });
      const store = await ObjectBlobStore.open(new NatsObjects(connection), key);
      return { store, dir: t.testdir(), close: () => connection.close() };
    },
  });
}

void test('NATS: deleting leaves nothing behind', async (t) => {
  const { url } = await startNatsServer(t);
  const connection = await connect({ servers: url });
  t.teardown(() => connection.close());
  const store = await ObjectBlobStore.open(new NatsObjects(connection));
  const id = newConversionId(Date.now());
  await store.stage(id, 'document', randomBytes(300_000)).store();
  await store.stage(id, 'request', randomBytes(10)).store();
  const manager = await jetstreamManager(connection);
  const messages = async (): Promise<number[]> => {
    const streams = ['OBJ_pressledger-blobs', 'KV_pressledger-blobs-index'];
    return Promise.all(streams.map(async (s) => (await manager.streams.info(s)).state.messages));
  };
  t.strictSame(await messages(), [3 + 1 + 1 + 1, 2], 'chunks and descriptions; index');
  await store.deleteAll(id);
  t.strictSame(await messages(), [0, 0]);
});
