/** The check that nobody else controls a file that the service trusts. */
import type { Stats } from 'node:fs';

const OTHERS_MAY_WRITE = 0o022;

/**
 * Refuses a file or directory that another user controls: what lies in it would be their choice, a
 * master key that they know as well.
 * @throws {Error} one line: the path, what is wrong with it, and the remedy
 */
export function assertOwned(path: string, { uid, mode }: Pick<Stats, 'uid' | 'mode'>): void {
  // Some systems have no users by number. The operating system's own rules hold there.
  const own = process.geteuid?.();
  if (own === undefined) return;
  if (uid !== own && uid !== 0) {
    throw new Error(
      `${path} belongs to user ${uid}, and this process runs as user ${own}: run it as user ${uid}, ` +
        `or take it over with 'chown -R ${own} ${path}' if you trust what is in it.`,
    );
  }
  if ((mode & OTHERS_MAY_WRITE) !== 0) {
    const octal = (mode & 0o7777).toString(8).padStart(4, '0');
    throw new Error(
      `${path} may be written by other users (mode ${octal}): run 'chmod go-w ${path}' if you trust what is in it.`,
    );
  }
}
