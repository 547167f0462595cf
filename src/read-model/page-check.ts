/** A process of its own: reads every page of the SQLite file that its argument names, and says `ok` or what is damaged. */
import { constants, getPriority, setPriority } from 'node:os';
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

const PRIORITY = constants.priority.PRIORITY_BELOW_NORMAL;

// Not the lowest: that one hardly runs beside busy browsers, and until its end queries may meet the damage. A
// service that is itself lower may not raise it.
if (getPriority() < PRIORITY) setPriority(PRIORITY);
process.stdout.write(findDamage());
