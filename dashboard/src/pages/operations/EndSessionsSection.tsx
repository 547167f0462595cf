import { useAccount } from '../../api/account.ts';
import { api, dataOf } from '../../api/client.ts';
import { session } from '../../session/session.ts';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Section } from '../../ui/Page.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { type AccountDetails, forgetAccounts } from './operator-api.ts';

const endedText = (sessions: number): string => {
  if (sessions === 0) return 'No session was open.';
  return sessions === 1
    ? 'One session has ended.'
    : `${formatNumber(sessions)} sessions have ended.`;
};

async function endSessions(id: string, isOwn: boolean): Promise<void> {
  const { sessions_ended: ended } = await dataOf(
    api.POST('/api/v1/operator/accounts/{id}/sessions/end/', { params: { path: { id } } }),
  );
  if (isOwn) {
    session.end('all-ended');
    return;
  }
  announce(endedText(ended));
  await forgetAccounts();
}

const countText = (sessions: number): string => {
  if (sessions === 0) return 'No session is open.';
  return sessions === 1 ? 'One session is open.' : `${formatNumber(sessions)} sessions are open.`;
};

export function EndSessionsSection({ account }: { readonly account: AccountDetails }) {
  const { id, email, sessions } = account;
  const isOwn = useAccount().data?.id === id;
  return (
    <Section
      title="Sessions"
      actions={
        <ConfirmButton
          text="End all sessions"
          title={`End all sessions of ${email}?`}
          action="End all sessions"
          onConfirm={() => endSessions(id, isOwn)}
        >
          <p>
            Everybody who is signed in to the account is signed out at once
            {isOwn && ', also you, here'}. The password and the API keys stay valid.
          </p>
        </ConfirmButton>
      }
    >
      <p>{countText(sessions)}</p>
    </Section>
  );
}
