/** Tells whether a program is installed. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Debian puts servers where only root's PATH looks. @param {string} program */
export const isInstalled = (program) =>
  [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin'].some((directory) =>
    existsSync(join(directory, program)),
  );
