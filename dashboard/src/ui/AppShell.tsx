import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { isForbidden } from '../api/error.ts';
import { useLiveState, useLiveStream } from '../api/live-conversions.ts';
import { type Person, roleName, useLacking, usePerson, useRights } from '../api/people.ts';
import { session } from '../session/session.ts';
import styles from './AppShell.module.css';
import { Button, ButtonLink, IconButton } from './Button.tsx';
import type { Place } from './GoTo.tsx';
import { Icon } from './icons.tsx';
import { kept } from './kept.ts';
import { LanguageChoice } from './LanguageChoice.tsx';
import { applyTheme, chosenTheme, type Theme, THEMES } from './theme.ts';
import { PageError, useSignOut } from './LonePage.tsx';
import { announce, Toasts } from './Toasts.tsx';
import { rich } from '../words/rich.ts';
import { t } from '../words/words.ts';

const PLACES: readonly Place[] = [
  { to: '/', label: t('Home'), icon: 'home', exact: true },
  { to: '/conversions', label: t('Conversions'), icon: 'document' },
  { to: '/batches', label: t('Batches'), icon: 'stack' },
  { to: '/playground', label: t('Playground'), icon: 'play', toWork: true },
  { to: '/templates', label: t('Templates'), icon: 'edit' },
  { to: '/documents', label: t('Documents'), icon: 'pages', toWork: true },
  { to: '/verify', label: t('Verify'), icon: 'shield', toAll: true },
  { to: '/keys', label: t('Keys'), icon: 'key' },
  { to: '/webhooks', label: t('Webhooks'), icon: 'send' },
  { to: '/usage', label: t('Credits and usage'), icon: 'chart' },
  { to: '/history', label: t('History'), icon: 'history' },
  { to: '/members', label: t('Members'), icon: 'people' },
  { to: '/account', label: t('Account'), icon: 'person', toAll: true },
];

const OPERATOR_PLACES: readonly Place[] = [
  { to: '/operations', label: t('Operations'), icon: 'server', exact: true },
  { to: '/operations/accounts', label: t('Accounts'), icon: 'people' },
  { to: '/operations/log', label: t('Log'), icon: 'list' },
];

function Places({ places }: { readonly places: readonly Place[] }) {
  return (
    <ul>
      {places.map(({ to, label, icon, exact = false }) => (
        <li key={to}>
          <Link
            to={to}
            className={`${styles.place} beside`}
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

const TEXTS = {
  lost: t('Connection lost; reconnecting…'),
  refused: t('Too many pages are open for live updates. This page asks again by itself.'),
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
    announce(t('Connected again.'));
  }, [state]);
  const text = state === 'lost' || state === 'refused' ? TEXTS[state] : undefined;
  return (
    <div role="status" className={styles.connection}>
      {text !== undefined && (
        <p className={`${styles.lost} raised beside`} data-tone="warning">
          <Icon name="offline" />
          {text}
        </p>
      )}
    </div>
  );
}

/** Light or dark. */
function Appearance() {
  const [theme, setTheme] = useState(chosenTheme);
  const choose = (chosen: Theme) => {
    kept.write('theme', chosen);
    applyTheme(chosen);
    setTheme(chosen);
  };
  return (
    <label className="note">
      {t('Appearance')}{' '}
      <select value={theme} onChange={({ target }) => choose(target.value as Theme)}>
        {Object.entries(THEMES).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);
const GoTo = lazy(async () => ({ default: (await import('./GoTo.tsx')).GoTo }));
const OneMoreStep = lazy(async () => ({
  default: (await import('./OneMoreStep.tsx')).OneMoreStep,
}));
const NotForAuditors = lazy(async () => ({
  default: (await import('./OneMoreStep.tsx')).NotForAuditors,
}));
const KeyList = lazy(async () => ({ default: (await import('./GoTo.tsx')).KeyList }));

/** Says that somebody has changed what the person may do: buttons and pages come or go. */
function useSayRole(person: Person | undefined): void {
  const before = useRef(person);
  useEffect(() => {
    const { id, role } = person ?? {};
    const accountOf = (of: Person | undefined) => of?.accounts.find(({ current }) => current)?.id;
    const isSame = before.current?.id === id && accountOf(before.current) === accountOf(person);
    if (role !== undefined && isSame && before.current?.role !== role) {
      announce(t('Your role in this account is {role} now.', { role: roleName(role) }));
    }
    before.current = person ?? before.current;
  }, [person]);
}

type Asked = 'go' | 'keys' | undefined;

/** Ctrl+K and the question mark, where a person is not typing it. */
function useAsked() {
  const [asked, setAsked] = useState<Asked>();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { key, target } = event;
      const isGo = key.toLowerCase() === 'k' && (IS_MAC ? event.metaKey : event.ctrlKey);
      const isTyping = (target as HTMLElement).matches(
        'input, textarea, select, [contenteditable]',
      );
      const isList = key === '?' && !isTyping;
      if (event.defaultPrevented || !(isGo || isList)) return;
      event.preventDefault();
      // A dialog that is open is ended first, by the person.
      if (document.querySelector('[role="dialog"], [role="alertdialog"]') === null) {
        setAsked(isGo ? 'go' : 'keys');
      }
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
  return [asked, setAsked] as const;
}

/** The frame of all pages for people who are signed in. */
export function AppShell() {
  const [isOpen, setOpen] = useState(false);
  const { pathname } = useLocation();
  const { data: person, error } = usePerson();
  useSayRole(person);
  const { mayWork } = useRights();
  const [asked, setAsked] = useAsked();
  const lacking = useLacking();
  const signOut = useSignOut();
  const places = PLACES.filter(({ toWork = false, toAll = false }) =>
    lacking === undefined ? mayWork || !toWork : toAll,
  );
  const isOperator = lacking === undefined && person?.acts_as_operator === true;
  const isForOthers =
    lacking === undefined &&
    person?.role === 'auditor' &&
    PLACES.some(({ to, toWork = false }) => toWork && to === pathname);
  const isClosed = lacking !== undefined && !places.some(({ to }) => to === pathname);
  // On a phone the menu covers the page, which the person has now chosen.
  useEffect(() => setOpen(false), [pathname]);
  // The account is suspended.
  if (isForbidden(error)) return <PageError error={error} />;
  return (
    <div className={styles.shell}>
      <a href="#content" className={`${styles.skip} raised`}>
        {t('Skip to the content')}
      </a>
      <header className={styles.bar}>
        <IconButton
          label={isOpen ? t('Close the menu') : t('Open the menu')}
          icon={isOpen ? 'close' : 'menu'}
          aria-expanded={isOpen}
          aria-controls="menu"
          onPress={() => setOpen(!isOpen)}
        />
        <span className={styles.brand}>{t('Pressledger')}</span>
      </header>
      <nav
        id="menu"
        aria-label={t('Pages')}
        className={styles.side}
        data-open={isOpen}
        onKeyDown={({ key }) => key === 'Escape' && setOpen(false)}
      >
        <Link to="/" className={styles.brand}>
          {t('Pressledger')}
        </Link>
        {lacking === undefined && (
          <Button icon="search" aria-keyshortcuts="Control+K" onPress={() => setAsked('go')}>
            {rich('Go to… {kbd}', {
              kbd: <kbd className="last note">{IS_MAC ? '⌘K' : `${t('Ctrl')} K`}</kbd>,
            })}
          </Button>
        )}
        <div className={styles.nav}>
          <Places places={places} />
          {isOperator && (
            <>
              <p className={`${styles.group} note`}>{t('For operators')}</p>
              <Places places={OPERATOR_PLACES} />
            </>
          )}
        </div>
        <div className={`${styles.person} stack gap-1 start`}>
          <a href="/docs">{t('API reference')}</a>
          <Appearance />
          <LanguageChoice />
          <span className={`${styles.email} note cut`}>{person?.name ?? person?.email}</span>
          <Button look="quiet" icon="signOut" {...signOut}>
            {t('Sign out')}
          </Button>
        </div>
      </nav>
      <main id="content" tabIndex={-1} className={styles.content}>
        <Suspense>
          {isClosed && <OneMoreStep lacking={lacking} again={signOut} />}
          {isForOthers && <NotForAuditors />}
        </Suspense>
        {!isClosed && !isForOthers && <Outlet />}
      </main>
      {lacking === undefined && <ConnectionLine />}
      <Toasts />
      <Suspense>
        {asked === 'go' && lacking === undefined && (
          <GoTo
            places={isOperator ? [...places, ...OPERATOR_PLACES] : places}
            onClose={() => setAsked(undefined)}
          />
        )}
        {asked === 'keys' && <KeyList isMac={IS_MAC} onClose={() => setAsked(undefined)} />}
      </Suspense>
    </div>
  );
}

/** The frame of a page that serves people without an account, too. */
export function FrameOfAnybody() {
  return session.state === 'open' ? <AppShell /> : <PublicFrame />;
}

function PublicFrame() {
  return (
    <div className={styles.public}>
      <header className={`${styles.publicBar} line apart`}>
        <Link to="/" className={`${styles.publicName} beside gap-2`}>
          <img src="/favicon.svg" alt="" width="28" height="28" />
          {t('Pressledger')}
        </Link>
        <LanguageChoice />
        <ButtonLink to="/sign-in" search={{ from: '/verify' }} look="quiet">
          {t('Sign in')}
        </ButtonLink>
      </header>
      <main>
        <Outlet />
      </main>
    </div>
  );
}
