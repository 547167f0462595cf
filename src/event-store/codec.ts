/**
 * Domain event ↔ stored event: validates events that are written, upcasts those that are read.
 * Personal fields are already sealed when they come here and stay so.
 */

import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/schema';
import type { EventMetadata } from '../domain/event-metadata.ts';
import {
  type DomainEvent,
  EVENT_SCHEMAS,
  type EventType,
  SCHEMA_VERSION,
  UPCASTERS,
} from '../domain/events.ts';
import { restored, shortened } from '../domain/stored-form.ts';
import type { EventStore, NewEvent, RecordedEvent } from './port.ts';

const schemas: ReadonlyMap<string, TSchema> = new Map(Object.entries(EVENT_SCHEMAS));
/** Compiled when an event of their type is first written: few processes write more than some of them. */
const validators = new Map<string, Validator>();

function validatorOf(type: string): Validator | undefined {
  const schema = schemas.get(type);
  const validator = validators.get(type) ?? (schema && Compile(schema));
  if (validator) validators.set(type, validator);
  return validator;
}

/** @throws {TypeError} the event does not have its type's shape: a fault of ours, not of a client */
export function encodeEvent(
  id: string,
  event: DomainEvent,
  metadata: Omit<EventMetadata, 'schemaVersion'>,
): NewEvent {
  const issue = shapeIssue(event);
  if (issue !== undefined) throw new TypeError(`${event.type} is not of its shape: ${issue}`);
  return {
    id,
    type: event.type,
    data: shortened(event),
    metadata: { ...metadata, schemaVersion: SCHEMA_VERSION },
  };
}

/** Says where an event's data is not of its type's shape, and how; nothing where it is. */
export function shapeIssue({ type, data }: DomainEvent): string | undefined {
  const validator = validatorOf(type);
  if (validator?.Check(data)) return undefined;
  const [, errors] = validator?.Errors(data) ?? [false, []];
  const [first] = errors;
  return `${first?.instancePath ?? ''} ${first?.message ?? 'unknown type'}`;
}

/** Lifts the data of older events, type by type: `[type][n]` takes version n to n + 1. */
export type Upcasters = Readonly<
  Record<string, Readonly<Record<number, (data: object) => object>> | undefined>
>;

/** Returns what reads events of every version up to the given one. */
export function createDecoder(version: number, upcasters: Upcasters) {
  /** @throws {TypeError} the log holds an event of a type or version that this release does not know */
  return (recorded: RecordedEvent): DomainEvent => {
    const type = recorded.type as EventType;
    if (!schemas.has(type)) throw new TypeError(`Unknown event type ${recorded.type}.`);
    let { schemaVersion } = recorded.metadata as EventMetadata;
    if (schemaVersion > version) {
      throw new TypeError(
        `${type} is of version ${schemaVersion}, newer than this release; install that release.`,
      );
    }
    let data: object = recorded.data;
    for (const steps = upcasters[type]; schemaVersion < version; schemaVersion += 1) {
      data = steps?.[schemaVersion]?.(data) ?? data;
    }
    return { type, data: restored(type, data) } as DomainEvent;
  };
}

export const decodeEvent = createDecoder(SCHEMA_VERSION, UPCASTERS);

/**
 * Refuses a log that a newer release has written to: its newest event tells. That release may have stored keys and
 * documents in other forms, too, so it counts `SCHEMA_VERSION` up for each of these.
 * @param store whose positions have no gaps; on a server the first projection that reads such an event stops the start
 * @throws {Error} one line
 */
export async function refuseNewerLog(store: Pick<EventStore, 'head' | 'readAll'>): Promise<void> {
  const head = await store.head();
  if (head === 0n) return;
  // A damaged event is reported by what reads the log.
  const [newest] = await store.readAll({ after: head - 1n, limit: 1 }).catch(() => []);
  const { schemaVersion } = (newest?.metadata ?? { schemaVersion: 0 }) as EventMetadata;
  if (schemaVersion > SCHEMA_VERSION) {
    throw new Error(
      `The event log was written by a newer release (event version ${schemaVersion}, this one knows ` +
        `${SCHEMA_VERSION}); install that release.`,
    );
  }
}
