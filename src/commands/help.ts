/** What the help of a command says below its options. */
import type { Command as Commander } from 'commander';
import type { Config } from '../config/config.ts';
import { type Role, SETTINGS } from '../config/settings.ts';
import { BOUNDS } from '../limits/bounds.ts';
import { BUDGETS } from '../limits/budgets.ts';
import type { Command } from './command.ts';

/** Settings that nobody needs to touch. */
const LIMITS: ReadonlySet<string> = new Set(
  [...Object.values(BUDGETS), ...Object.values(BOUNDS)].map(({ name }) => name),
);
const SETTINGS_TITLE =
  'Settings (environment variables; PRESSLEDGER_PORT counts before PORT, and so on)';
const LIMITS_TITLE = 'Limits (settings too; leave them alone until an error or a metric names one)';

export function belowOptions(
  about: Commander,
  { role, examples, section: listed }: Command,
): string {
  const helper = about.createHelp();
  helper.prepareContext({ helpWidth: about.configureOutput().getOutHelpWidth?.() ?? 80 });
  const section = (title: string, rows: readonly (readonly [string, string])[]): string => {
    const width = Math.max(0, ...rows.map(([name]) => name.length));
    const lines = rows.map(([name, text]) => helper.formatItem(name, width, text, helper));
    return lines.length === 0 ? '' : ['', `${title}:`, ...lines, ''].join('\n');
  };
  const settings = role === undefined ? [] : settingsOf(role);
  return (
    section(
      'Examples',
      examples.map((line) => [`pressledger ${line}`, '']),
    ) +
    section(
      SETTINGS_TITLE,
      settings.filter(([name]) => !LIMITS.has(name)),
    ) +
    section(
      LIMITS_TITLE,
      settings.filter(([name]) => LIMITS.has(name)),
    ) +
    (listed?.note === undefined ? '' : `\n${helper.boxWrap(listed.note, helper.helpWidth ?? 80)}\n`)
  );
}

/** The settings that a role reads: each name, with its meaning and default. */
export function settingsOf(role: Role): readonly (readonly [name: string, text: string])[] {
  const keys = Object.keys(SETTINGS) as readonly (keyof Config)[];
  return keys.flatMap((key) => {
    const { name, about, unset, roles, default: defaultOf } = SETTINGS[key];
    if (roles && !roles.includes(role)) return [];
    return [[name, `${about} (default ${unset ?? String(defaultOf())})`] as const];
  });
}
