/** The commands that make links to hand over: who has one needs no other credential. */
import type { CommandContext, Output, Run } from './command.ts';
import { termsOf } from './account.ts';
import { neededReason } from './on-account.ts';
import type { Link } from './operator-api.ts';
import { take } from './service.ts';

/** Asks for a link, and shows it this once. */
async function show(
  { open, output }: CommandContext,
  path: string,
  asked: { readonly email: string },
  does: string,
): Promise<void> {
  await open.withOperator(async (api) => {
    const made = await api.post<Link>(path, asked);
    const { email } = asked;
    output.json({ email, ...made });
    tell(output, email, does, made);
  });
}

function tell(output: Output, email: string, does: string, { link, expires_at: end }: Link): void {
  output.line(`Hand this link over to ${email}. It ${does} once:`);
  output.line(link);
  output.line(`It is valid until ${end}, and shown only now.`);
}

export const accountInvite: Run = async (invocation, context) => {
  const [email = ''] = invocation.positionals;
  const asked = { email, ...termsOf(invocation) };
  await show(context, '/operator/sign-ups/', asked, 'opens an account');
};

export const accountResetLink: Run = async (invocation, context) => {
  const [email = ''] = invocation.positionals;
  const which = 'why somebody is to set the password. Each account of the person reads it.';
  const asked = { email, ...neededReason(invocation, which) };
  await show(context, '/operator/reset-links/', asked, 'sets a password');
};

export const accountInvitations: Run = async (_, { open, output }) => {
  await open.withOperator(async (api) => {
    const links = await take(Infinity, () => api.signUpLinks());
    output.json(links);
    output.table(
      ['ID', 'ADDRESS', 'PLAN', 'CREDITS', 'VALID UNTIL'],
      links.map(({ id, email, plan, credits, expires_at: end }) => [
        id,
        email,
        plan,
        credits,
        new Date(end),
      ]),
      'No link that opens an account is open.',
    );
  });
};

export const accountUninvite: Run = async ({ positionals: [id = ''] }, { open, output }) => {
  await open.withOperator((api) => api.delete(`/operator/sign-ups/${encodeURIComponent(id)}/`));
  output.json({ id });
  output.line('The link opens nothing any more.');
};
