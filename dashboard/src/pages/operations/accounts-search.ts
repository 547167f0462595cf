import { pageOf } from '../../api/paged.ts';

/** The list of accounts that an address of the page names. */
export interface AccountsSearch {
  /** The whole address that is searched for. */
  readonly email?: string;
  readonly page?: number;
}

/** Leaves out what the page does not know: an address may be typed by hand. */
export function accountsSearch({ email, page }: Record<string, unknown>): AccountsSearch {
  return {
    ...(typeof email === 'string' && email.trim() !== '' && { email }),
    ...pageOf(page),
  };
}
