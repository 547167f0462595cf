import { ACCOUNT } from './account.ts';
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
  run: async ({ positionals: [email = ''], values }, { withOperator, output }) => {
    const isGranted = values['grant'] === true;
    if (isGranted === (values['revoke'] === true)) {
      throw new UsageError('Give --grant or --revoke.');
    }
    await withOperator(async (api) => {
      const { id } = await api.account(email);
      await api.post(`/operator/accounts/${id}/operator/`, { operator: isGranted });
      output.json({ id, email, operator: isGranted });
      output.line(`${email} is ${isGranted ? 'an' : 'no'} operator of the service.`);
    });
  },
};
