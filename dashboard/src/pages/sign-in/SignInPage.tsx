import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useRouter } from '@tanstack/react-router';
import { offersQuery, passkeyOptions } from '../../api/without-sign-in.ts';
import { session, type SessionEnd } from '../../session/session.ts';
import { Button, ButtonAnchor } from '../../ui/Button.tsx';
import { LonePage } from '../../ui/LonePage.tsx';
import { FailureNotice, Notice } from '../../ui/Page.tsx';
import { TextField } from '../../ui/forms.tsx';
import { SignInForm } from '../../ui/SignInForm.tsx';
import styles from './SignInPage.module.css';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';
import { useEffect, useRef } from 'react';
import { fillsInPasskeys, type UsedPasskey, usePasskey, whyNone } from '../../api/passkeys.ts';
import { useSending } from '../../ui/sending.ts';

const REASONS: Readonly<Record<SessionEnd, string>> = {
  ended: t('Your session has ended. Sign in to go on.'),
  'password-changed': t(
    'The password is changed, and all sessions have ended. Sign in with the new one.',
  ),
  'address-changed': t(
    'Your address is changed, and all sessions have ended. Sign in with the new one.',
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
  unproven: t(
    'Somebody used your email address here before, and nobody has proven that it was you. Ask the people who run this service to prove your address.',
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
  const { from = '/', reason, provider: refusal = '' } = route.useSearch();
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

/** The service takes an answer for five minutes. */
const RENEWED_AFTER_MS = 4 * 60 * 1000;

/** Waits until a passkey is chosen in the browser's list. @returns undefined where it is time for other options */
async function chosen(signal: AbortSignal): Promise<UsedPasskey | undefined> {
  const ends = AbortSignal.any([signal, AbortSignal.timeout(RENEWED_AFTER_MS)]);
  try {
    return await usePasskey(await passkeyOptions(), { mediation: 'conditional', signal: ends });
  } catch (error) {
    if (!ends.aborted) throw error;
    return undefined;
  }
}

/** Offers passkeys in the browser's list until one has signed in. @param sign says whether it has */
async function fillIn(signal: AbortSignal, sign: (passkey: UsedPasskey) => Promise<boolean>) {
  if (!(await fillsInPasskeys())) return;
  while (!signal.aborted) {
    const passkey = await chosen(signal);
    if (passkey !== undefined && (await sign(passkey))) return;
  }
}

export function PasskeySignIn({ onSignedIn }: { readonly onSignedIn: () => void }) {
  const { isPending, failure, send } = useSending();
  const filling = useRef<AbortController>(undefined);
  const sign = async (passkey: UsedPasskey) => {
    await session.signInWithPasskey(passkey);
    onSignedIn();
  };
  const begin = () => {
    const controller = new AbortController();
    filling.current = controller;
    // Nobody has asked for it: without it, the button and the password are there.
    fillIn(controller.signal, (passkey) => send(() => sign(passkey))).catch(() => {});
  };
  // oxlint-disable-next-line react/exhaustive-deps -- once, while the page is shown
  useEffect(() => {
    begin();
    return () => filling.current?.abort();
  }, []);
  if (whyNone() !== undefined) return null;
  const press = () =>
    send(async () => {
      // A browser asks one thing at a time.
      filling.current?.abort();
      try {
        await sign(await usePasskey(await passkeyOptions()));
      } catch (error) {
        begin();
        throw error;
      }
    });
  return (
    <>
      {failure !== undefined && <FailureNotice error={failure} />}
      <Button isPending={isPending} onPress={() => void press()}>
        {t('Sign in with a passkey')}
      </Button>
    </>
  );
}
