/** The part of the environment that the command line reads as a client of a service. A service ignores it. */
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

const SERVER = 'PRESSLEDGER_SERVER';
const KEYS = ['PRESSLEDGER_API_KEY', 'PRESSLEDGER_KEY'] as const;
export const CLIENT_NAMES: readonly string[] = [SERVER, ...KEYS];

/** The service that the command line is a client of, and its credential there. */
export interface ClientConfig {
  readonly server: string | undefined;
  readonly apiKey: string | undefined;
  /** The file in which `pressledger login` keeps both. */
  readonly loginFile: string;
}

export function readClientConfig(env: Readonly<Record<string, string | undefined>>): ClientConfig {
  const [apiKey] = KEYS.map((name) => env[name]).filter((value) => value);
  // The XDG specification has a relative path ignored.
  const { XDG_CONFIG_HOME: named = '' } = env;
  const configDir = isAbsolute(named) ? named : join(homedir(), '.config');
  return {
    server: env[SERVER] || undefined,
    apiKey,
    loginFile: join(configDir, 'pressledger', 'login.json'),
  };
}
