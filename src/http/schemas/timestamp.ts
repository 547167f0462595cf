import Type from 'typebox';

const EXAMPLE = '2026-11-21T08:15:30.123Z';

/** ISO 8601, UTC, milliseconds, `Z`: as `isoTime` writes it. */
export const Timestamp = (description: string, example = EXAMPLE) =>
  Type.String({
    pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z$',
    description,
    examples: [example],
  });
