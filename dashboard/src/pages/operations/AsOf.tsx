import { ApiError } from '../../api/error.ts';
import { errorText } from '../../ui/ErrorState.tsx';
import { Badge } from '../../ui/StatusBadge.tsx';
import { Time } from '../../ui/Time.tsx';
import styles from './operations.module.css';

interface AsOfProps {
  /** The time of what is shown, by the clock of the service. */
  readonly iso: string;
  readonly isPaused: boolean;
  /** Why the last request failed. */
  readonly error: Error | null;
}

/** Since when the data is, and whether more is on its way. Only a change of the latter is read out. */
export function AsOf({ iso, isPaused, error }: AsOfProps) {
  return (
    <div className={styles.asOf}>
      <span>
        As of <Time iso={iso} />
      </span>
      <span role="status">
        {isPaused && (
          <Badge tone="neutral" icon="pause">
            Paused
          </Badge>
        )}
        {!isPaused && error instanceof ApiError && (
          <Badge tone="danger" icon="warning">{`Not renewed: ${errorText(error)}`}</Badge>
        )}
        {!isPaused && error !== null && !(error instanceof ApiError) && (
          <Badge tone="warning" icon="offline">
            Connection lost. Trying again.
          </Badge>
        )}
      </span>
    </div>
  );
}
