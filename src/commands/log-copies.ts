/** `log export` and `log import`: the whole event log as one file. */
import { resolve } from 'node:path';
import { exportLog } from '../archive/export.ts';
import { importLog, openExport } from '../archive/import.ts';
import { namingPlace } from './backup.ts';
import { assertFile, type Run, requiredOption } from './command.ts';
import { counted } from '../domain/counted.ts';
import { progressOn } from './output.ts';
import { checkOutputFile } from './pdf-target.ts';
import { namingVerify } from './verify.ts';

const CHECKSUM_HINT = 'Its SHA-256 is that of all lines but the last, uncompressed.';

export const logExport: Run = async (invocation, { open, output }) => {
  const path = requiredOption(invocation, 'output');
  await checkOutputFile(path);
  await open.withStoredLog(async ({ store, dataDir, movedTo }) => {
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
};

export const logImport: Run = async ({ positionals: [path = ''] }, { open, output }) => {
  await assertFile(path);
  output.note(`Checking ${path}`);
  await namingPlace(path, async () => {
    const exported = await openExport(path, progressOn(output));
    await open.withEventStore(async (store) => {
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
};
