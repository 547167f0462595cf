import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { acceptInvitation, invitationOf } from '../../api/without-sign-in.ts';
import { joinSignedIn, openPersonQuery, roleName } from '../../api/people.ts';
import { PERSON, queryClient } from '../../api/client.ts';
import { session } from '../../session/session.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { LonePage } from '../../ui/LonePage.tsx';
import { Loaded, Notice } from '../../ui/Page.tsx';
import {
  NewPassword,
  SendForm,
  SHORTEST_PASSWORD,
  TextField,
  type TextOf,
} from '../../ui/forms.tsx';
import { Time } from '../../ui/time.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

/** Takes an invitation by its link. Its token stands behind #, which is sent to no server. */
export default function InvitationPage() {
  const [token] = useState(() => globalThis.location.hash.slice(1));
  const navigate = useNavigate();
  const [joined, setJoined] = useState<'signed in' | 'by password'>();
  const query = useQuery({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) => invitationOf(token, signal),
    retry: false,
    enabled: joined === undefined,
  });
  const send = async (textOf: TextOf) => {
    const password = textOf('password');
    const { email, account } = await acceptInvitation(token, { name: textOf('name'), password });
    try {
      await session.signIn(email, password, { account });
      queryClient.clear();
      await navigate({ to: '/' });
    } catch {
      // A second factor is needed, or the identity provider.
      setJoined('by password');
    }
  };
  const person = useQuery(openPersonQuery).data ?? null;
  const isTheirs = (email: string) => person?.email?.toLowerCase() === email.toLowerCase();
  const sendSignedIn = async () => {
    await joinSignedIn(token);
    await queryClient.invalidateQueries({ queryKey: PERSON });
    setJoined('signed in');
  };
  if (joined !== undefined) {
    const isSignedIn = joined === 'signed in';
    return (
      <LonePage title={t('Welcome')} heading={t('You have joined the account')}>
        <p role="status">
          {isSignedIn
            ? t('It is among your accounts on the page Account.')
            : t('Sign in with your address and your password.')}
        </p>
        <ButtonLink to={isSignedIn ? '/account' : '/sign-in'} look="primary">
          {isSignedIn ? t('Your accounts') : t('Sign in')}
        </ButtonLink>
      </LonePage>
    );
  }
  return (
    <LonePage title={t('Invitation')} heading={t('Join an account')}>
      <Loaded query={query} what={t('the invitation')} lines={3}>
        {({ account_name: account, email, role, expires_at: end }) => (
          <>
            <p>
              {rich('{bdi} invites {bdi2} as {role}. The invitation ends {time}.', {
                bdi: <bdi>{account ?? t('An account')}</bdi>,
                bdi2: <bdi>{email}</bdi>,
                role: roleName(role),
                time: <Time iso={end} />,
              })}
            </p>
            {isTheirs(email) ? (
              <SendForm action={t('Join')} onSend={sendSignedIn}>
                <p>{t('You are signed in with this address: nothing else is needed.')}</p>
              </SendForm>
            ) : (
              <SendForm action={t('Join')} onSend={send}>
                {typeof person?.email === 'string' && (
                  <Notice kind="info">
                    {rich(
                      'This browser is signed in as {bdi}. The invitation is for another address.',
                      { bdi: <bdi>{person.email}</bdi> },
                    )}
                  </Notice>
                )}
                <TextField
                  label={t('Your name')}
                  name="name"
                  autoComplete="name"
                  isRequired
                  autoFocus
                />
                <NewPassword
                  label={t('Password')}
                  email={email}
                  hint={t(
                    'If this address signs in here already, its password. Else a new one of at least {SHORTEST_PASSWORD} characters.',
                    { SHORTEST_PASSWORD },
                  )}
                />
              </SendForm>
            )}
          </>
        )}
      </Loaded>
    </LonePage>
  );
}
