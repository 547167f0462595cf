import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { answerQuery } from '../../api/client.ts';
import { ApiError, errorText } from '../../api/error.ts';
import { Button } from '../../ui/Button.tsx';
import { Loaded, Page } from '../../ui/Page.tsx';
import { Badge } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';
import { FailuresSection } from './FailuresSection.tsx';
import { OverTime } from './OverTime.tsx';
import styles from './operations.module.css';
import { EVERY_TEXT, repeated } from './operator-api.ts';
import type { SpanSearch } from './search.ts';
import { QueueSection, RenderersSection, StateSection } from './status-sections.tsx';

const route = getRouteApi('/signed-in/operations');

export default function OperationsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const show = (next: SpanSearch) =>
    void navigate({ to: '/operations', search: next, resetScroll: false });
  const [isPaused, setPaused] = useState(false);
  const status = useQuery({
    ...answerQuery(['operator', 'status'], '/api/v1/operator/status/'),
    ...repeated(isPaused),
  });
  return (
    <Page
      title={t('Operations')}
      lead={t(
        'The state of the service, as the node that answers sees it. Refreshes {EVERY_TEXT}.',
        { EVERY_TEXT },
      )}
      actions={
        <Button icon={isPaused ? 'play' : 'pause'} onPress={() => setPaused(!isPaused)}>
          {isPaused ? t('Continue') : t('Pause')}
        </Button>
      }
    >
      <Loaded query={status} what={t('the state of the service')} lines={8}>
        {(data) => (
          <>
            <AsOf iso={data.time} isPaused={isPaused} error={status.error} />
            <StateSection status={data} />
            <OverTime search={search} onSearch={show} isPaused={isPaused} />
            <div className={`${styles.work} stack gap-5`}>
              <RenderersSection status={data} />
              <QueueSection status={data} />
            </div>
            <FailuresSection search={search} isPaused={isPaused} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

interface AsOfProps {
  /** The time of what is shown, by the clock of the service. */
  readonly iso: string;
  readonly isPaused: boolean;
  /** Why the last request failed. */
  readonly error: Error | null;
}

/** Since when the data is, and whether more is on its way. Only a change of the latter is read out. */
function AsOf({ iso, isPaused, error }: AsOfProps) {
  return (
    <div className={`${styles.asOf} line note`}>
      <span>{rich('As of {time}', { time: <Time iso={iso} /> })}</span>
      <span role="status">
        {isPaused && <Badge tone="neutral" icon="pause" text={t('Paused')} />}
        {!isPaused && error instanceof ApiError && (
          <Badge
            tone="danger"
            icon="warning"
            text={t('Not renewed: {error}', { error: errorText(error) })}
          />
        )}
        {!isPaused && error !== null && !(error instanceof ApiError) && (
          <Badge tone="warning" icon="offline" text={t('Connection lost. Trying again.')} />
        )}
      </span>
    </div>
  );
}
