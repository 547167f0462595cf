/** Requests that come three times as fast as they can be served, whether the last was answered or not. */
import { setTimeout as pause } from 'node:timers/promises';
import type { PressledgerClient } from '../../client/src/client.ts';
import { PressledgerError } from '../../client/src/errors.ts';
import { letter } from '../documents.ts';
import { counted, median, percentile, print } from '../measure.ts';
import { convert, type RunningService } from '../running-service.ts';

const FACTOR = 3;
const TICK_MS = 20;
const PROBE_PAUSE_MS = 500;
const CALM_PROBES = 10;
/** The most requests that the client itself can have under way; more is not sent, and counted. */
const MOST_IN_FLIGHT = 2_000;
/** A conversion takes no longer than this many times what it took before. */
const RECOVERED = 2;
const GIVE_UP_MS = 120_000;
const LOOK_EVERY_MS = 500;

export interface OverloadOptions {
  /** Conversions a second that the service can do. */
  readonly capacity: number;
  readonly seconds: number;
  /** Conversions that are accepted and have not ended. */
  readonly unfinished: () => number;
}

/** Milliseconds that a client outside the crowd waits for a letter; undefined where it is refused, too. */
async function probe(client: PressledgerClient): Promise<number | undefined> {
  const began = performance.now();
  try {
    await convert(client, letter(1));
  } catch (error) {
    if (error instanceof PressledgerError && error.status === 503) return undefined;
    throw error;
  }
  return performance.now() - began;
}

interface Answer {
  readonly status: string;
  readonly ms: number;
}

async function post(server: string, key: string, number: number): Promise<Answer> {
  const began = performance.now();
  try {
    const answer = await fetch(`${server}/api/v1/pdf/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-API-Key': key },
      body: JSON.stringify({ html: letter(number) }),
    });
    await answer.arrayBuffer();
    const told = answer.headers.has('retry-after') || answer.status < 400;
    const status = `${answer.status}${told ? '' : ' without Retry-After'}`;
    return { status, ms: performance.now() - began };
  } catch {
    return { status: 'no answer', ms: performance.now() - began };
  }
}

async function flood(
  { server }: RunningService,
  keys: readonly string[],
  { capacity, seconds }: OverloadOptions,
): Promise<{ readonly answers: readonly Answer[]; readonly unsent: number }> {
  const answers: Answer[] = [];
  const underWay = new Set<Promise<unknown>>();
  const began = performance.now();
  let sent = 0;
  let unsent = 0;
  while (performance.now() - began < seconds * 1000) {
    const due = ((performance.now() - began) / 1000) * capacity * FACTOR;
    for (; sent + unsent < due; ) {
      if (underWay.size >= MOST_IN_FLIGHT) {
        unsent += 1;
        continue;
      }
      const key = keys[sent % keys.length] ?? '';
      const answered = post(server, key, sent);
      underWay.add(answered);
      void answered.then((answer) => answers.push(answer) && underWay.delete(answered));
      sent += 1;
    }
    await pause(TICK_MS);
  }
  await Promise.all(underWay);
  return { answers, unsent };
}

/** @param calm a client of an account that takes no part */
export async function overload(
  service: RunningService,
  { keys, calm }: { readonly keys: readonly string[]; readonly calm: PressledgerClient },
  options: OverloadOptions,
): Promise<void> {
  const before: number[] = [];
  for (let n = 0; n < CALM_PROBES; n += 1) before.push((await probe(calm)) ?? Number.NaN);
  const usual = median(before);
  const during: number[] = [];
  let refused = 0;
  const over = new AbortController();
  const probing = (async () => {
    while (!over.signal.aborted) {
      const ms = await probe(calm);
      if (ms === undefined) refused += 1;
      else during.push(ms);
      await pause(PROBE_PAUSE_MS, undefined, { signal: over.signal }).catch(() => {});
    }
  })();
  const { answers, unsent } = await flood(service, keys, options);
  const endedAt = performance.now();
  over.abort();
  await probing;
  const waiting = options.unfinished();
  let recoveredMs = Number.NaN;
  while (performance.now() - endedAt < GIVE_UP_MS) {
    const began = performance.now();
    const ms = await probe(calm);
    if (ms === undefined) await pause(LOOK_EVERY_MS);
    else if (ms <= RECOVERED * usual) {
      recoveredMs = began - endedAt;
      break;
    }
  }
  while (options.unfinished() > 0 && performance.now() - endedAt < GIVE_UP_MS) {
    await pause(LOOK_EVERY_MS);
  }
  const left = options.unfinished();
  const drainedMs = performance.now() - endedAt;
  const times = answers.map(({ ms }) => ms);
  const offered = options.capacity * FACTOR;
  print(
    `Overload: ${offered.toFixed(0)} requests a second for ${options.seconds} s, ${FACTOR} times the capacity: ${counted(answers.map(({ status }) => status))}${unsent > 0 ? `, ${unsent} not sent` : ''}.`,
  );
  print(
    `Answers took ${percentile(times, 0.5).toFixed(0)} ms (half), ${percentile(times, 0.99).toFixed(0)} ms (99 %).`,
  );
  print(
    `A letter of an account that took no part: ${usual.toFixed(0)} ms before, ${median(during).toFixed(0)} ms meanwhile, at most ${Math.max(...during).toFixed(0)} ms; ${during.length} were made and ${refused} refused.`,
  );
  print(
    `Accepted and waiting at the end: ${waiting}; ${left === 0 ? 'all' : `all but ${left}`} ended ${(drainedMs / 1000).toFixed(1)} s later.`,
  );
  print(
    Number.isNaN(recoveredMs)
      ? `NOT recovered within ${GIVE_UP_MS / 1000} s.`
      : `Recovered ${(recoveredMs / 1000).toFixed(1)} s after the last request was answered: a letter took at most ${RECOVERED} times as long as before.`,
  );
}
