import { test } from 'tap';
import {
  emptyLogUrl,
  needsEventStoreServer,
  openEventStoreServer,
} from '../support/event-store-server.ts';
import { signedLog, verifyDirectory } from '../support/signed-log.ts';

void test('a log on a server is verified there', needsEventStoreServer, async (t) => {
  const url = emptyLogUrl();
  const dataDir = await signedLog(t, () => openEventStoreServer(url));
  const result = await verifyDirectory(dataDir, { documents: false }, { EVENT_STORE_URL: url });
  t.match(result, { ok: true, events: 28, size: 28, checkpoints: 2, covered: 23 });
});
