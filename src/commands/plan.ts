import { accepted } from '../application/accepted.ts';
import { accountActor } from '../application/kinds.ts';
import { operatorContext } from '../application/operator.ts';
import { PLANS } from '../domain/events.ts';
import { ACCOUNT, accountByEmail, parsePlan } from './account.ts';
import type { Command } from './command.ts';

export const planSet: Command = {
  name: 'plan set',
  usage: 'EMAIL PLAN',
  summary: 'Put an account on another plan.',
  positionals: { EMAIL: ACCOUNT, PLAN: PLANS.join(', ') },
  options: {},
  run: async ({ positionals: [email = '', name = ''] }, { withCore, output }) => {
    const plan = parsePlan(name);
    await withCore(async (core) => {
      const { id } = await accountByEmail(core, email);
      accepted(
        await core.actors.send(
          accountActor,
          id,
          { type: 'ChangePlan', accountId: id, plan },
          operatorContext(core.clock),
        ),
      );
      output.json({ email, plan });
      output.line(`${email} is on plan ${plan}.`);
    });
  },
};
