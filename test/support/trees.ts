/** Lists what lies in a folder: to show that nothing of it was made, removed or changed. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every file with the hash of its content, and every folder. */
export function treeOf(folder: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true }).map(String).toSorted()) {
    const path = join(folder, name);
    const stats = lstatSync(path);
    found[name] = stats.isDirectory()
      ? `folder ${stats.mode}`
      : createHash('sha256').update(readFileSync(path)).digest('hex');
  }
  return found;
}
