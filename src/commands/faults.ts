import { PressledgerError } from '../client/errors.ts';
import { ConfigError } from '../config.ts';
import { ServiceError } from '../errors.ts';
import { CONVERT_FLAGS } from './convert-options.ts';

/** A field of a request, by the option that sets it where there is one. */
function optionFor(field: string): string {
  const name = field.replaceAll('_', '-');
  return name in CONVERT_FLAGS ? `--${name}` : field;
}

/** One line for each thing to mend: what went wrong, and what lay below it where that says more. */
export function faultsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems;
  if (error instanceof ServiceError || error instanceof PressledgerError) {
    const fields = Object.entries(error.details ?? {});
    const lines = fields.flatMap(([field, faults]) =>
      faults.map((fault) => `${optionFor(field)}: ${fault}`),
    );
    if (lines.length > 0) return lines;
  }
  const text = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  return [cause === '' || text.includes(cause) ? text : `${text} (${cause})`];
}
