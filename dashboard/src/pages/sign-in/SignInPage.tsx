import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useRouter } from '@tanstack/react-router';
import { offersQuery } from '../../api/without-sign-in.ts';
import type { SessionEnd } from '../../session/session.ts';
import { signInSearch } from '../../session/sign-in-search.ts';
import { ButtonAnchor } from '../../ui/Button.tsx';
import { LonePage } from '../../ui/LonePage.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { SignInForm } from '../../ui/SignInForm.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { PasskeySignIn } from './PasskeySignIn.tsx';
import styles from './SignInPage.module.css';
import { rich, t } from '../../words/rich.ts';

const REASONS: Readonly<Record<SessionEnd, string>> = {
  ended: t('Your session has ended. Sign in to go on.'),
  'password-changed': t(
    'The password is changed, and all sessions have ended. Sign in with the new one.',
  ),
  'all-ended': t('All your sessions have ended. Sign in to go on.'),
  'other-account': t(
    'Another account has signed in in another tab. A browser has one session at a time: sign in again to go on here.',
  ),
};

const AGAIN = t('Try again, or sign in with your password.');

/** By what the service says of a sign-in with the identity provider; any other word is not shown. */
const REFUSALS: Readonly<Record<string, string>> = {
  away: t('The identity provider does not answer right now. {AGAIN}', { AGAIN }),
  refused: t('The identity provider did not sign you in. {AGAIN}', { AGAIN }),
  invalid: t(
    'The identity provider gave an answer that cannot be trusted, or that was used before. {AGAIN}',
    { AGAIN },
  ),
  stale: t(
    'This sign-in was not begun in this browser, or it took longer than ten minutes. {AGAIN}',
    { AGAIN },
  ),
  failed: t('The service could not sign you in. {AGAIN}', { AGAIN }),
  'too-many': t('You have signed in too often in the last minutes. Wait a quarter of an hour.'),
  unverified: t(
    'The identity provider has not verified your email address. Verify it there, then try again.',
  ),
  'not-admitted': t(
    'You are not among the people who may come here with the identity provider. Ask the people who run this service.',
  ),
  unknown: t(
    'Nobody here has the email address that the identity provider gave. Ask an owner of the account for an invitation.',
  ),
  'other-person': t(
    'Your email address was somebody else’s at the identity provider before. Ask the people who run this service.',
  ),
  'no-account': t(
    'You do not belong to the account any more. Ask an owner of the account for an invitation.',
  ),
  full: t('The account has as many members as it may have. Ask an owner of the account.'),
  suspended: t('The account is suspended. Ask the people who run this service.'),
};

const route = getRouteApi('/sign-in');

export default function SignInPage() {
  // The router keeps beside the valid parameters what its validation has left out.
  const { from = '/', reason, provider: refusal = '' } = signInSearch({ ...route.useSearch() });
  const router = useRouter();
  const queries = useQueryClient();
  const { provider = null, mail = false, sign_up: signUp } = useQuery(offersQuery).data ?? {};
  const refused = Object.hasOwn(REFUSALS, refusal) ? REFUSALS[refusal] : undefined;
  const goOn = () => {
    queries.clear();
    router.history.push(from);
  };
  return (
    <LonePage title={t('Sign in')} heading={t('Sign in to Pressledger')}>
      {reason !== undefined && <Notice kind="info">{REASONS[reason]}</Notice>}
      {refused !== undefined && <Notice kind="danger">{refused}</Notice>}
      {!globalThis.isSecureContext && (
        <Notice kind="warning">
          {t(
            'This page came over plain HTTP, so the browser will not keep your session, and others in the network could read your password. Open it over HTTPS, or at localhost.',
          )}
        </Notice>
      )}
      <SignInForm
        onSignedIn={async () => {
          goOn();
          return undefined;
        }}
      >
        <TextField
          label={t('Email')}
          name="email"
          type="email"
          autoComplete="username webauthn"
          isRequired
          autoFocus
        />
        <TextField
          label={t('Password')}
          name="password"
          type="password"
          autoComplete="current-password"
          isRequired
        />
      </SignInForm>
      <PasskeySignIn onSignedIn={goOn} />
      {provider !== null && (
        <ButtonAnchor href={`/dashboard/oidc/start?from=${encodeURIComponent(from)}`}>
          {rich('Sign in with {provider}', { provider })}
        </ButtonAnchor>
      )}
      {signUp === 'open' && (
        <p className={styles.note}>
          {rich('No account yet? <link>Open one</link> with your email address.', {
            link: <Link to="/sign-up" />,
          })}
        </p>
      )}
      <p className={styles.note}>
        {mail ? (
          <Link to="/reset-password">{t('Forgot your password?')}</Link>
        ) : (
          t(
            'Forgot your password? Ask the people who run this service for a link that sets another.',
          )
        )}
      </p>
    </LonePage>
  );
}
