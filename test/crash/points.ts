/** The named points at which a process of the product can be killed, and how that is asked for. */
import { mkdirSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export type Moment = 'before' | 'after';

/** Holds milliseconds by which the process's clock is wrong. */
export const CLOCK_FILE = 'clock-ms';

/** The meaning of each point to the product. Those of reports are met where the renderer runs, the others where the log is written. */
export const POINTS = {
  'before ConversionRequested': 'a request is stored, its events are not',
  'after ConversionRequested': 'a request is in the log and not answered',
  'before ConversionStarted': 'a start is reported and not recorded',
  'after ConversionStarted': 'a start is recorded and not acknowledged',
  'before ConversionCompleted': 'the file is stored, its event is not',
  'after ConversionCompleted': 'the event is there, not acknowledged to the renderer',
  'before ConversionFailed': 'a failure is reported and not recorded',
  'after ConversionFailed': 'a failure is recorded, its refund is not',
  'after CreditRefunded': 'a refund is recorded, and nobody knows yet',
  'before CheckpointSigned': 'a checkpoint is signed and not stored in the log',
  'after CheckpointSigned': 'a checkpoint is stored, and nobody knows yet',
  'after KeyRevoked': 'a revocation is recorded and not answered',
  'before MailSent': 'a mail is sent, and nobody knows',
  'after PasswordResetAsked': 'a link is asked for, and nobody has followed it',
  'after MemberRemoved': 'a member is removed, and their keys and sessions are not told',
  'after AccountSuspended': 'a suspension is recorded and not answered',
  'before CreditGranted': 'credits of a month, or of a new account, are due',
  'after report started': 'mid-render',
  'before report completed': 'the renderer has stored the file and reported nothing',
  'after report completed': 'the outcome is recorded, the job is not acknowledged to the queue',
  'before report failed': 'a rendering failed and nobody was told',
} as const satisfies Readonly<Record<`${Moment} ${string}`, string>>;

export type Point = keyof typeof POINTS;

/** Takes the file of a point: either the process does that, which then ends, or who disarms it. */
export function isTaken(file: string): boolean {
  try {
    unlinkSync(file);
    return true;
  } catch {
    return false;
  }
}

/** Tells a process of the product, from outside, what to do. */
export class Control {
  readonly #directory: string;

  constructor(directory: string) {
    mkdirSync(directory);
    this.#directory = directory;
  }

  /** Settings of the process. */
  get env(): Readonly<Record<string, string>> {
    const preload = pathToFileURL(join(import.meta.dirname, 'preload.ts')).href;
    return { NODE_OPTIONS: `--import=${preload}`, CRASH_CONTROL: this.#directory };
  }

  /** Has the process killed when it gets to the point for the n-th time. */
  arm(point: Point, nth: number): void {
    writeFileSync(join(this.#directory, point), String(nth));
  }

  /** @returns false: the process is there already, and ends */
  disarm(point: Point): boolean {
    return isTaken(join(this.#directory, point));
  }

  /** @param offsetMs 0: the clock is right */
  setClock(offsetMs: number): void {
    writeFileSync(join(this.#directory, CLOCK_FILE), String(offsetMs));
  }
}
