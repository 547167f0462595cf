import type { ErrorComponentProps } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { ButtonLink } from './Button.tsx';
import styles from './LonePage.module.css';
import { ErrorState } from './states.tsx';

interface LonePageProps {
  /** The title of the window. */
  readonly title: string;
  readonly heading: string;
  readonly children: ReactNode;
}

/** A page outside the frame of those that one is signed in to see. */
export function LonePage({ title, heading, children }: LonePageProps) {
  useEffect(() => {
    document.title = `${title} · Pressledger`;
  }, [title]);
  return (
    <main className={styles.page}>
      <div className={styles.frame}>
        <header className="stack">
          <img src="/favicon.svg" alt="" width="36" height="36" />
          <h1 className={styles.title}>{heading}</h1>
        </header>
        {children}
      </div>
    </main>
  );
}

export function NotFoundPage() {
  return (
    <LonePage title="No such page" heading="There is no such page">
      <p>
        Nothing is at this address of Pressledger. It may be misspelt, or what it showed is gone.
      </p>
      <ButtonLink to="/" look="primary">
        Go to the home page
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
    <LonePage title="Not shown" heading="This page cannot be shown">
      <ErrorState error={error} onRetry={() => globalThis.location.reload()} />
    </LonePage>
  );
}
