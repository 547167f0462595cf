/** `move`: the log with its documents and keys, to other places. */
import { isAbsolute, resolve } from 'node:path';
import { keyOf, type Moved, move as moveLog } from '../archive/move.ts';
import { cancelMove } from '../archive/move-marks.ts';
import { MOVE_OPTIONS } from '../config/move-settings.ts';
import { type Invocation, type Output, type Run, textOption, UsageError } from './command.ts';
import { counted } from '../domain/counted.ts';
import { eventsRead, seldom } from './output.ts';
import { namingVerify } from './verify.ts';

/** Words for "no such setting", which is where one machine keeps it. */
const UNSET: Readonly<Record<string, string>> = { 'to-event-store': 'sqlite', 'to-blobs': 'files' };

/** The settings that are others in the new place. An empty value: none. @throws {UsageError} */
function targetSettings(invocation: Invocation): Readonly<Record<string, string>> {
  const settings: Record<string, string> = {};
  for (const [option, setting] of Object.entries(MOVE_OPTIONS)) {
    const value = textOption(invocation, option);
    if (value === undefined) continue;
    if (value === '') throw new UsageError(`--${option} needs a value.`);
    settings[setting] = value === UNSET[option] ? '' : value;
  }
  const { DATA_DIR: directory } = settings;
  if (directory !== undefined && !isAbsolute(directory)) settings['DATA_DIR'] = resolve(directory);
  if (Object.keys(settings).length > 0) return settings;
  throw new UsageError('--to-event-store, --to-blobs or --to-data-dir is needed.');
}

function tell(output: Output, moved: Moved): void {
  const { events, root, found, accounts, documents, lostKeys } = moved;
  output.line(`${counted(events, 'event')}, root ${root}`);
  if (found > 0) output.note(`${counted(found, 'event')} had been copied before.`);
  if (accounts > 0) output.line(`${counted(accounts, 'account')} with their keys`);
  if (documents) {
    const { copied, found: there, bytes } = documents;
    output.line(`${counted(copied + there, 'file')}, ${copied} of them now (${bytes} bytes)`);
  }
  const lost = [...(documents?.lost ?? []), ...lostKeys.map(keyOf)];
  if (lost.length > 0) {
    output.note(
      `The old place lacks, or has damaged: ${lost.slice(0, 10).join(', ')}${lost.length > 10 ? ', …' : ''}`,
    );
  }
}

export const move: Run = async (invocation, { open, output }) => {
  const settings = targetSettings(invocation);
  const { values } = invocation;
  const [ahead, cancels] = [values['ahead'] === true, values['cancel'] === true];
  if (ahead && cancels) throw new UsageError('--ahead or --cancel, not both.');
  await open.withMove(settings, { ahead, cancels }, async (parts) => {
    if (cancels) {
      await cancelMove(parts);
      output.json({ cancelled: true });
      return output.line('The move is taken back: start with the old settings.');
    }
    const telling = seldom(output);
    const moved = await namingVerify(parts.oldDataDir, () =>
      moveLog(parts, {
        ahead,
        leaveLost: values['leave-lost'] === true,
        now: Date.now(),
        onEvents: (progress) => telling(() => eventsRead(progress)),
        onKeys: (done, total) => telling(() => `${done} of ${counted(total, 'key')}`),
        onDocuments: (files) => telling(() => counted(files, 'file')),
      }),
    );
    output.json({ ...moved, ahead });
    tell(output, moved);
    if (ahead) {
      return output.note(
        'Copied ahead. To move, stop every node, and repeat the command without --ahead.',
      );
    }
    const { commandThere, masterKeyFile } = parts;
    if (masterKeyFile !== undefined) {
      output.note(`The new place needs MASTER_KEY: set it to what is in ${masterKeyFile}.`);
    }
    output.note(
      `Moved: start with the new settings, and look once with them: ${commandThere('verify', '--documents')}`,
    );
  });
};
