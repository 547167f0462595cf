/** Returns what an error says, as a part of a longer line. */
export function errorMessage(error: unknown): string {
  // A connection that was tried in several ways fails with one error for all of them.
  if (error instanceof AggregateError) return errorMessage(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}

/** Returns what an error and its causes say, in one line for an operator: the innermost names what is away. */
export function errorReason(error: unknown): string {
  const message = errorMessage(error).replace(/\.$/, '');
  if (!(error instanceof Error) || error.cause === undefined) return `${message}.`;
  const cause = errorReason(error.cause);
  return message.includes(cause.replace(/\.$/, '')) ? `${message}.` : `${message}: ${cause}`;
}
