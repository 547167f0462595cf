/** The settings of the place that a deployment is moved to. */
import { type Environment, PREFIX } from './config.ts';

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
  const credentials = THERE.flatMap((name) => {
    const value = env[`TO_${name}`];
    return value === undefined ? [] : [[name, value] as const];
  });
  for (const [name, value] of [...Object.entries(changed), ...credentials]) {
    delete there[PREFIX + name];
    there[name] = value;
  }
  return there;
}
