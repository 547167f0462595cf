/** The API for operators, as their pages ask it, some of it every few seconds. */

import { useState } from 'react';
import { queryClient } from '../../api/client.ts';
import { accountQuery } from '../../api/people.ts';
import type { components } from '../../api/schema.d.ts';
import type { SecretProps } from '../../ui/Dialog.tsx';
import { t } from '../../words/words.ts';

export type ServiceStatus = components['schemas']['ServiceStatus'];
export type AccountDetails = components['schemas']['AccountDetails'];
export type Activity = components['schemas']['AccountActivity'];

export interface AtAccount {
  readonly account: AccountDetails;
  /** It is the operator's own. */
  readonly isOwn: boolean;
  /** What was seen of its keys and use, once the operator has asked for it. */
  readonly activity: Activity | undefined;
  readonly onActivity: (activity: Activity) => void;
  readonly showSecret: (secret: SecretProps) => void;
  readonly onErased: () => void;
}

/** The key of all that the pages know of accounts. */
export const ACCOUNTS = ['operator', 'accounts'] as const;

/** Asks for accounts again after a change, and for the own account, which may be the one. */
export async function forgetAccounts(): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: ACCOUNTS }),
    queryClient.invalidateQueries({ queryKey: accountQuery.queryKey }),
  ]);
}

const EVERY_SECONDS = 5;
export const EVERY_TEXT = t('every {EVERY_SECONDS} seconds', { EVERY_SECONDS });

/**
 * The options of a query that is repeated until a person pauses it. It is not tried again in between: the next
 * turn is soon, and a person learns at once that the connection is lost.
 */
export const repeated = (isPaused: boolean, everySeconds = EVERY_SECONDS) =>
  ({
    refetchInterval: isPaused ? false : everySeconds * 1000,
    // While paused, a return to the page must not change it.
    staleTime: isPaused ? Number.POSITIVE_INFINITY : 0,
    networkMode: 'always',
    retry: false,
  }) as const;

/** Keeps rows in the order in which they came first: a row that moves takes the focus and the eye with it. */
export function useSteadyOrder<Row>(rows: readonly Row[], keyOf: (row: Row) => string) {
  const [places] = useState(() => new Map<string, number>());
  for (const row of rows) {
    const key = keyOf(row);
    if (!places.has(key)) places.set(key, places.size);
  }
  const placeOf = (row: Row): number => places.get(keyOf(row)) ?? 0;
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b));
}
