import { existsSync } from 'node:fs';
import { join } from 'node:path';

const FOLDERS = ['truetype/liberation', 'truetype/liberation2', 'liberation-fonts'];

/** The path of an installed font's file. @throws {Error} it is not installed */
export function systemFont(file: string): string {
  const paths = FOLDERS.map((folder) => join('/usr/share/fonts', folder, file));
  const found = paths.find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${file} is not installed (fonts-liberation).`);
  return found;
}
