import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { acceptInvitation, invitationOf } from '../../api/without-sign-in.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { LonePage } from '../../ui/LonePage.tsx';
import { SHORTEST_PASSWORD } from '../../ui/passwords.tsx';
import { SendForm, type TextOf } from '../../ui/SendForm.tsx';
import { Loaded } from '../../ui/states.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { Time } from '../../ui/Time.tsx';

/** Takes an invitation by its link. Its token stands behind #, which is sent to no server. */
export default function InvitationPage() {
  const [token] = useState(() => globalThis.location.hash.slice(1));
  const [isDone, setDone] = useState(false);
  const query = useQuery({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) => invitationOf(token, signal),
    retry: false,
    enabled: !isDone,
  });
  const send = async (textOf: TextOf) => {
    await acceptInvitation(token, { name: textOf('name'), password: textOf('password') });
    setDone(true);
    return undefined;
  };
  if (isDone) {
    return (
      <LonePage title="Welcome" heading="You have joined the account">
        <p role="status">Sign in with your address and your password.</p>
        <ButtonLink to="/sign-in" look="primary">
          Sign in
        </ButtonLink>
      </LonePage>
    );
  }
  return (
    <LonePage title="Invitation" heading="Join an account">
      <Loaded query={query} what="the invitation" lines={3}>
        {({ account_name: account, email, role, expires_at: end }) => (
          <>
            <p>
              <bdi>{account ?? 'An account'}</bdi> invites <bdi>{email}</bdi> as {role}. The
              invitation ends <Time iso={end} />.
            </p>
            <SendForm action="Join" onSend={send}>
              <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
              <TextField label="Your name" name="name" autoComplete="name" isRequired autoFocus />
              <TextField
                label="Password"
                name="password"
                type="password"
                autoComplete="new-password"
                minLength={SHORTEST_PASSWORD}
                hint={`If this address signs in here already, its password. Else a new one of at least ${SHORTEST_PASSWORD} characters.`}
                isRequired
              />
            </SendForm>
          </>
        )}
      </Loaded>
    </LonePage>
  );
}
