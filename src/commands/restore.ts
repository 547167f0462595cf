/** `restore`: brings a backup into the empty stores of the settings. */
import { readFile } from 'node:fs/promises';
import { parseKeyring, type StoredKeyring } from '../archive/keyring-file.ts';
import { checkKeyringFile, restore as restoreBackup } from '../archive/restore.ts';
import { planRestore, type RestorePlan, type Until } from '../archive/restore-plan.ts';
import { errorLine, errorMessage } from '../errors/error-message.ts';
import { isoTime, timeIn } from '../time/clock.ts';
import { checkpointOption, namingPlace } from './backup.ts';
import {
  assertFile,
  type Invocation,
  type Opener,
  type Run,
  requiredOption,
  textOption,
  UsageError,
} from './command.ts';
import { counted } from '../domain/counted.ts';
import { countOn, progressOn } from './output.ts';

const NEW_ORIGIN =
  'give --new-origin, and the log goes on under a new name, with an event that names the old one.';

export const restore: Run = async (invocation, { open, output }) => {
  const [name = ''] = invocation.positionals;
  const newOrigin = invocation.values['new-origin'] === true;
  const works = [
    readKeyringFile(requiredOption(invocation, 'keyring')),
    untilOption(invocation),
    checkpointOption(textOption(invocation, 'checkpoint')),
    usableTarget(open),
  ] as const;
  refuseAll(await Promise.allSettled(works));
  const [keyring, until, given, settings] = await Promise.all(works);
  const { masterKey, lastCheckpoint, withTarget } = settings;
  const known = [...given, ...(lastCheckpoint === undefined ? [] : [lastCheckpoint])];
  if (known.length === 0 && !newOrigin) throw unknownCheckpoints();
  await open.withBackupPlace(name, { write: false }, async (place) => {
    output.note(`Checking ${place.name}`);
    const plan = await namingPlace(place.name, () =>
      planRestore(place, until, known, progressOn(output)),
    );
    checkKeyringFile(plan, keyring, masterKey);
    if (!newOrigin) refuseSecondHistory(plan);
    output.note('Restoring');
    const restored = await withTarget((target) =>
      restoreBackup(plan, keyring, place, target, {
        newOrigin,
        onEvents: progressOn(output),
        onDocuments: countOn(output, 'document'),
      }),
    );
    const { events, root, manifest } = plan;
    const { documents, missing, erased, certificates, origin } = restored;
    const madeAt = isoTime(manifest.madeAt);
    output.json({ place: place.name, made_at: madeAt, events, root, ...restored });
    output.line(`${counted(events, 'event')}, root ${root}, of the backup of ${madeAt}.`);
    output.line(`${counted(documents, 'document')}; origin ${origin}`);
    if (missing > 0) output.line(`Not in the backup any more: ${counted(missing, 'document')}.`);
    if (erased.length > 0) output.line(`Erased again: ${counted(erased.length, 'account')}.`);
    if (certificates.length > 0)
      output.line(`Removed again: ${counted(certificates.length, 'certificate')} for signatures.`);
  });
};

/** @throws {Error} one line: more was signed under the log's name */
function refuseSecondHistory(plan: RestorePlan): void {
  if (!plan.isBehind) return;
  throw new Error(
    `A checkpoint was signed that covers more than the ${counted(plan.events, 'event')} to be restored: ` +
      `signing on would make two histories of one name. Restore a newer backup, or ${NEW_ORIGIN}`,
  );
}

const unknownCheckpoints = (): Error =>
  new Error(
    'Checkpoints may have been signed after this backup. Name the newest one that was published with --checkpoint, ' +
      `or put transparency-log/last-checkpoint of the lost DATA_DIR into this one; else ${NEW_ORIGIN}`,
  );

/** @throws {Error} one line: there is no master key, or the event store holds a log */
async function usableTarget(open: Opener) {
  const place = await open.restorePlace();
  await place.refuseUsed();
  return place;
}

/** @throws {Error} a line for each that failed */
function refuseAll(outcomes: readonly PromiseSettledResult<unknown>[]): void {
  const failures = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
  );
  if (failures.length > 1) throw new Error(failures.map(errorLine).join('\n'));
  if (failures.length === 1) throw failures[0];
}

/** @throws {UsageError} there is no such file @throws {Error} it cannot be used */
async function readKeyringFile(path: string): Promise<StoredKeyring> {
  await assertFile(path);
  const text = await readFile(path, 'utf8');
  try {
    return parseKeyring(text);
  } catch (error) {
    throw new Error(`${path} ${errorMessage(error)}`, { cause: error });
  }
}

/** @throws {UsageError} */
async function untilOption(invocation: Invocation): Promise<Until | undefined> {
  const text = textOption(invocation, 'as-of');
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,14}$/.test(text)) return { events: Number(text) };
  const time = timeIn(text);
  if (time !== undefined) return { time };
  throw new UsageError(
    '--as-of is an ISO 8601 time with its offset, such as 2026-11-21T08:15:30Z, or a number of events.',
  );
}
