/** What stands where a list or a record is not shown: because it is empty, still on its way, or cannot be loaded. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ApiError, errorText } from '../api/error.ts';
import { Button } from './Button.tsx';
import { Icon, type IconName } from './icons.tsx';
import { Notice } from './Notice.tsx';
import styles from './states.module.css';
import { rich } from '../words/rich.ts';
import { t } from '../words/words.ts';

interface EmptyStateProps {
  readonly icon: IconName;
  readonly title: string;
  /** The things that would be here, and how they come about. */
  readonly children: ReactNode;
  readonly action?: ReactNode;
}

export function EmptyState({ icon, title, children, action }: EmptyStateProps) {
  return (
    <div className={styles.state}>
      <span className={styles.icon}>
        <Icon name={icon} size={28} />
      </span>
      <p className={styles.title}>{title}</p>
      <p className={styles.text}>{children}</p>
      {action}
    </div>
  );
}

/** Says that all is well where something else could be listed. */
export function Calm({ children }: { readonly children: ReactNode }) {
  return (
    <p className={styles.calm}>
      <Icon name="check" />
      <span>{children}</span>
    </p>
  );
}

interface ErrorStateProps {
  readonly error: unknown;
  readonly onRetry: () => void;
}

/** Tells that something could not be loaded and why, with the id by which an operator finds the request. */
export function ErrorState({ error, onRetry }: ErrorStateProps) {
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <div className={styles.state} role="alert">
      <span className={styles.icon} data-tone="danger">
        <Icon name="warning" size={28} />
      </span>
      <p className={styles.title}>{t('This could not be loaded')}</p>
      <p className={styles.text}>{errorText(error)}</p>
      {requestId !== undefined && (
        <p className={styles.text}>{rich('Request {code}', { code: <code>{requestId}</code> })}</p>
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
    <div className={styles.loading} role="status">
      <span className="visually-hidden">{label}</span>
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} className={styles.line} aria-hidden="true" />
      ))}
    </div>
  );
}

interface LoadedProps<Data> {
  readonly query: Pick<UseQueryResult<Data>, 'data' | 'error' | 'refetch'>;
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
