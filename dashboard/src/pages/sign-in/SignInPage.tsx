import { useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { type SessionEnd, session } from '../../session/session.ts';
import { signInSearch } from '../../session/sign-in-search.ts';
import { LonePage } from '../../ui/LonePage.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { SendForm } from '../../ui/SendForm.tsx';
import { TextField } from '../../ui/TextField.tsx';
import styles from './SignInPage.module.css';

const REASONS: Readonly<Record<SessionEnd, string>> = {
  ended: 'Your session has ended. Sign in to go on.',
  'password-changed':
    'The password is changed, and all sessions have ended. Sign in with the new one.',
  'all-ended': 'All sessions of the account have ended. Sign in to go on.',
  'other-account':
    'Another account has signed in in another tab. A browser has one session at a time: sign in again to go on here.',
};

const route = getRouteApi('/sign-in');

export default function SignInPage() {
  // The router keeps beside the valid parameters what its validation has left out.
  const { from = '/', reason } = signInSearch({ ...route.useSearch() });
  const router = useRouter();
  const queries = useQueryClient();
  return (
    <LonePage title="Sign in" heading="Sign in to Pressledger">
      {reason !== undefined && <Notice kind="info">{REASONS[reason]}</Notice>}
      {!globalThis.isSecureContext && (
        <Notice kind="warning">
          This page came over plain HTTP, so the browser will not keep your session, and others in
          the network could read your password. Open it over HTTPS, or at localhost.
        </Notice>
      )}
      <SendForm
        action="Sign in"
        onSend={async (textOf) => {
          await session.signIn(textOf('email'), textOf('password'));
          queries.clear();
          router.history.push(from);
        }}
      >
        <TextField
          label="Email"
          name="email"
          type="email"
          autoComplete="username"
          isRequired
          autoFocus
        />
        <TextField
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          isRequired
        />
      </SendForm>
      <p className={styles.note}>
        Forgot your password? Ask the people who run this service for a link that sets another.
      </p>
    </LonePage>
  );
}
