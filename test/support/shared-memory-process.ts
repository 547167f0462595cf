/** A process that maps shared memory once it reads a line: `shared-memory-process.ts FOLDER BYTES`, a folder in memory. */
import { join } from 'node:path';
import Database from 'better-sqlite3';

const [, , folder = '', bytes = '0'] = process.argv;
const size = Number(bytes);
const database = new Database(join(folder, 'a.db'));
database.exec('CREATE TABLE a (content BLOB)');
const insert = database.prepare('INSERT INTO a VALUES (zeroblob(1048576))');
for (let left = size; left > 0; left -= 2 ** 20) insert.run();
process.stdout.write('ready\n');
process.stdin.once('data', () => {
  // Pages of a file in memory that a process maps are its shared memory.
  database.pragma(`mmap_size = ${2 * size}`);
  database.prepare('SELECT sum(instr(content, 1)) FROM a').get();
  process.stdout.write('mapped\n');
});
