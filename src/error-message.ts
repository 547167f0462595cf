/** Returns what an error says, as a part of a longer line. */
export function errorMessage(error: unknown): string {
  // A connection that was tried in several ways fails with one error for all of them.
  if (error instanceof AggregateError) return errorMessage(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
