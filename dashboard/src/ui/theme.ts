/** Light or dark as the person chooses, else as their system is. */
import { kept } from './kept.ts';
import { t } from '../words/words.ts';

export const THEMES = { system: t('As the system'), light: t('Light'), dark: t('Dark') } as const;
export type Theme = keyof typeof THEMES;

export function chosenTheme(): Theme {
  const name = kept.read('theme') ?? '';
  return Object.hasOwn(THEMES, name) ? (name as Theme) : 'system';
}

/** Every colour of the pages follows this property. */
export function applyTheme(theme = chosenTheme()): void {
  document.documentElement.style.colorScheme = theme === 'system' ? '' : theme;
}
