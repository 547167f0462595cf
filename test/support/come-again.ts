import { isPressledgerError } from '../../client/src/errors.ts';

/** Whether an answer, or none, says no more than that the client may come again. */
export function mayComeAgain(error: unknown): boolean {
  if (isPressledgerError(error, 'service_unavailable')) return true;
  if (!(error instanceof Error)) return false;
  return error.name === 'PressledgerUnreachable' || error.name === 'PressledgerTimeout';
}
