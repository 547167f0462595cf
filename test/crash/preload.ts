/**
 * Preloaded into processes of the product, by NODE_OPTIONS: kills the process at a point that a file in
 * CRASH_CONTROL names, and moves its clock. The product itself knows nothing of it.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import type { NewEvent } from '../../src/event-store/port.ts';
import type { Recorded, RenderReport } from '../../src/render-queue/messages.ts';
import { CLOCK_FILE, isTaken, type Moment } from './points.ts';

const CLOCK_LOOK_MS = 25;

interface Appends {
  append(stream: string, events: readonly NewEvent[], ...more: never[]): Promise<unknown>;
}

interface Reports {
  report(report: RenderReport): Promise<Recorded>;
}

/** Ends the process where the runner has asked for it, at the n-th time that it gets there. */
function pointsIn(directory: string): (moment: Moment, what: string) => void {
  const passed = new Map<string, number>();
  return (moment, what) => {
    const file = join(directory, `${moment} ${what}`);
    const nth = nthIn(file);
    if (nth === undefined) return;
    const times = (passed.get(file) ?? 0) + 1;
    passed.set(file, times);
    if (times < nth || !isTaken(file)) return;
    process.kill(process.pid, 'SIGKILL');
    // Nothing else may run before the signal has come.
    for (;;);
  };
}

/** Nothing where the point is not armed. */
function nthIn(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function patchAppend(store: Appends, pass: ReturnType<typeof pointsIn>): void {
  const append = Reflect.get(store, 'append');
  store.append = async function (this: Appends, stream, events, ...more) {
    for (const { type } of events) pass('before', type);
    const appended = await append.call(this, stream, events, ...more);
    for (const { type } of events) pass('after', type);
    return appended;
  };
}

function patchReport(queue: Reports, pass: ReturnType<typeof pointsIn>): void {
  const send = Reflect.get(queue, 'report');
  queue.report = async function (this: Reports, report) {
    pass('before', `report ${report.kind}`);
    const recorded = await send.call(this, report);
    pass('after', `report ${report.kind}`);
    return recorded;
  };
}

/** Timers are not moved by it, just as they are not by a change of the system's clock. */
function patchClock(directory: string): void {
  const TrueDate = Date;
  const file = join(directory, CLOCK_FILE);
  let offsetMs = 0;
  const look = (): void => {
    offsetMs = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  };
  look();
  setInterval(look, CLOCK_LOOK_MS).unref();
  globalThis.Date = new Proxy(TrueDate, {
    construct: (target, args: [], newTarget) =>
      Reflect.construct(target, args.length === 0 ? [target.now() + offsetMs] : args, newTarget),
    get: (target, name, receiver): unknown =>
      name === 'now' ? () => target.now() + offsetMs : Reflect.get(target, name, receiver),
  });
}

async function install(directory: string): Promise<void> {
  patchClock(directory);
  const pass = pointsIn(directory);
  if (process.env['EVENT_STORE_URL'] === undefined) {
    const { SqliteEventStore } = await import('../../src/event-store/sqlite/store.ts');
    patchAppend(SqliteEventStore.prototype, pass);
  } else {
    const { KurrentDbClient } = await import('../../src/event-store/kurrentdb/client.ts');
    patchAppend(KurrentDbClient.prototype, pass);
  }
  if (process.env['NATS_URL'] === undefined) {
    const { InProcessRenderQueue } = await import('../../src/render-queue/in-process.ts');
    patchReport(InProcessRenderQueue.prototype, pass);
  } else {
    const { NatsRenderQueue } = await import('../../src/render-queue/nats/queue.ts');
    patchReport(NatsRenderQueue.prototype, pass);
  }
}

const { CRASH_CONTROL: control } = process.env;
if (control !== undefined && isMainThread) await install(control);
