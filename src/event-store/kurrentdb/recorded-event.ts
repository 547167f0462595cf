/** Events as the driver gives them, in the terms of the event store's port. */
import type { RecordedEvent } from '../port.ts';
import type { DriverEvent } from './connection.ts';

/**
 * The event in the terms of the port.
 * @param namespace that precedes its stream's name; empty on a server of our own
 * @throws {Error} somebody else wrote it: it is not a JSON object
 */
export function recordedEvent(event: DriverEvent, namespace: string): RecordedEvent {
  const { streamId, id, type, revision, isJson, data, metadata = {}, position } = event;
  if (!isJson || !isObject(data) || !isObject(metadata)) {
    throw new Error(
      `Event ${revision} of the stream ${streamId} is not one of this service: give it a server ` +
        'of its own, or a namespace in EVENT_STORE_URL.',
    );
  }
  return {
    id,
    type,
    data,
    metadata,
    stream: namespace === '' ? streamId : streamId.slice(namespace.length + 1),
    revision: Number(revision),
    position: placeOf(position),
  };
}

/** Each event has a position of its own, also among those appended together. */
export function placeOf(position: { readonly commit: bigint } | undefined): bigint {
  // An event read from a stream has it since 22.6, as the driver's RecordedEvent type says.
  if (position === undefined) throw new Error('This server gives no positions: it is too old.');
  return position.commit;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !(value instanceof Uint8Array);
