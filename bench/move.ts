/**
 * Moves a log with its documents and keys from SQLite and files to an event-store server and S3, where
 * EVENTSTORE_TEST_URL names a server, else to another SQLite file and S3; and back to SQLite and files. It kills each
 * move several times, and compares tree, checkpoints, documents and keys after each.
 *
 *   node bench/move.ts [events, default 200000] [conversions with documents, default 2000]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needsEventStoreServer } from '../test/support/event-store-server.ts';
import { moveAround } from '../test/support/move-chain.ts';
import { print } from './measure.ts';

const KILLS = 2;

const [, , events = '200000', documents = '2000'] = process.argv;
const there = needsEventStoreServer.skip === undefined ? 'server and s3' : 's3';
const root = mkdtempSync(join(tmpdir(), 'pressledger-bench-'));
const teardowns: (() => unknown)[] = [() => rmSync(root, { recursive: true, force: true })];
const { PATH = '' } = process.env;
const dataDir = join(root, 'data');
const env = { PATH, HOME: root, TMPDIR: root, DATA_DIR: dataDir, PORT: '0' };
try {
  await moveAround(
    { teardown: (work: () => unknown) => void teardowns.unshift(work) },
    { dataDir, tmpDir: root, env },
    {
      events: Number(events),
      documents: Number(documents),
      kills: KILLS,
      stops: [there, 'files'],
    },
    ({
      name,
      kills,
      seconds,
      verified: { events: count, root: hash, checkpoints, documents: found },
    }) => {
      const { files, bytes } = found;
      print(
        `${name}: ${kills} kills; last step ${seconds.toFixed(1)} s; ${count} events, root ${hash}`,
      );
      print(`  the same as before: ${checkpoints} checkpoints, ${files} files, ${bytes} bytes`);
    },
  );
} finally {
  for (const work of teardowns) await work();
}
