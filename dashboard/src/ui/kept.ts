/** Choices that the browser keeps for the pages. One that keeps nothing has none, and forgets those of a visit. */
const nameOf = (name: string): string => `pressledger.${name}`;

export const kept = {
  read(name: string): string | null {
    try {
      return localStorage.getItem(nameOf(name));
    } catch {
      return null;
    }
  },
  write(name: string, value: string): void {
    try {
      localStorage.setItem(nameOf(name), value);
    } catch {
      // It holds until the page is closed.
    }
  },
};

/** Light or dark as the person chooses, else as their system is. */
export const THEMES = { system: 'As the system', light: 'Light', dark: 'Dark' } as const;
export type Theme = keyof typeof THEMES;

export function chosenTheme(): Theme {
  const name = kept.read('theme') ?? '';
  return Object.hasOwn(THEMES, name) ? (name as Theme) : 'system';
}

/** Every colour of the pages follows this property. */
export function applyTheme(theme = chosenTheme()): void {
  document.documentElement.style.colorScheme = theme === 'system' ? '' : theme;
}
