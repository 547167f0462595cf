/** The definition of one setting. */
import type { Parse } from './setting-parsers.ts';

/** A role of a process, as the command line calls it. */
export type Role = 'start' | 'api' | 'renderer';

export interface SettingOptions {
  /** The default in words, where its value would not say it. */
  readonly unset?: string;
  /** The roles that read it; all unless given. */
  readonly roles?: readonly Role[];
  /** An empty value means something, so it does not count as not set. */
  readonly emptyCounts?: boolean;
}

export interface Setting<T, D> extends SettingOptions {
  readonly name: string;
  readonly parse: Parse<T>;
  readonly default: () => D;
  /** One line for help. */
  readonly about: string;
}

export function setting<T, D>(
  name: string,
  parse: Parse<T>,
  defaultTo: () => D,
  about: string,
  options: SettingOptions = {},
): Setting<T, D> {
  return { name, parse, default: defaultTo, about, ...options };
}

export const API: SettingOptions = { roles: ['start', 'api'] };
export const RENDERER: SettingOptions = { roles: ['start', 'renderer'] };
