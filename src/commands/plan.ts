import { PLANS } from '../domain/events.ts';
import { ACCOUNT, parsePlan } from './account.ts';
import type { Command } from './command.ts';

export const planSet: Command = {
  name: 'plan set',
  usage: '<email> <plan>',
  summary: 'Change the plan of an account.',
  examples: ['plan set ann@example.com pro'],
  positionals: { email: ACCOUNT, plan: PLANS.join(', ') },
  argumentChoices: PLANS,
  options: {},
  run: async ({ positionals: [email = '', name = ''] }, { withOperator, output }) => {
    const plan = parsePlan(name);
    await withOperator(async (api) => {
      const { id } = await api.account(email);
      await api.post(`/operator/accounts/${id}/plan/`, { plan });
      output.json({ email, plan });
      output.line(`${email} is on plan ${plan}.`);
    });
  },
};
