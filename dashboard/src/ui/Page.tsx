/**
 * What every page is made of: its heading, its sections and notices, and what stands where a list or a record is not
 * shown, because it is empty, still on its way, or cannot be loaded.
 */
import { Link, useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { Button as AriaButton } from 'react-aria-components';
import { Icon, type IconName } from './icons.tsx';
import styles from './Page.module.css';
import { rich } from '../words/rich.ts';
import { t } from '../words/words.ts';
import type { UseQueryResult } from '@tanstack/react-query';
import { ApiError, errorText } from '../api/error.ts';
import { Button } from './Button.tsx';

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
    <div className="stack gap-5">
      <header className="line gap-3 apart top">
        <div className="stack gap-1 anywhere">
          <h1 ref={heading} tabIndex={-1} dir="auto">
            {title}
          </h1>
          {lead !== undefined && <p className={styles.lead}>{lead}</p>}
        </div>
        {actions !== undefined && <div className="line gap-2">{actions}</div>}
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
      <header className="line gap-3 apart top">
        <div className="stack gap-1 anywhere">
          <h2>
            {fold !== undefined && canFold ? (
              <AriaButton aria-expanded={isShown} onPress={toggle} className={styles.fold}>
                {title}
                <Icon name={isShown ? 'chevronUp' : 'chevronDown'} />
              </AriaButton>
            ) : (
              title
            )}
          </h2>
          {lead !== undefined && <p className={`${styles.lead} note`}>{lead}</p>}
        </div>
        {actions !== undefined && <div className="line gap-2">{actions}</div>}
      </header>
      {(fold === undefined || isShown) && children}
    </section>
  );
}

interface EmptyStateProps {
  readonly icon: IconName;
  readonly title: string;
  /** The things that would be here, and how they come about. */
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <div className={`${styles.state} centred`}>
      <Icon name={icon} size={28} />
      <p className="strong">{title}</p>
      <p className={styles.why}>{children}</p>
      {action}
    </div>
  );
}

/** Says that all is well where something else could be listed. */
export function Calm({ children }: { readonly children: ReactNode }) {
  return (
    <p className={`${styles.calm} beside`} data-tone="ok">
      <Icon name="check" />
      <span>{children}</span>
    </p>
  );
}

type ErrorStateProps = { readonly error: unknown; readonly onRetry: () => void };

/** Tells that something could not be loaded and why, with the id by which an operator finds the request. */
export function ErrorState({ error, onRetry }: ErrorStateProps) {
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <div className={`${styles.state} centred`} role="alert" data-tone="danger">
      <Icon name="warning" size={28} />
      <p className="strong">{t('This could not be loaded')}</p>
      <p className={styles.why}>{errorText(error)}</p>
      {requestId !== undefined && (
        <p className={styles.why}>{rich('Request {code}', { code: <code>{requestId}</code> })}</p>
      )}
      <Button icon="refresh" onPress={onRetry}>
        {t('Try again')}
      </Button>
    </div>
  );
}

interface LoadingProps {
  /** The name of what is loading, for screen readers, such as "Loading the keys". */
  readonly label: string;
  /** About as many lines as the content will have. */
  readonly lines?: number;
}

/** Grey lines where the content will be, so that nothing jumps when it comes. */
export function Loading({ label, lines = 4 }: LoadingProps) {
  return (
    <div className={`${styles.loading} stack gap-3`} role="status">
      <span className="visually-hidden">{label}</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} className={styles.line} aria-hidden="true" />
      ))}
    </div>
  );
}

interface LoadedProps<Data> {
  readonly query: Pick<UseQueryResult<Data>, 'data' | 'error'> & {
    readonly refetch: () => unknown;
  };
  /** The name of what is loaded, such as "the keys". */
  readonly what: string;
  readonly lines?: number;
  readonly children: (data: Data) => ReactNode;
}

/**
 * Shows what a query holds, as long as it holds anything; else that it is on its way, or why it is not. What the service
 * refused to renew may be out of date, and says so. That the connection is lost is said once for the whole page.
 */
export function Loaded<Data>({ query, what, lines, children }: LoadedProps<Data>) {
  const { data, error, refetch } = query;
  if (data !== undefined) {
    return (
      <>
        {error instanceof ApiError && (
          <Notice kind="warning">
            {rich('This could not be renewed and may be out of date. {error}', {
              error: errorText(error),
            })}
          </Notice>
        )}
        {children(data)}
      </>
    );
  }
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return <Loading label={t('Loading {what}', { what })} lines={lines} />;
}

/** Says in which words nothing is there. */
interface Missing {
  readonly title: string;
  readonly text: ReactNode;
  /** Leads to what there is. */
  readonly action: ReactNode;
}

interface RecordPageProps<Data> {
  readonly query: LoadedProps<Data>['query'];
  /** The kind of the record, such as "Batch": the title until its name is known. */
  readonly kind: string;
  /** The same within a sentence, such as "the batch". */
  readonly what: string;
  readonly name: (data: Data) => string;
  readonly lead: (data: Data | undefined) => ReactNode;
  readonly actions?: (data: Data) => ReactNode;
  readonly missing: Missing;
  readonly children: (data: Data) => ReactNode;
}

/** The page of one record, which may not be there. */
export function RecordPage<Data>(props: RecordPageProps<Data>) {
  const { query, kind, what, name, lead, actions, missing, children } = props;
  const { data, error } = query;
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Page title={kind}>
        <EmptyState icon="search" title={missing.title} action={missing.action}>
          {missing.text}
        </EmptyState>
      </Page>
    );
  }
  return (
    <Page
      title={data === undefined ? kind : name(data)}
      lead={lead(data)}
      actions={data !== undefined && actions?.(data)}
    >
      <Loaded query={query} what={what} lines={8}>
        {children}
      </Loaded>
    </Page>
  );
}

const KINDS = {
  info: { icon: 'info', tone: 'accent' },
  ok: { icon: 'check', tone: 'ok' },
  warning: { icon: 'warning', tone: 'warning' },
  danger: { icon: 'warning', tone: 'danger' },
} as const;

type NoticeProps = { readonly kind: keyof typeof KINDS; readonly children: ReactNode };

/** A message in the page. One of the kind `danger` is read out at once. */
export function Notice({ kind, children }: NoticeProps) {
  const { icon, tone } = KINDS[kind];
  return (
    <div
      className={`${styles.notice} box beside top`}
      data-tone={tone}
      role={kind === 'danger' ? 'alert' : undefined}
    >
      <Icon name={icon} />
      <div className="anywhere">{children}</div>
    </div>
  );
}

/** Says why something was not done. */
export function FailureNotice({ error }: { readonly error: unknown }) {
  return (
    <Notice kind="danger">
      {errorText(error)}{' '}
      {error instanceof ApiError && error.code === 'insufficient_credits' && (
        <Link to="/usage">{t('See the credits')}</Link>
      )}
    </Notice>
  );
}
