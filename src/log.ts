import { type Logger, pino } from 'pino';
import type { Config } from './config.ts';

export type { Logger };

/** One JSON document a line on standard error: standard output belongs to what a command answers. */
export function createLogger(level: Config['logLevel']): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: true }),
  );
}
