/** Looks for texts in bytes, whichever way they were written. */
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The ways in which a text may lie somewhere, each as the bytes to look for. */
export function formsOf(text: string): ReadonlyMap<string, Buffer> {
  const bytes = Buffer.from(text);
  const utf16 = Buffer.from(text, 'utf16le');
  const hex = bytes.toString('hex');
  const forms = new Map<string, Buffer>([
    ['plain', bytes],
    ['UTF-16LE', utf16],
    ['UTF-16BE', Buffer.from(utf16).swap16()],
    ['hex', Buffer.from(hex)],
    ['HEX', Buffer.from(hex.toUpperCase())],
  ]);
  for (const encoding of ['base64', 'base64url'] as const) {
    for (const offset of [0, 1, 2]) {
      // Only the digits that the text alone decides, wherever it begins in what was encoded.
      const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
      const digits = padded.subarray(0, padded.length - (padded.length % 3)).toString(encoding);
      forms.set(`${encoding} ${offset}`, Buffer.from(digits.slice(Math.ceil((offset * 8) / 6))));
    }
  }
  return forms;
}

/** @returns what was found where, a line each */
export function findTexts(
  places: ReadonlyMap<string, Buffer>,
  texts: Readonly<Record<string, string>>,
): string[] {
  return Object.entries(texts).flatMap(([what, text]) =>
    [...formsOf(text)].flatMap(([form, needle]) =>
      [...places]
        .filter(([, bytes]) => bytes.includes(needle))
        .map(([at]) => `${what}, ${form}: ${at}`),
    ),
  );
}

/** The content of every file below the directories, with its name. */
export function filesBelow(...directories: readonly string[]): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  for (const directory of directories) {
    for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
      const path = join(directory, name);
      files.set(`the name ${path}`, Buffer.from(name));
      // A running service may have removed it.
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats?.isFile() === true) files.set(path, readFileSync(path));
    }
  }
  return files;
}
