/** Tells people how far a long task is, at most one step a second. */
import type { VerifyProgress } from '../use-cases/verify-log.ts';
import { counted, eventsRead, type Output } from './command.ts';

const PAUSE_MS = 1000;

/** Makes a text only where it is time to tell one. */
export function seldom(output: Output): (text: () => string) => void {
  let toldAt = performance.now();
  return (text) => {
    if (performance.now() - toldAt < PAUSE_MS) return;
    toldAt = performance.now();
    output.progress(text());
  };
}

/** Of reading a log, and its files. */
export function progressOn(output: Output): (progress: VerifyProgress) => void {
  const tell = seldom(output);
  return ({ done, total, isEstimate = false, perSecond }) =>
    tell(() =>
      total === undefined
        ? `${counted(done, 'file')}, ${Math.round(perSecond)} a second`
        : eventsRead({ done, total, isEstimate, perSecond }),
    );
}

/** @param what each thing is, in the singular */
export function countOn(output: Output, what: string): (done: number, total: number) => void {
  const tell = seldom(output);
  return (done, total) => tell(() => `${done} of ${counted(total, what)}`);
}
