import { MAX_BALANCE } from '../domain/account.ts';
import { ACCOUNT } from './account.ts';
import { type Command, counted, wholeNumber } from './command.ts';
import type { Account } from './operator-api.ts';

export const creditsGrant: Command = {
  name: 'credits grant',
  usage: '<email> <credits>',
  summary: 'Give an account more credits.',
  examples: ['credits grant ann@example.com 500'],
  positionals: { email: ACCOUNT, credits: 'how many more' },
  options: {},
  run: async ({ positionals: [email = '', count = ''] }, { withOperator, output }) => {
    const amount = wholeNumber(count, '<credits>', 1, MAX_BALANCE);
    await withOperator(async (api) => {
      const { id } = await api.account(email);
      const { credits } = await api.post<Account>(`/operator/accounts/${id}/credits/`, { amount });
      output.json({ email, credits });
      output.line(`${email} now has ${counted(credits, 'credit')}.`);
    });
  },
};
