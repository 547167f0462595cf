/** @returns why it failed, for an operator: without the keys and subjects that only the code knows */
export function plainReason(error: unknown): string {
  const { name, message } = innermost(error);
  if (name === 'TimeoutError') return 'no answer in time';
  if (message.startsWith('no responders')) return 'its server does not have it';
  const [, status] = /\b([1-5]\d\d( \w+)?) ?\)?\.$/.exec(message) ?? [];
  return status === undefined ? message : `its server answers ${status}`;
}

function innermost(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  return error.cause instanceof Error ? innermost(error.cause) : error;
}
