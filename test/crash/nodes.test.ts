import { test } from 'tap';
import { findNatsServer } from '../support/nats-server.ts';
import { holds } from './command.ts';

void test('nodes over NATS: every invariant holds, whatever breaks', async (t) => {
  t.ok(findNatsServer());
  await holds(t, 'nodes', 2);
});
