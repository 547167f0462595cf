import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { api, dataOf, fileOf } from '../../api/client.ts';
import {
  type Conversion,
  type ConversionEvent,
  conversionEventsQuery,
  conversionQuery,
  conversionRequestQuery,
  deletionOf,
  isEnded,
  nounOf,
} from '../../api/conversions.ts';
import { usePerson, useRights } from '../../api/people.ts';
import { dependencies } from '../../proof/browser.ts';
import { checkProof } from '../../proof/checks.ts';
import { ProofSection, useCheck } from '../../proof/ProofSection.tsx';
import { Button, ButtonLink } from '../../ui/Button.tsx';
import { Switch } from '../../ui/choices.tsx';
import { RecordPage, Section } from '../../ui/Page.tsx';
import { SaveButton } from '../../ui/Dialog.tsx';
import { StatusBadge, TestBadge } from '../../ui/records.tsx';
import { ConversionFacts } from './ConversionFacts.tsx';
import { ConvertAgain, TakeBack } from './acts.tsx';
import styles from './conversion.module.css';
import { ManifestSection } from './ManifestSection.tsx';
import { RequestSection } from './RequestSection.tsx';
import { DownloadFile, Result } from './Result.tsx';
import { Share } from './Share.tsx';
import { Timeline } from './Timeline.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

const route = getRouteApi('/signed-in/conversions/$id');

export default function ConversionPage() {
  const { id } = route.useParams();
  // Another conversion starts with fresh parts: none of them carries over what it held.
  return <OneConversion key={id} id={id} />;
}

function OneConversion({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery(conversionQuery(id));
  const { data: events = [], isPending } = useQuery(conversionEventsQuery(id));
  // Parts that the person may not read are not asked for.
  const isReady = !usePerson().isPending && !isPending;
  const [isDetailed, setDetailed] = useState(false);
  const checking = useCheck(useProof(id, data?.sha256));
  const proof = useRef<HTMLDivElement>(null);
  const verify = () => {
    proof.current?.scrollIntoView({ behavior: 'smooth' });
    void checking.run();
  };
  const loadEvidence = async () => {
    const evidence = await fileOf('/api/v1/conversions/{id}/evidence/', { path: { id } });
    return { file: evidence.data, name: `${id}.evidence.zip` };
  };
  return (
    <RecordPage
      query={{ data: isReady ? data : undefined, error, refetch }}
      kind={t('Conversion')}
      what={t('the conversion')}
      // Each event has the name of its conversion; records have it only where the request gave one.
      name={() => events[0]?.name ?? t('Conversion')}
      lead={(record) => (
        <span className="line">
          {record && (
            <span role="status">
              <StatusBadge status={record.status} failure={record.failure_code} />
              {record.test && <TestBadge />}
            </span>
          )}
          <code>{id}</code>
        </span>
      )}
      actions={(record) => <Actions record={record} events={events} onVerify={verify} />}
      missing={{
        title: t('This account has no such conversion'),
        text: rich(
          'No conversion of this account has the id {id}. It may be misspelt, or belong to another account.',
          { id },
        ),
        action: <ButtonLink to="/conversions">{t('See all conversions')}</ButtonLink>,
      }}
    >
      {(record) => (
        <>
          <div className={styles.columns} data-failed={record.status === 'failed'}>
            <section aria-label={t('Result')} className={styles.result}>
              <Result record={record} events={events} />
            </section>
            <div className="stack gap-5">
              <Section title={t('Timeline')} fold={isEnded(record) ? 'closed' : 'open'}>
                <Timeline id={id} isDetailed={isDetailed} />
              </Section>
              <Section title={t('Summary')}>
                <ConversionFacts {...{ record, events, isDetailed }} />
              </Section>
            </div>
          </div>
          {isEnded(record) && (
            <div ref={proof}>
              <ProofSection
                lead={t(
                  'The events of this conversion are in a log that nobody can change unnoticed. Your browser checks that by itself; the evidence bundle lets anybody do so without this service.',
                )}
                checking={checking}
                isAsked
              >
                <SaveButton icon="download" what={t('evidence bundle')} load={loadEvidence}>
                  {t('Evidence bundle')}
                </SaveButton>
              </ProofSection>
            </div>
          )}
          <Machinery {...{ record, events, isDetailed }} onDetailed={setDetailed} />
        </>
      )}
    </RecordPage>
  );
}

interface RecordProps {
  readonly record: Conversion;
  readonly events: readonly ConversionEvent[];
}

type MachineryProps = RecordProps & {
  readonly isDetailed: boolean;
  readonly onDetailed: (isDetailed: boolean) => void;
};

/** What was sent, and how the file was made. */
function Machinery({ record: { id, status }, events, isDetailed, onDetailed }: MachineryProps) {
  const { mayReadDocuments } = useRights();
  const isCompleted = status === 'completed';
  return (
    <>
      {mayReadDocuments && (
        <Section
          title={t('Request')}
          lead={t('The document, and the options that were set.')}
          fold={isCompleted ? 'closed' : 'open'}
        >
          <RequestSection id={id} events={events} />
        </Section>
      )}
      <div>
        <Switch isSelected={isDetailed} onChange={onDetailed}>
          {t('Technical details')}
        </Switch>
      </div>
      {isDetailed && isCompleted && mayReadDocuments && (
        <Section
          title={t('Manifest')}
          lead={t('How the file was made, as the renderer recorded it. Its hash is in the log.')}
        >
          <ManifestSection id={id} />
        </Section>
      )}
    </>
  );
}

function Actions({ record, events, onVerify }: RecordProps & { readonly onVerify: () => void }) {
  const { id, status } = record;
  const { mayWork, mayReadDocuments } = useRights();
  const isStored = deletionOf(events) === undefined;
  const isCompleted = status === 'completed';
  const hasEnded = isEnded(record);
  return (
    <>
      {isCompleted && isStored && mayReadDocuments && (
        <>
          <DownloadFile record={record} />
          {mayWork && <Share id={id} />}
        </>
      )}
      {mayWork && status === 'failed' && <OpenRequest id={id} />}
      {hasEnded && (
        <Button icon="shield" onPress={onVerify}>
          {t('Verify')}
        </Button>
      )}
      {mayWork && !hasEnded && <TakeBack record={record} />}
      {mayWork && hasEnded && isStored && (
        // What is done less often.
        <details className={styles.more}>
          <summary>{t('More')}</summary>
          <div className="raised stack gap-2">
            <ConvertAgain record={record} how="retry" />
            {isCompleted && <ConvertAgain record={record} how="rerender" />}
            {isCompleted && nounOf(record) === 'PDF' && (
              <ButtonLink to="/documents" search={{ add: id }} icon="pages">
                {t('Use in a new document')}
              </ButtonLink>
            )}
            <TakeBack record={record} />
          </div>
        </details>
      )}
    </>
  );
}

/** Leads to where the request can be corrected, while it is stored. */
function OpenRequest({ id }: { readonly id: string }) {
  const { data } = useQuery(conversionRequestQuery(id));
  if (data === undefined) return null;
  return data.document === undefined ? (
    <ButtonLink to="/playground" search={{ from: id }} look="primary" icon="play">
      {t('Try again in the playground')}
    </ButtonLink>
  ) : (
    <ButtonLink to="/documents" search={{ from: id }} look="primary" icon="pages">
      {t('Try again in Documents')}
    </ButtonLink>
  );
}

/** Checks in this browser that the events of the conversion are in the log, and name its file. */
function useProof(id: string, sha256: string | undefined) {
  return useMemo(() => {
    const params = { path: { id } };
    const load = async () => {
      const proof = await dataOf(api.GET('/api/v1/conversions/{id}/proof/', { params }));
      return { conversionId: id, entries: proof.entries, key: proof.key };
    };
    return checkProof(load, sha256 === undefined ? undefined : { sha256 }, dependencies);
  }, [id, sha256]);
}
