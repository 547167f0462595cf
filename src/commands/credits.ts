import { MAX_BALANCE } from '../domain/account.ts';
import { grantCredits } from '../use-cases/administration.ts';
import { operatorContext } from '../use-cases/command-context.ts';
import { ACCOUNT, accountByEmail } from './account.ts';
import { type Command, counted, wholeNumber } from './command.ts';

export const creditsGrant: Command = {
  name: 'credits grant',
  usage: '<email> <credits>',
  summary: 'Give an account more credits.',
  examples: ['credits grant ann@example.com 500'],
  positionals: { email: ACCOUNT, credits: 'how many more' },
  options: {},
  run: async ({ positionals: [email = '', count = ''] }, { withCore, output }) => {
    const amount = wholeNumber(count, '<credits>', 1, MAX_BALANCE);
    await withCore(async (core) => {
      const { id } = await accountByEmail(core, email);
      const { credits } = await grantCredits(core, id, { amount }, operatorContext(core.clock));
      output.json({ email, credits });
      output.line(`${email} now has ${counted(credits, 'credit')}.`);
    });
  },
};
