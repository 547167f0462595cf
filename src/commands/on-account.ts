import { type CommandContext, type Invocation, textOption, UsageError } from './command.ts';
import type { OperatorApi } from './operator-api.ts';

const MAX_REASON = 500;

/** The `reason` of a request, where --reason is given. @throws {UsageError} it is blank or too long */
export function reasonIn(invocation: Invocation): { readonly reason?: string } {
  const reason = textOption(invocation, 'reason');
  if (reason === undefined) return {};
  if (reason.trim() === '' || Array.from(reason).length > MAX_REASON) {
    throw new UsageError(`--reason is a text of 1 to ${MAX_REASON} characters.`);
  }
  return { reason };
}

/**
 * @param which says what the reason is of, and who reads it
 * @throws {UsageError} it is not given, blank or too long
 */
export function neededReason(invocation: Invocation, which: string): { readonly reason: string } {
  const { reason } = reasonIn(invocation);
  if (reason === undefined) throw new UsageError(`--reason is needed: ${which}`);
  return { reason };
}

/** The same as the query of a request without a body. */
export function reasonQuery(invocation: Invocation): string {
  const query = new URLSearchParams(reasonIn(invocation)).toString();
  return query === '' ? '' : `?${query}`;
}

/** Asks the operator's API about the account of the first argument. */
export async function onAccount(
  { positionals: [email = ''] }: Invocation,
  { open }: CommandContext,
  act: (api: OperatorApi, id: string, email: string) => Promise<void>,
): Promise<void> {
  await open.withOperator(async (api) => await act(api, (await api.account(email)).id, email));
}
