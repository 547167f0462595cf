/** Lists what lies in a folder: to show that nothing of it was made, removed or changed. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every file with the hash of its content, every folder, and every socket. */
export function treeOf(folder: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true }).map(String).toSorted()) {
    const path = join(folder, name);
    const stats = lstatSync(path);
    if (stats.isDirectory()) found[name] = `folder ${stats.mode}`;
    else if (stats.isSocket()) found[name] = `socket ${stats.mode}`;
    else found[name] = createHash('sha256').update(readFileSync(path)).digest('hex');
  }
  return found;
}
