import { type ReactNode, useEffect } from 'react';
import styles from './LonePage.module.css';

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
        <header className={styles.header}>
          <img src="/favicon.svg" alt="" width="36" height="36" />
          <h1 className={styles.title}>{heading}</h1>
        </header>
        {children}
      </div>
    </main>
  );
}
