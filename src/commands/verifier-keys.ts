import { keysIn } from '../../verifier/verify-evidence.mjs';
import { errorMessage } from '../error-message.ts';
import { parseVerifierKey } from '../transparency-log/signed-note.ts';
import { UsageError } from './command.ts';

/**
 * The verifier keys that an option gives: some, or the name of a file of them.
 * @throws {UsageError} one of them is no verifier key
 */
export function verifierKeys(option: string, given: string): readonly string[] {
  try {
    const keys = keysIn(given).flatMap((line) => line.split(/\s+/).filter((key) => key !== ''));
    for (const key of keys) parseVerifierKey(key);
    if (keys.length > 0) return keys;
  } catch (error) {
    const why = errorMessage(error);
    throw new UsageError(`${option} ${given} is neither a verifier key nor a file of some: ${why}`);
  }
  throw new UsageError(`${option} needs a verifier key, or a file of some.`);
}
