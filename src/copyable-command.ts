/** A command for the user to copy: it acts on the `DATA_DIR` that the process which prints it works on. */
import { join, resolve } from 'node:path';

const inShell = (text: string): string =>
  /^[\w./@%+:,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/**
 * How the command line is called: in a clone, or where the package is installed. Never by a name that npx would
 * take from a registry, where anybody may register it.
 */
function program(): string {
  if (import.meta.filename.endsWith('.ts')) return 'bin/pressledger';
  const path = join(import.meta.dirname, '../../bin/pressledger');
  const isHere = path === resolve('node_modules/pressledger/bin/pressledger');
  return isHere ? 'node_modules/.bin/pressledger' : inShell(path);
}

export function copyableCommand(dataDir: string, ...args: readonly string[]): string {
  const setting = dataDir === resolve('data') ? '' : `DATA_DIR=${inShell(dataDir)} `;
  return `${setting}${program()} ${args.map(inShell).join(' ')}`;
}
