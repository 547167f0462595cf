import { styleText } from 'node:util';
import { type Logger, type LoggerOptions, pino } from 'pino';
import type { Config } from '../config/config.ts';
import { plainJson, plainText } from '../text/plain-text.ts';
import { isTold } from './outage.ts';

export type { Logger };

/** Lines beyond it are dropped: a reader that stands still must not take the service's memory. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** The levels of pino that a person must notice. */
const LABELS: Readonly<Record<number, string>> = {
  40: styleText('yellow', 'WARNING', { stream: process.stderr }),
  50: styleText('red', 'ERROR', { stream: process.stderr }),
  60: styleText('red', 'FATAL', { stream: process.stderr }),
};

interface LogLine {
  readonly level: number;
  readonly time: string;
  readonly msg?: string;
  readonly err?: { readonly stack?: string; readonly message?: string };
}

/** Makes a line for people: the local time, the message, and what the message has not said already. */
export function readableLine(json: string): string {
  const { level, time, msg = '', err, ...facts } = JSON.parse(json) as LogLine;
  const said = new Set(msg.split(/[\s:,;]+/));
  const rest = Object.entries(facts)
    .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)])
    .filter(([, text = '']) => !said.has(text) && !(text.includes(' ') && msg.includes(text)))
    .map(([name, text = '']) => `${name}=${/^[^\s"=]+$/.test(text) ? text : JSON.stringify(text)}`);
  const clock = new Date(time).toLocaleTimeString('en-GB');
  // The label alone has escapes that a terminal may obey.
  const line = [clock, LABELS[level], plainText([msg, ...rest].join(' '))];
  const trace = (err?.stack ?? err?.message ?? '').split('\n').filter((each) => each !== '');
  return [
    line.filter((part) => part !== undefined).join(' '),
    ...trace.map((each) => `    ${plainText(each.trim())}`),
    '',
  ].join('\n');
}

const DEBUG = 20;

type LogMethod = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>;

/** An outage has two lines of its own. A line for each error of it would hide everything else. */
export const logUnlessTold: LogMethod = function (args, log, level) {
  const { err } = Object(args[0]) as { readonly err?: unknown };
  if (level > DEBUG && isTold(err)) this.debug(...args);
  else log.apply(this, args);
};

let second = 0;
let upToSecond = '';

/** pino's `isoTime`, which makes a date for each line: a third of what a line costs. */
function isoTime(): string {
  const now = Date.now();
  const since = Math.floor(now / 1000);
  if (since !== second) upToSecond = new Date(since * 1000).toISOString().slice(0, -4);
  second = since;
  return `,"time":"${upToSecond}${String(now % 1000).padStart(3, '0')}Z"`;
}

/**
 * One JSON document a line on standard error, and a line for people where that is a terminal: standard
 * output belongs to what a command answers. Text from clients is in it, and a terminal may show it. A
 * request does not wait for its line to be written.
 * @param lineFields is asked at each line what more belongs into it
 */
export function createLogger(level: Config['logLevel'], lineFields?: () => object): Logger {
  const terminal = process.stderr.isTTY;
  const destination = pino.destination({ fd: 2, sync: terminal, maxLength: MAX_WAITING_BYTES });
  // An error without a listener is thrown: the first line after a terminal was closed would end the stop.
  destination.on('error', () => {});
  return pino(
    {
      level,
      base: null,
      timestamp: isoTime,
      ...(lineFields && { mixin: lineFields }),
      hooks: { logMethod: logUnlessTold, streamWrite: terminal ? readableLine : plainJson },
    },
    destination,
  );
}
