import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'tap';
import { checkpointQueries } from '../../projections/checkpoints.ts';
import { logTreeQueries } from '../../projections/log-tree.ts';
import { parseCheckpoint } from '../../src/transparency-log/checkpoint.ts';
import { rootHash } from '../../src/transparency-log/merkle-tree.ts';
import { openNote, verifiedBy } from '../../src/transparency-log/signed-note.ts';
import { openLog } from '../support/log.ts';
import { openNode } from '../support/projected.ts';
import { seededRandom } from '../support/random.ts';

const ROUNDS = 8;
const LONGEST_MS = 400;
const PROGRAM = join(import.meta.dirname, '../support/signing-process.ts');

/** Resolves when the process has signed. */
async function startSigning(storePath: string, dataDir: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [PROGRAM, storePath, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`A node that signs has ended with ${String(code)}.`);
  });
  ended.catch(() => {});
  if (child.stdout === null) throw new Error('It is a pipe.');
  await Promise.race([once(child.stdout, 'data'), ended]);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

void test('nodes killed while they sign never sign two trees of one size', async (t) => {
  const random = seededRandom();
  t.comment(`TEST_SEED=${random.seed} repeats this run`);
  const log = openLog(t);
  const dataDirs = ['one', 'two'].map((name) => join(log.directory, name));
  for (const dataDir of dataDirs) mkdirSync(dataDir);
  const kept = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const nodes = await Promise.all(
      dataDirs.map((dataDir) => startSigning(join(log.directory, 'store.db'), dataDir)),
    );
    for (const node of nodes) {
      await pause(random.integer(0, LONGEST_MS));
      await kill(node);
    }
    // One that was signed, and perhaps not stored any more.
    for (const dataDir of dataDirs) {
      kept.add(readFileSync(join(dataDir, 'transparency-log/last-checkpoint'), 'utf8'));
    }
  }
  const { readModel, runner } = openNode(t, join(log.directory, 'read-model'), log.store);
  await runner.waitFor(await log.store.head());
  const { hashes } = readModel.query(logTreeQueries);
  const queries = readModel.query(checkpointQueries);
  const keys = queries.keys().map(({ verifierKey }) => verifierKey);
  const stored = queries.all(0, 100_000).map(({ note }) => note);
  t.equal(keys.length, 1);
  t.ok(stored.length >= 2 * ROUNDS, `${stored.length} checkpoints`);
  const notes = [...new Set([...stored, ...kept])];
  t.comment(`${notes.length - stored.length} notes were signed and not stored`);
  const sizes = notes.map((note) => parseCheckpoint(openNote(note).text).size);
  t.equal(new Set(sizes).size, notes.length, 'no two notes are of one size');
  for (const note of notes) {
    const { size, root } = parseCheckpoint(openNote(note).text);
    const isOurs = verifiedBy(note, keys).length === 1;
    if (!isOurs || !rootHash(hashes, size).equals(root)) t.fail(`the checkpoint of ${size}`);
  }
});
