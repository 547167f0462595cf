/** The forms in which a verification says what is not as it must be. */
import type { RecordedEvent } from '../../event-store/port.ts';

/** A place in the log or beside it: of an event, a file or a checkpoint. */
export type Place = Readonly<Record<string, string | number>>;

/** A rule that does not hold, at the place that is being looked at. */
export class Broken extends Error {
  override readonly name: string = 'Broken';
  readonly expected: string;
  readonly found: string;

  constructor(expected: string, found: string) {
    super(`expected ${expected}, found ${found}`);
    this.expected = expected;
    this.found = found;
  }
}

export class Difference extends Broken {
  override readonly name = 'Difference';
  readonly at: Place;

  constructor(at: Place, expected: string, found: string) {
    super(expected, found);
    this.at = at;
  }
}

type PlacedEvent = Partial<Omit<RecordedEvent, 'data' | 'metadata'>>;

/** @param index its number in the log, from 0, where it is known */
export function placeOf(event: PlacedEvent, index?: number): Place {
  const { stream, revision, position, id, type } = event;
  return {
    ...(index !== undefined && { index }),
    ...(position !== undefined && { position: position.toString() }),
    ...(stream !== undefined && { stream }),
    ...(revision !== undefined && { revision }),
    ...(id !== undefined && { id }),
    ...(type !== undefined && { type }),
  };
}
