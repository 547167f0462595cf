/** `verify`: checks the whole log, and what lies beside it, without changing anything. */
import { readFile } from 'node:fs/promises';
import { keysIn } from '../../verifier/verify-evidence.mjs';
import { NotAsSigned } from '../archive/checked-log.ts';
import { copyableCommand } from '../config/copyable-command.ts';
import { errorMessage } from '../errors/error-message.ts';
import { ForeignSchema } from '../event-store/port.ts';
import { type Differs, schemaDifference, type Verified, verifyLog } from '../log/verify-log.ts';
import { parseVerifierKey } from '../transparency-log/signed-note.ts';
import {
  assertFile,
  type Invocation,
  type Output,
  type Run,
  textOption,
  toMilliseconds,
  UsageError,
} from './command.ts';
import { counted } from '../domain/counted.ts';
import { progressOn } from './output.ts';

/**
 * The keys of an option that takes verifier keys, or the name of a file of them; none where it is not given.
 * @throws {UsageError} one of them is not a verifier key
 */
export function verifierKeys(invocation: Invocation, option: string): readonly string[] {
  const given = textOption(invocation, option);
  if (given === undefined) return [];
  try {
    const keys = keysIn(given).flatMap((line) => line.split(/\s+/).filter((key) => key !== ''));
    for (const key of keys) parseVerifierKey(key);
    if (keys.length > 0) return keys;
  } catch (error) {
    const why = errorMessage(error);
    throw new UsageError(
      `--${option} ${given} is neither a verifier key nor a file of some: ${why}`,
    );
  }
  throw new UsageError(`--${option} needs a verifier key, or a file of them.`);
}

/** @throws {UsageError} it cannot be read */
async function readCheckpoint(file: string) {
  await assertFile(file);
  try {
    return { at: { checkpoint: file }, note: await readFile(file, 'utf8') };
  } catch (error) {
    throw new UsageError(`--checkpoint ${file} cannot be read: ${errorMessage(error)}.`);
  }
}

/** Adds the command that says more to the error of a log that is not as it was signed. */
export async function namingVerify<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NotAsSigned)) throw error;
    const more = `\`${copyableCommand(dataDir, 'verify')}\` says more.`;
    throw new Error(`${error.message} ${more}`, { cause: error });
  }
}

function tellVerified(verified: Verified, seconds: number, output: Output): void {
  const { events, root, origin, checkpoints, covered, documents } = verified;
  const rate = Math.round(events / Math.max(seconds, 0.001));
  output.line(`The log is whole: ${counted(events, 'event')}, ${rate} a second.`);
  output.line(`Origin ${origin ?? '-'}, root ${root}`);
  output.line(
    checkpoints === 0
      ? 'No checkpoint was signed yet.'
      : `${counted(checkpoints, 'checkpoint')}; the newest covers ${counted(covered, 'event')}.`,
  );
  if (verified.unfinished > 0)
    output.line(`Not ended yet: ${counted(verified.unfinished, 'conversion')}.`);
  if (verified.refunds_due > 0)
    output.line(`Still to come: ${counted(verified.refunds_due, 'refund')}.`);
  if (documents === undefined) return;
  const { files, bytes, deletions_unrecorded: gone } = documents;
  output.line(`${counted(files, 'file')}, ${counted(bytes, 'byte')}, each as its event says.`);
  if (gone > 0)
    output.line(`Due for deletion and gone, without an event: ${counted(gone, 'file')}.`);
}

/** The place that a difference was found at, as words. */
const placeText = (at: Differs['at']): string =>
  Object.entries(at)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ') || 'the log';

export const verify: Run = async (invocation, { open, output }) => {
  const keys = verifierKeys(invocation, 'key');
  const file = textOption(invocation, 'checkpoint');
  const checkpoints = file === undefined ? [] : [await readCheckpoint(file)];
  const documents = invocation.values['documents'] === true;
  const differs = (result: Differs): never => {
    output.json(result);
    const { at, expected, found } = result;
    const text = found.replace(/\.$/, '');
    throw new Error(`Not as it must be: ${placeText(at)}. Expected ${expected}. Found ${text}.`);
  };
  const verified = open.withStoredLog(
    async (log) => {
      const began = performance.now();
      const onProgress = progressOn(output);
      const result = await verifyLog(log, { checkpoints, keys, onProgress, now: Date.now() });
      const seconds = (performance.now() - began) / 1000;
      const { movedTo } = log;
      if (result.ok) {
        const moved = movedTo === undefined ? {} : { ok: false, moved_to: movedTo };
        output.json({ ...result, ...moved, seconds: toMilliseconds(seconds) });
        tellVerified(result, seconds, output);
        if (movedTo === undefined) return;
        throw new Error(
          `This is the old copy: the log was moved to ${movedTo} and goes on there. Verify it with the settings of that place.`,
        );
      }
      return differs(result);
    },
    { documents },
  );
  await verified.catch((error: unknown) => {
    if (!(error instanceof ForeignSchema)) throw error;
    const { at, expected, found } = schemaDifference(error.fault);
    differs({ ok: false, at, expected, found });
  });
};
