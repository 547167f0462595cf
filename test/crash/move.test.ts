/** A deployment that is moved from place to place while its move is killed again and again. */
import { test } from 'tap';
import { needsEventStoreServer } from '../support/event-store-server.ts';
import { type HopResult, moveAround, type StopName } from '../support/move-chain.ts';
import { findNatsServer } from '../support/nats-server.ts';
import { createPlace } from '../support/place.ts';

const options =
  findNatsServer() === undefined ? { skip: 'there is no nats-server on this machine' } : {};

const STOPS: readonly StopName[] = [
  'nats',
  's3',
  ...(needsEventStoreServer.skip === undefined ? (['server and s3'] as const) : []),
  'files',
];

void test('a log with its documents and keys is the same in each place that it is moved to', {
  ...options,
  timeout: 280_000,
}, async (t) => {
  const hops: HopResult[] = [];
  await moveAround(
    t,
    createPlace(t),
    { events: 1_500, documents: 50, kills: 3, stops: STOPS },
    (hop) => {
      hops.push(hop);
      t.comment(`${hop.name}: ${hop.kills} kills, ${hop.verified.documents.files} files`);
    },
  );
  t.strictSame(
    hops.map(({ name }) => name),
    STOPS,
  );
  t.ok(hops.every(({ kills }) => kills > 0));
});
