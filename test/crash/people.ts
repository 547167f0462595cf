/** The people of a deployment: an operator, an owner, an account that is suspended, and their mails. */
import { cliJson } from '../support/cli.ts';
import type { ReceivedMail } from '../support/mail-server.ts';
import type { Place } from '../support/place.ts';
import type { Client, Login } from './promises.ts';

export const MONTHLY_CREDITS = 7;
export const PEOPLE_SETTINGS = {
  PLANS: JSON.stringify({ monthly: { rate_limit: 100_000, credits_monthly: MONTHLY_CREDITS } }),
  MAIL_FROM: 'pdf@example.com',
};

export interface People {
  readonly operator: Login & { readonly accountId: string };
  readonly owner: Login & { readonly client: Client };
  /** The account that is suspended in each round; no other client converts with it. */
  readonly quiet: Client;
  readonly mails: readonly ReceivedMail[];
}

/** Gives people passwords that they know. */
export async function meetPeople(
  place: Place,
  [operator, owner, quiet]: readonly [Client, Client, Client],
  mails: readonly ReceivedMail[],
): Promise<People> {
  const login = async ({ email, accountId }: Client) => {
    const set = await cliJson(place, ['account', 'password', email]);
    return { email, accountId, password: (set as { password: string }).password };
  };
  return {
    operator: await login(operator),
    owner: { ...(await login(owner)), client: owner },
    quiet,
    mails,
  };
}
