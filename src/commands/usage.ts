import { AS_OF, pastOf } from './as-of.ts';
import type { Command } from './command.ts';
import { dateOf, LIMIT, limitOf, SERVICE_OPTIONS, serviceOf, take } from './service.ts';

export const usage: Command = {
  name: 'usage',
  usage: '',
  summary: 'Show your plan and credits, the ledger, and the requests left this minute.',
  examples: ['usage', 'usage --limit 100 --json', 'usage --as-of 2026-11-21T08:15:30Z'],
  positionals: {},
  options: { limit: LIMIT, 'as-of': AS_OF, ...SERVICE_OPTIONS },
  run: async (invocation, context) => {
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
        ['credits', String(account.credits)],
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
  },
};
