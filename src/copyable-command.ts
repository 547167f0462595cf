/** A command for the user to copy: it acts on the `DATA_DIR` that the process which prints it works on. */
import { resolve } from 'node:path';

/** How the command line is called: in a clone, or where the package is installed. */
export const COMMAND = import.meta.filename.endsWith('.ts') ? 'bin/pressledger' : 'npx pressledger';

export const inShell = (text: string): string =>
  /^[\w./@%+:,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

export function copyableCommand(dataDir: string, ...args: readonly string[]): string {
  const setting = dataDir === resolve('data') ? '' : `DATA_DIR=${inShell(dataDir)} `;
  return `${setting}${COMMAND} ${args.map(inShell).join(' ')}`;
}
