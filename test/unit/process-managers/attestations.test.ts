import { once } from 'node:events';
import { join } from 'node:path';
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { checkpointQueries, type StoredCheckpoint } from '../../../projections/checkpoints.ts';
import type { Attestors } from '../../../src/log/attestation/port.ts';
import { createTimestampAuthority } from '../../../src/log/attestation/timestamp-client.ts';
import { createWitness } from '../../../src/log/attestation/witness-client.ts';
import { openLog as openedLog } from '../../../src/log/log-origin.ts';
import { startAttestations } from '../../../src/process-managers/attestations.ts';
import { signedByLog } from '../../../src/transparency-log/checkpoint.ts';
import { verifiedBy } from '../../../src/transparency-log/signed-note.ts';
import { eventually } from '../../support/deadline.ts';
import { openLog } from '../../support/log.ts';
import { openNode } from '../../support/projected.ts';
import { NOW } from '../../support/samples.ts';
import { openSigner } from '../../support/signer.ts';
import { startTimestampAuthority } from '../../support/timestamp-authority.ts';
import { TestWitness } from '../../support/witness.ts';

const clock = { now: () => NOW };

/** A log with a signing key, the node on it, and the messages that its process manager wrote. */
async function setUp(t: Test) {
  const log = openLog(t);
  const opened = openNode(t, join(log.directory, 'read-model'), log.store);
  opened.runner.start();
  const node = openSigner(t, { ...opened, store: log.store }, log.directory);
  const { origin } = await openedLog({ ...node, clock });
  const messages: string[] = [];
  const logger = pino(
    {},
    { write: (line: string) => void messages.push((JSON.parse(line) as { msg: string }).msg) },
  );
  const checkpoints = () => node.readModel.query(checkpointQueries);
  return {
    messages,
    /** Signs a checkpoint of all that there is. */
    sign: () => node.signer.sign(),
    newest: (): StoredCheckpoint => {
      const newest = checkpoints().newest();
      if (newest === undefined) throw new Error('There is one.');
      return newest;
    },
    all: () => checkpoints().all(0, 100),
    count: async (type: string) =>
      (await node.store.readAll()).filter((event) => event.type === type).length,
    start: (attestors: Attestors) => {
      const manager = startAttestations({ ...node, clock, logger, retryMs: 20, ...attestors });
      t.teardown(() => manager.stop());
      return manager;
    },
    witness: async (name: string) => {
      const witness = await TestWitness.start(t, name);
      const keys = checkpoints().keys();
      witness.logs.set(
        origin,
        keys.map(({ verifierKey }) => verifierKey),
      );
      return witness;
    },
  };
}

/** True, or nothing: what `eventually` waits for. */
const isCosigned = ({ note }: StoredCheckpoint, { verifierKey }: TestWitness): true | undefined =>
  verifiedBy(note, [verifierKey]).length > 0 || undefined;

void test('each checkpoint is cosigned and timestamped, once', async (t) => {
  const { all, count, newest, sign, start, witness } = await setUp(t);
  await sign();
  const witnesses = [await witness('w/1'), await witness('w/2')];
  const authority = await startTimestampAuthority(t);
  const attestors = {
    witnesses: witnesses.map((each) => createWitness(each)),
    timestampAuthority: createTimestampAuthority(authority.url),
  };
  const isDone = () =>
    witnesses.every((each) => isCosigned(newest(), each)) && newest().timestamp ? true : undefined;
  const manager = start(attestors);
  await eventually('the checkpoint from before the start', isDone);
  await sign();
  t.notOk(isDone());
  await eventually('the checkpoint of now', isDone);
  await manager.stop();
  start(attestors);
  await sign();
  await eventually('the checkpoint after another start', isDone);

  t.strictSame([await count('CheckpointCosigned'), await count('CheckpointTimestamped')], [6, 3]);
  t.strictSame(
    [...witnesses.map(({ requests }) => requests.length), authority.queries.length],
    [3, 3, 3],
  );
  for (const { note, timestamp } of all()) {
    await authority.verify(signedByLog(note), timestamp ?? Buffer.alloc(0));
  }
});

void test('a witness and an authority that are away delay nothing', async (t) => {
  const { all, messages, newest, sign, start, witness } = await setUp(t);
  await sign();
  const [good, bad] = [await witness('w/good'), await witness('w/bad')];
  const authority = await startTimestampAuthority(t);
  bad.instead = (_, response) => void response.writeHead(502).end();
  authority.instead = (_, response) => void response.destroy();
  start({
    witnesses: [createWitness(bad), createWitness(good)],
    timestampAuthority: createTimestampAuthority(authority.url),
  });
  for (let n = 0; n < 2; n += 1) {
    await eventually('the good one', () => isCosigned(newest(), good));
    await sign();
  }
  const asked = bad.requests.length;
  await eventually('more tries', () => bad.requests.length > asked + 2 || undefined);
  t.equal(messages.length, 2, 'one line for each');
  t.match(messages.toSorted(), [
    /^the timestamp authority 127\.0\.0\.1:\d+ is asked again later, checkpoints go on without it: \w/,
    'the witness w/bad is asked again later, checkpoints go on without it: it answered with status 502',
  ]);

  messages.length = 0;
  bad.instead = undefined;
  authority.instead = undefined;
  await eventually('both are back', () => isCosigned(newest(), bad) && newest().timestamp);
  t.strictSame(
    all().map((each) => isCosigned(each, bad)),
    [undefined, undefined, true],
    'the newest one alone',
  );
  t.strictSame(messages.toSorted(), [
    `the timestamp authority ${new URL(authority.url).host} answers again`,
    'the witness w/bad answers again',
  ]);
});

void test('a stop does not wait for a witness that never answers', async (t) => {
  const { messages, newest, sign, start, witness } = await setUp(t);
  await sign();
  const [good, silent] = [await witness('w/good'), await witness('w/silent')];
  const asked = Promise.withResolvers<{ readonly hungUp: Promise<unknown> }>();
  silent.instead = (_, response) => asked.resolve({ hungUp: once(response, 'close') });
  const manager = start({ witnesses: [createWitness(silent), createWitness(good)] });
  const { hungUp } = await asked.promise;
  await eventually('the other one', () => isCosigned(newest(), good));
  await manager.stop();
  await hungUp;
  t.strictSame(messages, [], 'a stop is not a failure of the witness');
});
