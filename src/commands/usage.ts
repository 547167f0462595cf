import { pastOf } from './as-of.ts';
import type { Run } from './command.ts';
import { dateOf, limitOf, serviceOf, take } from './service.ts';

export const usage: Run = async (invocation, context) => {
  const limit = limitOf(invocation);
  const { client, server, rateLimit } = await serviceOf(invocation, context);
  const past = pastOf(invocation);
  const ledger = await take(limit, (query) => client.ledger({ ...query, ...past }));
  const account = await client.account(past);
  const rate = rateLimit() ?? null;
  context.output.json({ server, account, rate_limit: rate, ledger });
  context.output.table(
    [],
    [
      ['server', server],
      ['account', account.email],
      ['plan', account.plan],
      ['credits', String(account.credits ?? 'off')],
      ['requests left', rate && `${rate.remaining} of ${rate.limit}`],
      ['limit resets at', dateOf(rate?.reset_at)],
    ],
  );
  context.output.line('');
  context.output.table(
    ['TIME', 'TYPE', 'AMOUNT', 'BALANCE', 'CONVERSION'],
    ledger.map(({ created_at, type, amount, balance, conversion_id }) => [
      dateOf(created_at),
      type,
      amount,
      balance,
      conversion_id,
    ]),
    'No credits were ever granted or used.',
  );
};
