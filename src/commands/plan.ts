import { PLANS } from '../domain/events.ts';
import { changePlan } from '../use-cases/administration.ts';
import { operatorContext } from '../use-cases/command-context.ts';
import { ACCOUNT, accountByEmail, parsePlan } from './account.ts';
import type { Command } from './command.ts';

export const planSet: Command = {
  name: 'plan set',
  usage: '<email> <plan>',
  summary: 'Change the plan of an account.',
  examples: ['plan set ann@example.com pro'],
  positionals: { email: ACCOUNT, plan: PLANS.join(', ') },
  argumentChoices: PLANS,
  options: {},
  run: async ({ positionals: [email = '', name = ''] }, { withCore, output }) => {
    const plan = parsePlan(name);
    await withCore(async (core) => {
      const { id } = await accountByEmail(core, email);
      await changePlan(core, id, plan, operatorContext(core.clock));
      output.json({ email, plan });
      output.line(`${email} is on plan ${plan}.`);
    });
  },
};
