import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';

/** Every row of every projection's tables, as the read model in use holds them. */
export function readModelRows(dataDir: string): Record<string, unknown[]> {
  const directory = join(dataDir, 'read-model');
  const current = readFileSync(join(directory, 'CURRENT'), 'utf8').trim();
  if (!readdirSync(directory).includes(current)) throw new Error(`${current} is not there.`);
  const db = new Sqlite(join(directory, current), { readonly: true });
  try {
    const tables = db
      .prepare<[], string>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .pluck()
      .all();
    return Object.fromEntries(
      tables.map((table) => {
        const rows = db.prepare<[], unknown[]>(`SELECT * FROM "${table}"`).raw().all();
        return [table, rows.map((row) => JSON.stringify(row)).toSorted()];
      }),
    );
  } finally {
    db.close();
  }
}
