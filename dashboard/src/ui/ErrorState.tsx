import { ApiError } from '../api/error.ts';
import { Button } from './Button.tsx';
import { Icon } from './icons.tsx';
import styles from './states.module.css';

/** Says in words what went wrong, for people. */
export function errorText(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  // Every browser has words of its own for the file of a page that is not there any more.
  if (error instanceof TypeError && /\bmodule\b/i.test(error.message)) {
    return 'A file of this page could not be loaded. The service was updated, or the connection is lost.';
  }
  // `fetch` gives no other reason for a connection that failed.
  if (error instanceof TypeError && /fetch|network/i.test(error.message)) {
    return 'The service cannot be reached. Check the connection, then try again.';
  }
  return error instanceof Error ? error.message : 'An unknown error occurred.';
}

interface ErrorStateProps {
  readonly error: unknown;
  readonly onRetry?: () => void;
}

/** Tells that something could not be loaded and why, with the id by which an operator finds the request. */
export function ErrorState({ error, onRetry }: ErrorStateProps) {
  const requestId = error instanceof ApiError ? error.requestId : undefined;
  return (
    <div className={styles.state} role="alert">
      <span className={`${styles.icon} ${styles.danger}`}>
        <Icon name="warning" size={28} />
      </span>
      <p className={styles.title}>This could not be loaded</p>
      <p className={styles.text}>{errorText(error)}</p>
      {requestId !== undefined && (
        <p className={styles.text}>
          Request <code>{requestId}</code>
        </p>
      )}
      {onRetry !== undefined && (
        <Button icon="refresh" onPress={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}
