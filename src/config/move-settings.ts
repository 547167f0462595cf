/** The settings of the place that a deployment is moved to, and the options that they are given by. */
import { ConfigError, type Environment, PREFIX } from './config.ts';

/** The settings that the options of `move` set. */
export const MOVE_OPTIONS = {
  'to-event-store': 'EVENT_STORE_URL',
  'to-blobs': 'BLOB_STORE_URL',
  'to-nats': 'NATS_URL',
  'to-data-dir': 'DATA_DIR',
} as const;

/** Credentials, which belong on no command line. */
const THERE = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];

/**
 * The environment of the place that a deployment is moved to: this one, with other settings. S3 credentials that are
 * others there have the prefix `TO_`.
 * @param changed settings by their plain names; an empty one is not set
 */
export function environmentThere(
  env: Environment,
  changed: Readonly<Record<string, string>>,
): Environment {
  const there = { ...env };
  for (const [name, value] of [...Object.entries(changed), ...credentialsThere(env)]) {
    delete there[PREFIX + name];
    there[name] = value;
  }
  return there;
}

/** The credentials that are others there, by their plain names. */
export const credentialsThere = (env: Environment): readonly (readonly [string, string])[] =>
  THERE.flatMap((name) => {
    const value = env[`TO_${name}`];
    return value === undefined ? [] : [[name, value] as const];
  });

/**
 * Rewrites setting names in error messages to the options that were used.
 * @param given the settings that options were given for
 */
export async function namingOptions<T>(
  given: readonly string[],
  work: () => T | Promise<T>,
): Promise<T> {
  const inOptions = (text: string): string =>
    Object.entries(MOVE_OPTIONS)
      .filter(([, setting]) => given.includes(setting))
      .reduce(
        (said, [option, setting]) =>
          said.replaceAll(new RegExp(`\\b${setting}\\b`, 'g'), `--${option}`),
        text,
      );
  try {
    return await work();
  } catch (error) {
    if (error instanceof ConfigError) throw new ConfigError(...error.problems.map(inOptions));
    if (error instanceof Error) error.message = inOptions(error.message);
    throw error;
  }
}
