/** States by name in bounded memory: those that were not used for long lie in a temporary file. */
import Sqlite, { type Database } from 'better-sqlite3';

/** There are two generations in memory. */
const GENERATION = 50_000;
const PAGE = 1_000;

interface Row {
  readonly name: string;
  readonly state: string;
}

export class StateTable<State extends object> {
  #recent = new Map<string, State>();
  #older = new Map<string, State>();
  readonly #isNeeded: (state: State) => boolean;
  readonly #generation: number;
  #file: StateFile | undefined;

  /**
   * @param isNeeded false: the state is forgotten instead of stored
   * @param generation half of the states that memory has room for
   */
  constructor(isNeeded: (state: State) => boolean = () => true, generation = GENERATION) {
    this.#isNeeded = isNeeded;
    this.#generation = generation;
  }

  /** The state itself: what is changed in it stays changed. */
  get(name: string): State | undefined {
    const recent = this.#recent.get(name);
    if (recent !== undefined) return recent;
    let state = this.#older.get(name);
    if (state !== undefined) this.#older.delete(name);
    else state = this.#file?.get(name) as State | undefined;
    if (state !== undefined) this.set(name, state);
    return state;
  }

  set(name: string, state: State): void {
    this.#recent.set(name, state);
    if (this.#recent.size < this.#generation) return;
    this.#store(this.#older);
    this.#older = this.#recent;
    this.#recent = new Map();
  }

  /** All states whose names begin so, in the order of their names. What is set meanwhile may be missing. */
  *entries(prefix: string): Generator<[name: string, state: State]> {
    for (const states of [this.#older, this.#recent]) this.#store(states);
    let after = prefix;
    for (;;) {
      const rows = this.#file?.page(after, `${prefix}\u{10ffff}`) ?? [];
      for (const { name, state } of rows) yield [name, JSON.parse(state) as State];
      after = rows.at(-1)?.name ?? after;
      if (rows.length < PAGE) return;
    }
  }

  close(): void {
    this.#file?.db.close();
  }

  #store(states: ReadonlyMap<string, State>): void {
    this.#file ??= openFile();
    const { db } = this.#file;
    db.exec('BEGIN');
    for (const [name, state] of states)
      if (this.#isNeeded(state)) this.#file.put(name, JSON.stringify(state));
    db.exec('COMMIT');
  }
}

interface StateFile {
  readonly db: Database;
  get(name: string): object | undefined;
  put(name: string, state: string): void;
  /** States after one name and before another. */
  page(after: string, before: string): readonly Row[];
}

/** SQLite deletes a database without a name when it is closed. */
function openFile(): StateFile {
  const db = new Sqlite('');
  db.pragma('journal_mode = OFF');
  db.pragma('synchronous = OFF');
  db.exec('CREATE TABLE states (name TEXT PRIMARY KEY, state TEXT NOT NULL) STRICT, WITHOUT ROWID');
  const get = db.prepare<[string], string>('SELECT state FROM states WHERE name = ?').pluck();
  const put = db.prepare<[string, string]>('REPLACE INTO states VALUES (?, ?)');
  const page = db.prepare<[string, string, number], Row>(
    'SELECT name, state FROM states WHERE name > ? AND name < ? ORDER BY name LIMIT ?',
  );
  return {
    db,
    get: (name) => {
      const state = get.get(name);
      return state === undefined ? undefined : (JSON.parse(state) as object);
    },
    put: (name, state) => void put.run(name, state),
    page: (after, before) => page.all(after, before, PAGE),
  };
}
