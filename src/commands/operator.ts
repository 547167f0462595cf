import { operatorContext } from '../use-cases/command-context.ts';
import { setOperator } from '../use-cases/administration.ts';
import { ACCOUNT, accountByEmail } from './account.ts';
import { type Command, UsageError } from './command.ts';

export const accountOperator: Command = {
  name: 'account operator',
  usage: '<email>',
  summary: 'Let an account act for the service in the dashboard, or end that.',
  positionals: { email: ACCOUNT },
  examples: [
    'account operator ann@example.com --grant',
    'account operator ann@example.com --revoke',
  ],
  options: {
    grant: { help: 'make the account an operator: it sees and changes all accounts' },
    revoke: { help: 'end that; the next request of the account as an operator is refused' },
  },
  run: async ({ positionals: [email = ''], values }, { withCore, output }) => {
    const isGranted = values['grant'] === true;
    if (isGranted === (values['revoke'] === true)) {
      throw new UsageError('Give --grant or --revoke.');
    }
    await withCore(async (core) => {
      const { id } = await accountByEmail(core, email);
      await setOperator(core, id, isGranted, operatorContext(core.clock));
      output.json({ id, email, operator: isGranted });
      output.line(`${email} is ${isGranted ? 'an' : 'no'} operator of the service.`);
    });
  },
};
