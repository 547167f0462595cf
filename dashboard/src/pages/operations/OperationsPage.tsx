import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Button } from '../../ui/Button.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { Loading } from '../../ui/Loading.tsx';
import { Page } from '../../ui/Page.tsx';
import { AsOf } from './AsOf.tsx';
import { FailuresSection } from './FailuresSection.tsx';
import { EVERY_TEXT, repeated } from './live.ts';
import { OperatorsOnly } from './OperatorsOnly.tsx';
import { operatorData } from './operator-api.ts';
import { QueueSection } from './QueueSection.tsx';
import { RenderersSection } from './RenderersSection.tsx';
import { StateSection } from './StateSection.tsx';

export default function OperationsPage() {
  return (
    <OperatorsOnly title="Operations">
      <Operations />
    </OperatorsOnly>
  );
}

function Operations() {
  const [isPaused, setPaused] = useState(false);
  const status = useQuery({
    queryKey: ['operator', 'status'],
    queryFn: ({ signal }) => operatorData(api.GET('/api/v1/operator/status/', { signal })),
    ...repeated(isPaused),
  });
  const { data } = status;
  return (
    <Page
      title="Operations"
      lead={`The state of the service, as the node that answers sees it. It is asked for again ${EVERY_TEXT}.`}
      actions={
        <Button icon={isPaused ? 'play' : 'pause'} onPress={() => setPaused(!isPaused)}>
          {isPaused ? 'Continue' : 'Pause'}
        </Button>
      }
    >
      {status.isPending && <Loading label="Loading the state of the service" lines={8} />}
      {data === undefined && status.isError && (
        <ErrorState error={status.error} onRetry={() => void status.refetch()} />
      )}
      {data !== undefined && (
        <>
          <AsOf iso={data.time} isPaused={isPaused} error={status.error} />
          <StateSection status={data} />
          <RenderersSection status={data} />
          <QueueSection status={data} />
          <FailuresSection recent={data.recent} isPaused={isPaused} />
        </>
      )}
    </Page>
  );
}
