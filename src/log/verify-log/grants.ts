import type { EventOf } from '../../domain/events.ts';
import { Broken } from './difference.ts';
import type { Account } from './states.ts';

/**
 * Checks that a grant is whole, and that a plan gives each month's credits once.
 * @throws {Broken}
 */
export function checkGrant(
  { state: { renewedMonth } }: Account,
  { idempotencyKey, grantedAt, month }: EventOf<'CreditGranted'>['data'],
): void {
  if ((idempotencyKey === undefined) !== (grantedAt === undefined)) {
    throw new Broken('idempotencyKey and grantedAt, or neither', 'one of them');
  }
  if (month !== undefined && month <= renewedMonth) {
    throw new Broken(`a grant for a month after ${renewedMonth}`, `one for ${month}`);
  }
}
