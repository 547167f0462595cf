/** A process of its own: reads every page of the SQLite file that its argument names, and says `ok` or the damage. */
import { constants, setPriority } from 'node:os';
import Sqlite from 'better-sqlite3';
import { isDamage } from './generations.ts';

const [, , path = ''] = process.argv;

function findDamage(): string {
  try {
    const db = new Sqlite(path, { readonly: true, fileMustExist: true });
    return String(db.pragma('quick_check(1)', { simple: true }));
  } catch (error) {
    if (isDamage(error)) return error.message;
    throw error;
  }
}

setPriority(constants.priority.PRIORITY_LOW);
process.stdout.write(findDamage());
