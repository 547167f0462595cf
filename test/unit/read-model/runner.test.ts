import { join } from 'node:path';
import type { Database } from 'better-sqlite3';
import { test } from 'tap';
import { allProjections } from '../../../projections/all.ts';
import { conversionQueries, conversions } from '../../../projections/conversions.ts';
import { ledger } from '../../../projections/ledger.ts';
import { ProjectionFailed } from '../../../src/read-model/batch-writer.ts';
import { currentGeneration, generationPath } from '../../../src/read-model/generations.ts';
import type { Projection } from '../../../src/read-model/projection.ts';
import { ProjectionRunner } from '../../../src/read-model/runner.ts';
import { compareGenerations } from '../../support/compare-generations.ts';
import { eventually } from '../../support/deadline.ts';
import { FaultyStore } from '../../support/faulty-store.ts';
import { history, opening, request } from '../../support/history.ts';
import { write } from '../../support/log.ts';
import { openNode, openProjected } from '../../support/projected.ts';
import { accountId } from '../../support/samples.ts';

const current = (directory: string) => generationPath(directory, currentGeneration(directory));

/** Counts the requests it sees, and throws at the one it is told to. */
function counting(breakAt: number, version = 1): Projection {
  return {
    name: 'counting',
    version,
    tables: ['counted'],
    ddl: 'CREATE TABLE counted (position INTEGER PRIMARY KEY) STRICT;',
    handlers(db) {
      const insert = db.prepare('INSERT INTO counted VALUES (?)');
      let seen = 0;
      return {
        ConversionRequested(event) {
          insert.run(event.position);
          seen += 1;
          if (seen === breakAt) throw new Error('told to break');
        },
      };
    },
  };
}

const countOf = (db: Database) => () =>
  db.prepare<[], number>('SELECT count(*) FROM counted').pluck().get();

void test('a handler that throws leaves neither rows nor checkpoint, and says which event', async (t) => {
  const projections = [counting(3), ledger];
  const { log, readModel, runner } = openProjected(t, projections);
  const before = await write(log, [opening(1, 10)]);
  await runner.waitFor(before);
  await write(log, [request(1, 1), request(2, 1)]);
  const position = await write(log, [request(3, 1)]);
  runner.start();
  await t.rejects(
    runner.ended,
    new ProjectionFailed(
      `Projection counting failed on ConversionRequested at position ${position}: told to break`,
    ),
  );
  t.equal(readModel.query(countOf)(), 0);
  t.equal(runner.checkpoint(), before);
  const entries = readModel.query((db) => db.prepare('SELECT * FROM ledger_entries').all());
  t.equal(entries.length, 1, 'the other projections stand where it stands');
  await t.rejects(runner.waitFor(position), ProjectionFailed);
  t.equal(await runner.isStuck(), true);
});

void test('waitFor: what is there, what comes, and what never comes', async (t) => {
  const { log, runner } = openProjected(t);
  await runner.waitFor(0n);
  const there = await write(log, [opening(1, 10)]);
  await runner.waitFor(there);
  t.equal(runner.checkpoint(), there, 'without the subscription');
  runner.start();
  const coming = runner.waitFor(there + 2n);
  await write(log, [request(1, 1)]);
  await coming;
  t.equal(runner.checkpoint(), there + 2n);

  const impatient = new AbortController();
  const never = runner.waitFor(there + 100n, impatient.signal);
  impatient.abort(new Error('waited enough'));
  await t.rejects(never, new Error('waited enough'));
  const stopped = runner.waitFor(there + 100n);
  const told = t.rejects(stopped, new Error('The projections were stopped.'));
  await runner.stop();
  await told;
  await runner.ended;
});

void test('many wait at once while many are written', async (t) => {
  const { log, runner, readModel } = openProjected(t);
  await write(log, [opening(1, 1000)]);
  runner.start();
  const numbers = Array.from({ length: 200 }, (_, index) => index + 1);
  const seen = await Promise.all(
    numbers.map(async (n) => {
      const step = request(n, 1);
      await runner.waitFor(await log.append(step.stream, ...step.events(0n)));
      const [event] = step.events(0n);
      const id = event?.type === 'CreditDebited' ? event.data.conversionId : '';
      return readModel.query(conversionQueries).byId(id)?.status;
    }),
  );
  t.strictSame(new Set(seen), new Set(['pending']), 'each read sees its own write');
});

void test('listeners hear of each commit until they end it; one that throws harms nobody', async (t) => {
  const { log, runner } = openProjected(t);
  let heard = 0;
  runner.onCommit(() => {
    throw new Error('a listener that throws');
  });
  const end = runner.onCommit(() => {
    heard += 1;
  });
  runner.start();
  await runner.waitFor(await write(log, [opening(1, 10)]));
  t.ok(heard > 0);
  end();
  const sofar = heard;
  await runner.waitFor(await write(log, [request(1, 1)]));
  t.equal(heard, sofar);
});

void test('a projection that is added or changed catches up alone', async (t) => {
  const { log, directory, runner, readModel } = openProjected(t, [ledger]);
  const head = await write(log, history(2, 20));
  await runner.waitFor(head);
  await runner.stop();
  const touched = readModel.query((db) => () => db.pragma('data_version', { simple: true }));
  t.type(touched(), 'number');
  readModel.close();

  const spying: Projection = {
    ...ledger,
    handlers: () => ({
      CreditDebited: () => t.fail('what the ledger has is not handed to it again'),
    }),
  };
  const added = openNode(t, directory, log.store, [spying, counting(-1)]);
  t.equal(added.runner.checkpoint(), 0n);
  await added.runner.waitFor(head);
  t.equal(added.readModel.query(countOf)(), 20);
  await added.runner.stop();

  const changed = openNode(t, directory, log.store, [spying, counting(-1, 2)]);
  t.equal(changed.readModel.query(countOf)(), 0, 'its tables are rebuilt');
  await changed.runner.waitFor(head);
  t.equal(changed.readModel.query(countOf)(), 20);
});

void test('a start reads what it lacks by pages, and subscribes from there', async (t) => {
  const { log, directory, runner } = openProjected(t);
  await runner.stop();
  const store = new FaultyStore(log.store);
  const subscribed: bigint[] = [];
  store.subscribe = (after, handle) => {
    subscribed.push(after);
    return log.store.subscribe(after, handle);
  };
  const head = await write(log, history(2, 20));
  const node = openNode(t, directory, store);
  node.runner.start();
  await eventually('the subscription', () => subscribed.length > 0 || undefined);
  t.strictSame(subscribed, [head], 'nothing is left to the subscription');
});

void test('two nodes on one directory share the work and lose nothing', async (t) => {
  const { log, directory, runner, readModel } = openProjected(t);
  const second = openNode(t, directory, log.openAgain());
  runner.start();
  second.runner.start();
  const head = await write(log, history(3, 150));
  await Promise.all([runner.waitFor(head), second.runner.waitFor(head)]);
  const alone = openNode(t, join(log.directory, 'alone'), log.store);
  await alone.runner.waitFor(head);
  const [shared, apart] = [current(directory), current(join(log.directory, 'alone'))];
  t.strictSame(compareGenerations(shared, apart, allProjections), []);
  const page = readModel.query(conversionQueries).page(accountId(1), { offset: 0, limit: 1 });
  t.equal(page.total, 50);
});

void test('a store that is away is taken up again from the checkpoint', async (t) => {
  const { log, readModel } = openProjected(t, [conversions]);
  let subscriptions = 0;
  const flaky = new Proxy(log.store, {
    get(store, key) {
      if (key !== 'subscribe') {
        const value: unknown = Reflect.get(store, key, store);
        return typeof value === 'function' ? value.bind(store) : value;
      }
      return (...args: Parameters<typeof store.subscribe>) => {
        subscriptions += 1;
        const subscription = store.subscribe(...args);
        if (subscriptions >= 3) return subscription;
        const ended = subscription.stop().then(() => Promise.reject(new Error('away')));
        return { ended, stop: () => subscription.stop() };
      };
    },
  });
  const runner = new ProjectionRunner({ store: flaky, readModel });
  t.teardown(() => runner.stop());
  const committed = Promise.withResolvers<void>();
  runner.onCommit(() => committed.resolve());
  const deadline = setTimeout(() => committed.reject(new Error('not within 10 s')), 10_000);
  runner.start();
  await write(log, [opening(1, 10), request(1, 1)]);
  await committed.promise;
  clearTimeout(deadline);
  await eventually('a subscription that stays', () => subscriptions === 3 || undefined);
  t.equal(await runner.isStuck(), false, 'it has caught up');
  t.equal(runner.checkpoint(), await log.store.head());
});
