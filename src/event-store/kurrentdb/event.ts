/** The driver's event → the port's. */
import type { StreamNames } from './names.ts';
import type { RecordedEvent } from '../port.ts';

/** What is used of an event as the driver gives it. */
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

/** Each event has a position of its own, also among those appended together. */
export function placeOf(position: { readonly commit: bigint } | undefined): bigint {
  // An event read from a stream has it since 22.6, as the driver's RecordedEvent type says.
  if (position === undefined) throw new Error('This server gives no positions: it is too old.');
  return position.commit;
}

/** @throws {Error} somebody else wrote it: it is not a JSON object */
export function recordedEvent(event: DriverEvent, names: StreamNames): RecordedEvent {
  const { streamId, id, type, revision, isJson, data, metadata = {}, position } = event;
  if (!isJson || !isObject(data) || !isObject(metadata)) {
    throw new Error(`Event ${revision} of the stream ${streamId} is not one of this service.`);
  }
  const stream = names.ofServer(streamId);
  return {
    id,
    type,
    data,
    metadata,
    stream,
    revision: Number(revision),
    position: placeOf(position),
  };
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof Uint8Array);
