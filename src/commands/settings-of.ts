import { type Config, SETTINGS } from '../config.ts';
import { type Role, SETTING_HELP } from '../setting-help.ts';

/** What a role reads from the environment: each name, with its meaning and default. */
export function settingsOf(role: Role): readonly (readonly [name: string, text: string])[] {
  const keys = Object.keys(SETTINGS) as readonly (keyof Config)[];
  return keys
    .filter((key) => SETTING_HELP[key].roles?.includes(role) ?? true)
    .map((key) => {
      const { about, unset = String(SETTINGS[key].default()) } = SETTING_HELP[key];
      return [SETTINGS[key].name, `${about} (default ${unset})`];
    });
}
