/** A command for the user to copy: it acts on the `DATA_DIR` that the process which prints it works on. */
import { join, resolve } from 'node:path';
import { type Environment, PREFIX } from './config.ts';
import { credentialsThere } from './move-settings.ts';

/** Settings that can hold a password. */
const SERVERS = ['EVENT_STORE_URL', 'NATS_URL'];

export const inShell = (text: string): string =>
  /^[\w./@%+:,-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/**
 * How the command line is called: in a clone, or where the package is installed. Never by a name that npx would
 * take from a registry, where anybody may register it.
 */
export function program(): string {
  if (import.meta.filename.endsWith('.ts')) return 'bin/pressledger';
  const path = join(import.meta.dirname, '../../../bin/pressledger');
  const isHere = path === resolve('node_modules/pressledger/bin/pressledger');
  return isHere ? 'node_modules/.bin/pressledger' : inShell(path);
}

export function copyableCommand(dataDir: string, ...args: readonly string[]): string {
  const setting = dataDir === resolve('data') ? '' : `DATA_DIR=${inShell(dataDir)} `;
  return `${setting}${program()} ${args.map(inShell).join(' ')}`;
}

/**
 * A command for another place than this process works on, for the shell that ran it and for a new one.
 * @param settings by their plain names; an empty one is not set in that place
 * @param env of this process: what it sets in either spelling would win, or stay, where the command did not say so
 */
export function commandThere(
  settings: Readonly<Record<string, string>>,
  env: Environment,
  ...args: readonly string[]
): string {
  const isSet = (name: string): boolean => (env[name] ?? '') !== '';
  const spelled = (name: string): string => (isSet(PREFIX + name) ? PREFIX + name : name);
  const texts = Object.entries(settings).flatMap(([name, value]) => {
    if (value === '') return [PREFIX + name, name].filter(isSet).map((each) => `${each}=`);
    // A password belongs on no screen. The text is refused as it stands.
    const isSecret = SERVERS.includes(name) && value.includes('@');
    return `${spelled(name)}=${inShell(isSecret ? 'the URL with its password' : value)}`;
  });
  const credentials = credentialsThere(env).map(([name]) => `${spelled(name)}="$TO_${name}"`);
  return [...texts, ...credentials, program(), ...args.map(inShell)].join(' ');
}
