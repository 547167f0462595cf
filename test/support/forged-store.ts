/** Changes to the embedded store that only somebody who can write to its file makes, past the service. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Place } from './place.ts';

/** Changes rows that the store keeps from being changed. What guards them is there again afterwards: a start would miss it. */
function changePast({ dataDir }: Place, trigger: string, statement: string): number {
  const db = new Sqlite(join(dataDir, 'pressledger.db'));
  try {
    const sql = db
      .prepare<[string], string>('SELECT sql FROM sqlite_schema WHERE name = ?')
      .pluck()
      .get(trigger);
    db.exec(`DROP TRIGGER ${trigger}`);
    const { changes } = db.prepare(statement).run();
    db.exec(sql ?? '');
    return changes;
  } finally {
    db.close();
  }
}

/** Makes a grant of credits another one. */
export function forgeCredits(place: Place, from: number, to: number): void {
  const changed = changePast(
    place,
    'events_no_update',
    `UPDATE events SET data = replace(data, '"amount":${from}', '"amount":${to}')
     WHERE type = 'CreditGranted' AND data LIKE '%"amount":${from}%'`,
  );
  if (changed !== 1) throw new Error(`${changed} grants were changed.`);
}

/** Cuts off the last events of the log. */
export function cutOff(place: Place, events: number): void {
  changePast(
    place,
    'events_no_delete',
    `DELETE FROM events WHERE position > (SELECT max(position) FROM events) - ${events}`,
  );
}
