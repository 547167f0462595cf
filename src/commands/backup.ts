/** `backup`, `backup keyring`, `backup verify`: copies of the log, the documents and the keys, in another place. */
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { makeBackup } from '../archive/backup.ts';
import { ownersOf, keyringText, readKeyring } from '../archive/keyring-file.ts';
import { UnusableArchive } from '../archive/log-lines.ts';
import { verifyBackup } from '../archive/verify.ts';
import type { CheckedCopy } from '../archive/verify-keyring.ts';
import { copyableCommand } from '../config/copyable-command.ts';
import { errorMessage } from '../errors/error-message.ts';
import { readNote } from '../log/verify-log/checkpoints.ts';
import { suggest } from '../text/suggest.ts';
import { isoTime } from '../time/clock.ts';
import { assertFile, type Output, type Run, textOption, UsageError } from './command.ts';
import { counted } from '../domain/counted.ts';
import { countOn, progressOn } from './output.ts';
import { namingVerify, verifierKeys } from './verify.ts';

/** The problems that are reported one by one. */
const MOST_TOLD = 20;

/** Puts the place or file before what is wrong with what lies there. */
export async function namingPlace<T>(place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UnusableArchive)) throw error;
    throw new Error(`${place} ${error.message}`, { cause: error });
  }
}

/** A word that is almost one of the other commands would else become a folder. @throws {UsageError} */
function refuseMistyped(place: string): void {
  const meant = suggest(place, ['verify', 'keyring']);
  if (meant === undefined || existsSync(place)) return;
  throw new UsageError(
    `Did you mean 'backup ${meant}'? To back up to a new folder of that name, write ./${place}.`,
  );
}

export const backup: Run = async ({ positionals: [name = ''], values }, context) => {
  refuseMistyped(name);
  const { open, output } = context;
  await open.withBackupPlace(name, { write: true }, async (place) => {
    await open.withStoredLog(
      async (log) => {
        const { blobs, movedTo } = log;
        if (movedTo !== undefined) {
          throw new Error(
            `This log was moved to ${movedTo} and goes on there: back up with the settings of that place.`,
          );
        }
        if (blobs === undefined) throw new TypeError('The documents were not opened.');
        const made = await namingPlace(place.name, () =>
          namingVerify(log.dataDir, () =>
            makeBackup({ ...log, blobs }, place, {
              now: Date.now(),
              recheck: values['recheck'] === true,
              onEvents: progressOn(output),
              onDocuments: countOn(output, 'document'),
            }),
          ),
        );
        const { manifest, addedEvents, addedDocuments, dropped, lost } = made;
        const { events, root, checkpoint, index } = manifest;
        output.json({
          place: place.name,
          events,
          root,
          checkpoint,
          documents: index?.documents ?? 0,
          bytes: index?.bytes ?? 0,
          added: { events: addedEvents, documents: addedDocuments },
          dropped,
          lost: lost.map(({ key }) => key),
        });
        output.line(
          `${counted(events, 'event')} and ${counted(index?.documents ?? 0, 'document')} in ${place.name}: ` +
            `${addedEvents} and ${addedDocuments} are new.`,
        );
        output.line(`Root ${root}`);
        if (dropped > 0)
          output.line(`Removed: the documents of ${counted(dropped, 'conversion')}.`);
        if (lost.length === 0) return;
        throw new Error(
          `The service does not have ${counted(lost.length, 'document')} that its log names, such as ${lost[0]?.key}; ` +
            `all else is backed up. \`${copyableCommand(log.dataDir, 'verify', '--documents')}\` says more.`,
        );
      },
      { documents: true },
    );
  });
};

export const backupKeyring: Run = async ({ positionals: [file = ''] }, context) => {
  const { open, output } = context;
  await open.withKeyring(async ({ keyring, masterKey, masterKeyFile }) => {
    const stored = await readKeyring(keyring, masterKey, Date.now());
    await open.writeSecret(file, keyringText(stored));
    const owner = stored.records.get('keyring.log');
    await noteUnlessRecorded(output, open.recordBackup({ keyringCopiedAt: stored.madeAt }, owner));
    const names = [...stored.records.keys()];
    const [keys, erased] = [ownersOf(names, 'keys').size, ownersOf(names, 'erased').size];
    output.json({ file, keys, erased });
    output.line(`${counted(keys, 'key')} in ${file}; ${counted(erased, 'key')} destroyed.`);
    output.note(
      masterKeyFile === undefined
        ? 'The master key is not in it: keep MASTER_KEY in another place.'
        : `The master key is not in it: keep a copy of ${masterKeyFile} in another place.`,
    );
  });
};

export const backupVerify: Run = async (invocation, { open, output }) => {
  const [name = ''] = invocation.positionals;
  const keys = verifierKeys(invocation, 'key');
  const given = await checkpointOption(textOption(invocation, 'checkpoint'));
  const checkpoints = given.map((note) => ({ at: { checkpoint: 'given' }, note }));
  const file = textOption(invocation, 'keyring');
  const text = file === undefined ? undefined : await readUnlessMissing(file);
  const keyring = file === undefined ? undefined : { file, text, opener: await open.keyOpener() };
  await open.withBackupPlace(name, { write: false }, async (place) => {
    const onProgress = progressOn(output);
    const options = { now: Date.now(), keys, checkpoints, keyring, onProgress };
    const verified = await namingPlace(place.name, () => verifyBackup(place, options));
    const { made_at: madeAt, problems, keyring: copy, openedAs, ...rest } = verified;
    const [first] = problems;
    output.json({
      place: place.name,
      made_at: isoTime(madeAt),
      ...rest,
      ...first?.difference,
      keyring: {
        checked: keyring !== undefined,
        ...(copy && { ...copy, made_at: isoTime(copy.made_at) }),
      },
      problems: problems.map(({ at, problem }) => ({ at, problem })),
    });
    const { events, documents, bytes, checkpoints: signed, root, due } = rest;
    for (const { at, problem } of problems.slice(0, MOST_TOLD)) output.note(`${at}: ${problem}`);
    if (first !== undefined) {
      throw new Error(
        `${place.name} is not whole: ${counted(problems.length, 'problem')}, first ${first.at}: ${first.problem}.`,
      );
    }
    output.line(`The backup of ${isoTime(madeAt)} is whole.`);
    output.line(`${counted(events, 'event')}, root ${root}, ${counted(signed, 'checkpoint')}.`);
    output.line(`${counted(documents, 'document')}, ${counted(bytes, 'byte')}.`);
    if (due > 0) output.line(`Due for deletion, and not in it: ${counted(due, 'document')}.`);
    if (copy) output.line(copyInWords(copy));
    else output.note("The keyring's copy was not checked: name it with --keyring.");
    await noteUnlessRecorded(output, open.recordBackup({ verifiedBackupOf: madeAt }, openedAs));
  });
};

function copyInWords({ file, made_at: madeAt, keys, erased, opened }: CheckedCopy): string {
  const tried = opened
    ? 'Each key opens with the master key of these settings.'
    : 'That the keys open was not checked: MASTER_KEY is not set here.';
  return (
    `The keyring's copy of ${isoTime(madeAt)} fits the log: ${counted(keys, 'key')} in ${file}, ` +
    `${counted(erased, 'key')} destroyed. ${tried}`
  );
}

/** @throws {Error} one line: it cannot be read */
async function readUnlessMissing(path: string): Promise<string | undefined> {
  const stats = await stat(path).catch(() => undefined);
  if (stats?.isDirectory() === true) throw new Error(`${path} is a folder; name the file.`);
  return stats === undefined ? undefined : await readFile(path, 'utf8');
}

/** The times in `status` and metrics matter less than what they are of. */
async function noteUnlessRecorded(output: Output, recording: Promise<void>): Promise<void> {
  await recording.catch((error: unknown) =>
    output.note(`Not recorded for status and metrics: ${errorMessage(error)}`),
  );
}

/** The note in a file that an option names. @throws {UsageError} it is not a checkpoint */
export async function checkpointOption(
  file: string | boolean | undefined,
): Promise<readonly string[]> {
  if (typeof file !== 'string') return [];
  await assertFile(file);
  try {
    const note = await readFile(file, 'utf8');
    readNote(note);
    return [note];
  } catch (error) {
    const reason = errorMessage(error).replace(/\.$/, '');
    throw new UsageError(`--checkpoint ${file} is not a signed checkpoint: ${reason}.`);
  }
}
