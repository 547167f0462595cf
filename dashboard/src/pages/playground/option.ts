/** The properties that all fields of the form have. */
import type { Field } from './request-schema.ts';

/** The errors that the service found, by the paths of fields such as `wait_for.selector`. */
export type FieldErrors = Readonly<Record<string, readonly string[] | undefined>>;

export interface OptionProps {
  readonly field: Field;
  /** As the service names the field in its errors. */
  readonly path: string;
  /** The values that are filled in. */
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly errors: FieldErrors;
}

/** The messages for the field, or for anything in it. */
export function errorWithin(errors: FieldErrors, path: string): string | undefined {
  const messages = Object.entries(errors)
    .filter(([name]) => name === path || name.startsWith(`${path}.`))
    .flatMap(([, each]) => each ?? []);
  return messages.length === 0 ? undefined : [...new Set(messages)].join(' ');
}
