import { useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Button } from 'react-aria-components';
import { Icon } from './icons.tsx';
import styles from './Page.module.css';
import { t } from '../words/words.ts';

interface PageProps {
  readonly title: string;
  /** One or two sentences on what the page is for. */
  readonly lead?: ReactNode;
  /** Buttons and links that concern the whole page. */
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}

/** The path that was shown last: the first page of a visit leaves the focus where the browser has it. */
let shownPath: string | undefined;

/** A page with its heading, which takes the focus after a navigation, so that a screen reader says it. */
export function Page({ title, lead, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  // The page before is still shown while the next one loads: it must not take the focus.
  const pathname = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  useEffect(() => {
    document.title = t('{title} · Pressledger', { title });
  }, [title]);
  useEffect(() => {
    if (pathname === undefined) return;
    if (shownPath !== undefined && shownPath !== pathname) heading.current?.focus();
    shownPath = pathname;
  }, [pathname]);
  return (
    <div className={styles.page}>
      <header className={styles.header}>
        <div className={styles.titles}>
          <h1 ref={heading} tabIndex={-1} dir="auto" className={styles.title}>
            {title}
          </h1>
          {lead !== undefined && <p className={styles.lead}>{lead}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** The width up to which lists are shown as cards, too. */
const NARROW = matchMedia('(max-width: 44rem)');

function subscribe(listener: () => void): () => void {
  NARROW.addEventListener('change', listener);
  return () => NARROW.removeEventListener('change', listener);
}

interface Fold {
  /** False on a wide screen, where everything is shown. */
  readonly canFold: boolean;
  readonly isShown: boolean;
  readonly toggle: () => void;
}

/** A part that a narrow screen shows when a person asks for it. @param isFolded as it is at first */
export function useFold(isFolded: boolean): Fold {
  const canFold = useSyncExternalStore(subscribe, () => NARROW.matches);
  const [isOpen, setOpen] = useState(!isFolded);
  return { canFold, isShown: isOpen || !canFold, toggle: () => setOpen(!isOpen) };
}

interface SectionProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  /** A long part, which a person opens and closes on a narrow screen: as it is at first. */
  readonly fold?: 'open' | 'closed';
  readonly children: ReactNode;
}

/** A part of a page in a frame of its own. */
export function Section({ title, lead, actions, fold, children }: SectionProps) {
  const { canFold, isShown, toggle } = useFold(fold === 'closed');
  return (
    <section className={styles.section}>
      <header className={styles.header}>
        <div className={styles.titles}>
          <h2>
            {fold !== undefined && canFold ? (
              <Button aria-expanded={isShown} onPress={toggle} className={styles.fold}>
                {title}
                <Icon name="chevronDown" />
              </Button>
            ) : (
              title
            )}
          </h2>
          {lead !== undefined && <p className={`${styles.lead} note`}>{lead}</p>}
        </div>
        {actions !== undefined && <div className={styles.actions}>{actions}</div>}
      </header>
      {(fold === undefined || isShown) && children}
    </section>
  );
}
