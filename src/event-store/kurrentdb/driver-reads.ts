/** Reads and subscriptions as the driver gives them. */
import { StreamNotFoundError } from '@eventstore/db-client';
import type { Call } from './connection.ts';

/** The used fields of an event as the driver gives it. */
export interface DriverEvent {
  readonly streamId: string;
  readonly id: string;
  readonly type: string;
  readonly revision: bigint;
  readonly isJson: boolean;
  readonly data: unknown;
  readonly metadata?: unknown;
  readonly position?: { readonly commit: bigint };
}

interface DriverRead {
  on(event: 'data', listener: (read: { readonly event?: DriverEvent }) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  cancel(): Promise<void>;
}

/** One subscription of the driver, until its first error. */
export interface DriverSubscription {
  on(event: 'readable' | 'caughtUp' | 'end' | 'close', listener: () => void): unknown;
  on(event: 'data', listener: (read: { readonly event?: DriverEvent }) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  read(): { readonly event?: DriverEvent } | null;
  unsubscribe(): Promise<void>;
}

/** All events of a read; none if there is no such stream. */
export function collected(read: DriverRead): Call<DriverEvent[]> {
  const events: DriverEvent[] = [];
  const result = new Promise<DriverEvent[]>((resolve, reject) => {
    read.on('data', ({ event }) => {
      if (event !== undefined) events.push(event);
    });
    read.on('end', () => resolve(events));
    read.on('error', (error) => {
      if (error instanceof StreamNotFoundError) resolve([]);
      else reject(error);
    });
  });
  return { result, cancel: () => void read.cancel().catch(() => {}) };
}
