import type { Command } from './command.ts';
import { dateOf, LIMIT, limitOf, SERVICE_OPTIONS, serviceOf, take } from './service.ts';

export const usage: Command = {
  name: 'usage',
  usage: '',
  summary: 'Show your plan and credits, the ledger, and the requests left this minute.',
  examples: ['usage', 'usage --limit 100 --json'],
  positionals: {},
  options: { limit: LIMIT, ...SERVICE_OPTIONS },
  run: async (invocation, context) => {
    const limit = limitOf(invocation);
    const { client, server, rateLimit } = await serviceOf(invocation, context);
    const ledger = await take(limit, (query) => client.ledger(query));
    const account = await client.account();
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
