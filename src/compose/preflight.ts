/** Checks before a start opens or makes anything, so that a failed start leaves nothing behind. */
import { type Config, ConfigError, type SettingsRead } from '../config.ts';
import type { Logger } from '../log.ts';
import type { Role } from '../setting.ts';
import { checksOfStart, makeChecks } from './checks.ts';

/** @throws {ConfigError} one line for each mistake that was found, in the settings and in what they name */
export async function refuseBadStart(
  { values, unusable, problems }: SettingsRead,
  role: Role,
  logger: Logger,
): Promise<void> {
  const looked = await makeChecks(checksOfStart(values as Config, role, logger), unusable);
  const faults = looked.filter(({ verdict }) => verdict === 'wrong').map(({ text }) => text);
  // Several checks meet the same fault, such as a server that is away.
  const all = new Set([...problems, ...faults]);
  if (all.size > 0) throw new ConfigError(...all);
}
