/** The times of backups that commands with this DATA_DIR have made or verified. */
import { join } from 'node:path';
import { readIfThere, temporaryName, writeDurably } from '../documents/durable-file.ts';
import type { BackupTimes } from '../observe/service-status.ts';
import { isDirectory } from './directories.ts';

const fileIn = (dataDir: string): string => join(dataDir, 'backups.json');

/** Reads the times that are known. */
export function backupTimes(dataDir: string): BackupTimes {
  try {
    return JSON.parse(readIfThere(fileIn(dataDir)) ?? '{}') as BackupTimes;
  } catch (error) {
    // The next backup replaces a file that is damaged.
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

/**
 * Keeps the newest time of each.
 * @param log what was backed up: another log than that of DATA_DIR says nothing about it
 * @throws {Error} one line: it cannot be recorded there
 */
export async function recordBackup(
  dataDir: string,
  times: BackupTimes,
  log: string | undefined,
): Promise<void> {
  if (!isDirectory(dataDir)) throw new Error(`there is no ${dataDir}.`);
  const own = readIfThere(join(dataDir, 'keyring', 'keyring.log'));
  if (own !== undefined && own !== log) throw new Error(`${dataDir} is of another log.`);
  const known = backupTimes(dataDir);
  const newest = (key: keyof BackupTimes) =>
    Math.max(times[key] ?? 0, known[key] ?? 0) || undefined;
  const text = JSON.stringify({
    keyringCopiedAt: newest('keyringCopiedAt'),
    verifiedBackupOf: newest('verifiedBackupOf'),
  });
  const path = fileIn(dataDir);
  await writeDurably(path, `${path}.${temporaryName()}.tmp`, Buffer.from(text));
}
