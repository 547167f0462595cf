/** `log export` and `log import`: the whole event log as one file. */
import { resolve } from 'node:path';
import { exportLog } from '../archive/export.ts';
import { importLog, openExport } from '../archive/import.ts';
import { namingPlace } from './backup.ts';
import { assertFile, type Command, counted, requiredOption } from './command.ts';
import { checkOutputFile } from './pdf-target.ts';
import { progressOn } from './progress.ts';
import { namingVerify } from './verify.ts';

const CHECKSUM_HINT = 'Its SHA-256 is that of all lines but the last, uncompressed.';

export const logExport: Command = {
  name: 'log export',
  usage: '-o <file>',
  summary: 'Write every event to a compressed file, with the root of the tree over them.',
  examples: ['log export -o log.jsonl.gz'],
  positionals: {},
  options: {
    output: {
      short: 'o',
      value: 'file',
      help: 'the file; until it is complete it ends in .part, and the same command goes on with that',
    },
  },
  run: async (invocation, { withStoredLog, output }) => {
    const path = requiredOption(invocation, 'output');
    await checkOutputFile(path);
    await withStoredLog(async ({ store, dataDir, movedTo }) => {
      if (movedTo !== undefined) output.note(`This log was moved to ${movedTo} and goes on there.`);
      const exported = await namingVerify(dataDir, () =>
        exportLog(store, resolve(path), progressOn(output)),
      );
      const { events, root, sha256, checkpoint, found } = exported;
      output.json({ file: path, events, root, sha256, checkpoint, found });
      if (found > 0) output.note(`${counted(found, 'event')} had been written before.`);
      output.line(`${counted(events, 'event')} in ${path}, root ${root}`);
      output.line(`SHA-256 ${sha256}`);
      output.note(
        `${CHECKSUM_HINT} Documents and keys are no part of it: 'pressledger move' takes them along.`,
      );
    });
  },
};

export const logImport: Command = {
  name: 'log import',
  usage: '<file>',
  summary: 'Bring an exported log into an empty event store: the one that the settings name.',
  examples: ['log import log.jsonl.gz'],
  positionals: { file: 'a file that log export wrote' },
  options: {},
  run: async ({ positionals: [path = ''] }, { withEventStore, output }) => {
    await assertFile(path);
    output.note(`Checking ${path}`);
    await namingPlace(path, async () => {
      const exported = await openExport(path, progressOn(output));
      await withEventStore(async (store) => {
        output.note('Importing');
        const { found } = await importLog(exported, store, progressOn(output));
        const { events, root, checkpoint } = exported.totals;
        output.json({ file: path, events, root, checkpoint, found });
        if (found > 0) output.note(`${counted(found, 'event')} had been imported before.`);
        output.line(`${counted(events, 'event')} from ${path}, root ${root}`);
        output.note(
          'Before a service starts on it, put the keyring, the master key and the documents of this log beside it.',
        );
      });
    });
  },
};
