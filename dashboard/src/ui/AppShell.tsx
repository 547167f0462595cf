import { useQueryClient } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { errorText } from '../api/error.ts';
import { useLiveState, useLiveStream } from '../api/live-conversions.ts';
import { usePerson, useRights } from '../api/people.ts';
import { session } from '../session/session.ts';
import styles from './AppShell.module.css';
import { Button, IconButton } from './Button.tsx';
import { Icon, type IconName } from './icons.tsx';
import { useSending } from './sending.ts';
import { announce, Toasts } from './Toasts.tsx';

interface Place {
  readonly to: string;
  readonly label: string;
  readonly icon: IconName;
  /** Its sub-pages have entries of their own. */
  readonly exact?: boolean;
  /** Auditors have nothing to do there. */
  readonly toWork?: boolean;
}

const PLACES: readonly Place[] = [
  { to: '/', label: 'Home', icon: 'home', exact: true },
  { to: '/conversions', label: 'Conversions', icon: 'document' },
  { to: '/batches', label: 'Batches', icon: 'stack' },
  { to: '/playground', label: 'Playground', icon: 'play', toWork: true },
  { to: '/documents', label: 'Documents', icon: 'pages', toWork: true },
  { to: '/verify', label: 'Verify', icon: 'shield' },
  { to: '/keys', label: 'Keys', icon: 'key' },
  { to: '/webhooks', label: 'Webhooks', icon: 'send' },
  { to: '/usage', label: 'Credits and usage', icon: 'chart' },
  { to: '/history', label: 'History', icon: 'history' },
  { to: '/members', label: 'Members', icon: 'people' },
  { to: '/account', label: 'Account', icon: 'person' },
];

const OPERATOR_PLACES: readonly Place[] = [
  { to: '/operations', label: 'Operations', icon: 'server', exact: true },
  { to: '/operations/accounts', label: 'Accounts', icon: 'people' },
  { to: '/operations/log', label: 'Log', icon: 'list' },
];

function Places({ places }: { readonly places: readonly Place[] }) {
  return (
    <ul className={styles.places}>
      {places.map(({ to, label, icon, exact = false }) => (
        <li key={to}>
          <Link
            to={to}
            className={styles.place}
            activeProps={{ 'aria-current': 'page' }}
            activeOptions={{ exact, includeSearch: false }}
          >
            <Icon name={icon} />
            {label}
          </Link>
        </li>
      ))}
    </ul>
  );
}

function SignOut() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { isPending, send } = useSending();
  const signOut = async () => {
    try {
      await session.signOut();
      queries.clear();
      await navigate({ to: '/sign-in' });
    } catch (error) {
      announce(`You are still signed in. ${errorText(error)}`, 'danger');
    }
  };
  return (
    <Button look="quiet" icon="signOut" isPending={isPending} onPress={() => void send(signOut)}>
      Sign out
    </Button>
  );
}

const TEXTS = {
  lost: 'Connection lost; reconnecting…',
  refused: 'Too many pages are open for live updates. This page asks again by itself.',
} as const;

/** Says while the pages do not hear of changes, and when they do again. */
function ConnectionLine() {
  useLiveStream();
  const state = useLiveState();
  const wasLost = useRef(false);
  useEffect(() => {
    if (state === 'lost') wasLost.current = true;
    if (state !== 'live' || !wasLost.current) return;
    wasLost.current = false;
    announce('Connected again.');
  }, [state]);
  const text = state === 'lost' || state === 'refused' ? TEXTS[state] : undefined;
  return (
    <div role="status" className={styles.connection}>
      {text !== undefined && (
        <p className={styles.lost}>
          <Icon name="offline" />
          {text}
        </p>
      )}
    </div>
  );
}

/** The frame of all pages for people who are signed in. */
export function AppShell() {
  const [isOpen, setOpen] = useState(false);
  const { pathname } = useLocation();
  const { data: person } = usePerson();
  const { mayWork } = useRights();
  // On a phone the menu covers the page, which the person has now chosen.
  useEffect(() => setOpen(false), [pathname]);
  return (
    <div className={styles.shell}>
      <a href="#content" className={styles.skip}>
        Skip to the content
      </a>
      <header className={styles.bar}>
        <IconButton
          label={isOpen ? 'Close the menu' : 'Open the menu'}
          icon={isOpen ? 'close' : 'menu'}
          aria-expanded={isOpen}
          aria-controls="menu"
          onPress={() => setOpen(!isOpen)}
        />
        <span className={styles.name}>Pressledger</span>
      </header>
      <nav
        id="menu"
        aria-label="Pages"
        className={styles.side}
        data-open={isOpen}
        onKeyDown={({ key }) => key === 'Escape' && setOpen(false)}
      >
        <Link to="/" className={styles.brand}>
          Pressledger
        </Link>
        <div className={styles.nav}>
          <Places places={PLACES.filter(({ toWork = false }) => mayWork || !toWork)} />
          {person?.acts_as_operator === true && (
            <>
              <p className={styles.group}>For operators</p>
              <Places places={OPERATOR_PLACES} />
            </>
          )}
        </div>
        <div className={styles.person}>
          <a href="/docs" className={styles.reference}>
            API reference
          </a>
          <span className={styles.email}>{person?.name ?? person?.email}</span>
          <SignOut />
        </div>
      </nav>
      <main id="content" tabIndex={-1} className={styles.content}>
        <Outlet />
      </main>
      <ConnectionLine />
      <Toasts />
    </div>
  );
}
