import { Link, Outlet } from '@tanstack/react-router';
import { session } from '../session/session.ts';
import { AppShell } from './AppShell.tsx';
import { ButtonLink } from './Button.tsx';
import { LanguageChoice } from './LanguageChoice.tsx';
import styles from './PublicFrame.module.css';
import { t } from '../words/words.ts';

/** The frame of a page that serves people without an account, too. */
export function FrameOfAnybody() {
  return session.state === 'open' ? <AppShell /> : <PublicFrame />;
}

function PublicFrame() {
  return (
    <div className={styles.frame}>
      <header className={styles.bar}>
        <Link to="/" className={styles.name}>
          <img src="/favicon.svg" alt="" width="28" height="28" />
          {t('Pressledger')}
        </Link>
        <LanguageChoice className="note" />
        <ButtonLink to="/sign-in" search={{ from: '/verify' }} look="quiet">
          {t('Sign in')}
        </ButtonLink>
      </header>
      <main className={styles.content}>
        <Outlet />
      </main>
    </div>
  );
}
