/** The API for operators, as their pages ask it. */
import { accountQuery } from '../../api/account.ts';
import { answerOf } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import { queryClient } from '../../api/queries.ts';
import type { components } from '../../api/schema.d.ts';

export type ServiceStatus = components['schemas']['ServiceStatus'];
export type AccountDetails = components['schemas']['AccountDetails'];

type Sending<Data> = Parameters<typeof answerOf<Data>>[0];

/**
 * Takes a successful answer whole. After a refusal it asks whether the person is still an operator, so that
 * the pages say so where not.
 * @throws {ApiError} the service refused the request
 */
export async function operatorAnswer<Data>(sent: Sending<Data>) {
  try {
    return await answerOf(sent);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'forbidden') {
      await queryClient.refetchQueries({ queryKey: accountQuery.queryKey });
    }
    throw error;
  }
}

/**
 * Takes the data of a successful answer.
 * @throws {ApiError} the service refused the request
 */
export const operatorData = async <Data>(sent: Sending<Data>): Promise<Data> =>
  (await operatorAnswer(sent)).data;

/** The key of all that the pages know of accounts. */
export const ACCOUNTS = ['operator', 'accounts'] as const;

/** Asks for accounts again after a change, and for the own account, which may be the one. */
export async function forgetAccounts(): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ACCOUNTS }),
    queryClient.invalidateQueries({ queryKey: accountQuery.queryKey }),
  ]);
}
