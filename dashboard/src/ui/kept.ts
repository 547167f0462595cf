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
