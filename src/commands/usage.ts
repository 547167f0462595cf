/** The use of an account at a service: its credits and ledger, and the statement of a month. */
import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { pastOf } from './as-of.ts';
import { type Run, textOption } from './command.ts';
import { completed } from './conversions.ts';
import { pdfTarget } from './pdf-target.ts';
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

export const usageStatement: Run = async (invocation, context) => {
  const [month = ''] = invocation.positionals;
  const service = await serviceOf(invocation, context);
  const name = textOption(invocation, 'output') ?? `statement-${month.replace(/[^\d-]/g, '')}.pdf`;
  const target = await pdfTarget(name, context);
  // Sent again where the answer was lost, it makes one.
  const { id } = await service.client.createStatement(month, { idempotencyKey: randomUUID() });
  const record = await completed(service, id, context);
  const facts = await target.write(async () =>
    Readable.fromWeb(await service.client.download(record)),
  );
  context.output.json(record);
  target.tell(id, facts);
};
