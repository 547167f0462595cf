import { type ErrorComponentProps, Link, Outlet } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { ButtonLink } from './Button.tsx';
import styles from './LonePage.module.css';
import { ErrorState } from './Page.tsx';
import { t } from '../words/words.ts';
import { LanguageChoice } from './LanguageChoice.tsx';
import { session } from '../session/session.ts';
import { AppShell } from './AppShell.tsx';
import publicFrameStyles from './PublicFrame.module.css';

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
      <div className={styles.frame}>
        <header className="stack">
          <img src="/favicon.svg" alt="" width="36" height="36" />
          <h1 className={styles.title}>{heading}</h1>
        </header>
        {children}
        <LanguageChoice className="note" />
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

/**
 * Shown where a page could not be loaded or failed while it was drawn. A browser does not ask again for a script that
 * failed, and after an update its name is another, so the whole page is loaded again.
 */
export function PageError({ error }: ErrorComponentProps) {
  return (
    <LonePage title={t('Not shown')} heading={t('This page cannot be shown')}>
      <ErrorState error={error} onRetry={() => globalThis.location.reload()} />
    </LonePage>
  );
}

/** The frame of a page that serves people without an account, too. */
export function FrameOfAnybody() {
  return session.state === 'open' ? <AppShell /> : <PublicFrame />;
}

function PublicFrame() {
  return (
    <div className={publicFrameStyles.frame}>
      <header className={publicFrameStyles.bar}>
        <Link to="/" className={publicFrameStyles.name}>
          <img src="/favicon.svg" alt="" width="28" height="28" />
          {t('Pressledger')}
        </Link>
        <LanguageChoice className="note" />
        <ButtonLink to="/sign-in" search={{ from: '/verify' }} look="quiet">
          {t('Sign in')}
        </ButtonLink>
      </header>
      <main className={publicFrameStyles.content}>
        <Outlet />
      </main>
    </div>
  );
}
