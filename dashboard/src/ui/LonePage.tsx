import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { errorText, isForbidden } from '../api/error.ts';
import { Button, ButtonLink } from './Button.tsx';
import styles from './LonePage.module.css';
import { ErrorState, Notice } from './Page.tsx';
import { useSending } from './sending.ts';
import { announce } from './Toasts.tsx';
import { t } from '../words/words.ts';
import { LanguageChoice } from './LanguageChoice.tsx';
import { session } from '../session/session.ts';

interface LonePageProps {
  /** The title of the window. */
  readonly title: string;
  readonly heading: string;
  readonly children: ReactNode;
}

/** A page outside the frame of those that one is signed in to see. */
export function LonePage({ title, heading, children }: LonePageProps) {
  useEffect(() => {
    document.title = t('{title} · Pressledger', { title });
  }, [title]);
  return (
    <main className={styles.page}>
      <div className={`${styles.frame} card stack gap-5 anywhere`}>
        <header className="stack">
          <img src="/favicon.svg" alt="" width="36" height="36" />
          <h1 className={styles.title}>{heading}</h1>
        </header>
        {children}
        <LanguageChoice />
      </div>
    </main>
  );
}

export function NotFoundPage() {
  return (
    <LonePage title={t('No such page')} heading={t('There is no such page')}>
      <p>
        {t(
          'Nothing is at this address of Pressledger. It may be misspelt, or what it showed is gone.',
        )}
      </p>
      <ButtonLink to="/" look="primary">
        {t('Go to the home page')}
      </ButtonLink>
    </LonePage>
  );
}

/** What a link did that ends all sessions of its person. They go to `from` once they have signed in. */
export function SignInAgain({
  from,
  ...shown
}: Omit<LonePageProps, 'children'> & { readonly from: string }) {
  return (
    <LonePage {...shown}>
      <p role="status">{t('All sessions have ended. API keys work as before.')}</p>
      <ButtonLink to="/sign-in" search={{ from }} look="primary">
        {t('Sign in')}
      </ButtonLink>
    </LonePage>
  );
}

/** Signs out, and goes to the page that signs in. */
export function useSignOut() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { isPending, send } = useSending();
  const signOut = async () => {
    try {
      await session.signOut();
      queries.clear();
      await navigate({ to: '/sign-in' });
    } catch (error) {
      announce(t('You are still signed in. {error}', { error: errorText(error) }), 'danger');
    }
  };
  return { isPending, onPress: () => void send(signOut) };
}

/**
 * Shown where a page could not be loaded or failed while it was drawn. A browser does not ask again for a script that
 * failed, and after an update its name is another, so the whole page is loaded again.
 */
export function PageError({ error }: { readonly error: unknown }) {
  const signOut = useSignOut();
  if (isForbidden(error)) {
    return (
      <LonePage title={t('Closed')} heading={t('This account is closed for now')}>
        <Notice kind="danger">{errorText(error)}</Notice>
        <Button look="primary" icon="refresh" onPress={() => globalThis.location.reload()}>
          {t('Try again')}
        </Button>
        <Button icon="signOut" {...signOut}>
          {t('Sign out')}
        </Button>
      </LonePage>
    );
  }
  return (
    <LonePage title={t('Not shown')} heading={t('This page cannot be shown')}>
      <ErrorState error={error} onRetry={() => globalThis.location.reload()} />
    </LonePage>
  );
}
