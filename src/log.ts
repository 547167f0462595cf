import { type Logger, pino } from 'pino';
import type { Config } from './config.ts';
import { plainJson } from './plain-text.ts';

export type { Logger };

/**
 * One JSON document a line on standard error: standard output belongs to what a command answers. Text
 * from clients is in it, and a terminal may show it.
 */
export function createLogger(level: Config['logLevel']): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      hooks: { streamWrite: plainJson },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}
