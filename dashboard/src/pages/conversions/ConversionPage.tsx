import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import {
  type Conversion,
  conversionEventsQuery,
  conversionQuery,
  conversionRequestQuery,
  deletionOf,
  getEvidence,
  isEnded,
  nounOf,
} from '../../api/conversions.ts';
import { ApiError } from '../../api/error.ts';
import { usePerson, useRights } from '../../api/people.ts';
import { dependencies } from '../../proof/browser.ts';
import { checkProof } from '../../proof/checks.ts';
import { ProofSection, useCheck } from '../../proof/ProofSection.tsx';
import { Button, ButtonLink } from '../../ui/Button.tsx';
import { Switch } from '../../ui/choices.tsx';
import { EmptyState, Loaded, Notice, Page, Section } from '../../ui/Page.tsx';
import { SaveButton } from '../../ui/Dialog.tsx';
import { StatusBadge, TestBadge } from '../../ui/records.tsx';
import { ConversionFacts } from './ConversionFacts.tsx';
import { ConvertAgain, Share, TakeBack } from './acts.tsx';
import styles from './conversion.module.css';
import { DownloadFile, FailurePicture, PdfPreview } from './PdfPreview.tsx';
import { failureAction, failureTitle } from './words.ts';
import { ManifestSection } from './ManifestSection.tsx';
import { RequestSection } from './RequestSection.tsx';
import { Timeline } from './Timeline.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

const route = getRouteApi('/signed-in/conversions/$id');

export default function ConversionPage() {
  const { id } = route.useParams();
  const query = useQuery(conversionQuery(id));
  const { data, error } = query;
  // Each event has the name of its conversion; records have it only where the request gave one.
  const { data: events, isPending } = useQuery(conversionEventsQuery(id));
  // Parts that the person may not read are not asked for.
  const person = usePerson();
  if (error instanceof ApiError && error.status === 404) {
    return (
      <Page title={t('Conversion')}>
        <EmptyState
          icon="search"
          title={t('This account has no such conversion')}
          action={<ButtonLink to="/conversions">{t('See all conversions')}</ButtonLink>}
        >
          {rich(
            'No conversion of this account has the id {id}. It may be misspelt, or belong to another account.',
            { id },
          )}
        </EmptyState>
      </Page>
    );
  }
  if (data === undefined || isPending || person.isPending) {
    return (
      <Page title={t('Conversion')} lead={<code>{id}</code>}>
        <Loaded query={query} what={t('the conversion')} lines={10}>
          {() => null}
        </Loaded>
      </Page>
    );
  }
  // Another conversion starts with fresh parts: none of them carries over what it held.
  return <ConversionView key={id} record={data} name={events?.[0]?.name ?? id} />;
}

interface ConversionViewProps {
  readonly record: Conversion;
  /** The id, where nothing names it. */
  readonly name: string;
}

function ConversionView({ record, name }: ConversionViewProps) {
  const { id, status } = record;
  const isCompleted = status === 'completed';
  const hasEnded = isEnded(record);
  const { mayWork, mayReadDocuments } = useRights();
  const { data: events } = useQuery(conversionEventsQuery(id));
  const isStored = deletionOf(events) === undefined;
  const [isDetailed, setDetailed] = useState(false);
  const checking = useCheck(useProof(record));
  const proof = useRef<HTMLDivElement>(null);
  const verify = () => {
    proof.current?.scrollIntoView({ behavior: 'smooth' });
    void checking.run();
  };
  const loadEvidence = async () => ({
    file: await getEvidence(id),
    name: `${id}.evidence.zip`,
  });
  return (
    <Page
      title={name === id ? t('Conversion') : name}
      lead={
        <span className="line">
          <span role="status">
            <StatusBadge status={status} failure={record.failure_code} />
            {record.test && <TestBadge />}
          </span>
          <code>{id}</code>
        </span>
      }
      actions={
        <>
          {isCompleted && isStored && mayReadDocuments && (
            <>
              <DownloadFile record={record} />
              <Share id={id} />
            </>
          )}
          {mayWork && status === 'failed' && <OpenRequest id={id} />}
          {hasEnded && (
            <Button icon="shield" onPress={verify}>
              {t('Verify')}
            </Button>
          )}
          {mayWork && !hasEnded && <TakeBack record={record} />}
          {mayWork && hasEnded && isStored && (
            <More>
              <ConvertAgain id={id} />
              {isCompleted && <ConvertAgain id={id} compares />}
              {isCompleted && nounOf(record) === 'PDF' && (
                <ButtonLink to="/documents" search={{ add: id }} icon="pages">
                  {t('Use in a new document')}
                </ButtonLink>
              )}
              <TakeBack record={record} />
            </More>
          )}
        </>
      }
    >
      <div className={styles.columns} data-failed={status === 'failed'}>
        <section aria-label={t('Result')} className={styles.result}>
          <Result record={record} />
        </section>
        <div className={styles.column}>
          <Section title={t('Timeline')} fold={hasEnded ? 'closed' : 'open'}>
            <Timeline id={id} isDetailed={isDetailed} />
          </Section>
          <Section title={t('Summary')}>
            <ConversionFacts record={record} isDetailed={isDetailed} />
          </Section>
        </div>
      </div>
      {hasEnded && (
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
      {mayReadDocuments && (
        <Section
          title={t('Request')}
          lead={t('The document, and the options that were set.')}
          fold={isCompleted ? 'closed' : 'open'}
        >
          <RequestSection id={id} />
        </Section>
      )}
      <div>
        <Switch isSelected={isDetailed} onChange={setDetailed}>
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
    </Page>
  );
}

/** What is done less often. */
const More = ({ children }: { readonly children: ReactNode }) => (
  <details className={styles.more}>
    <summary>{t('More')}</summary>
    <div>{children}</div>
  </details>
);

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
function useProof({ id, sha256 }: Conversion) {
  return useMemo(() => {
    const params = { path: { id } };
    const load = async () => {
      const proof = await dataOf(api.GET('/api/v1/conversions/{id}/proof/', { params }));
      return { conversionId: id, entries: proof.entries, key: proof.key };
    };
    return checkProof(load, sha256 === undefined ? undefined : { sha256 }, dependencies);
  }, [id, sha256]);
}

function Result({ record }: { readonly record: Conversion }) {
  const { mayReadDocuments } = useRights();
  switch (record.status) {
    case 'pending':
      return (
        <EmptyState icon="clock" title={t('Waiting for a renderer')}>
          {t('The request is stored. The file appears here by itself, usually within seconds.')}
        </EmptyState>
      );
    case 'processing':
      return (
        <EmptyState icon="progress" title={t('A renderer makes the file')}>
          {t('It appears here by itself, usually within seconds.')}
        </EmptyState>
      );
    case 'failed':
      return <Failure record={record} />;
    case 'completed':
      return (
        <>
          <Warnings record={record} />
          {mayReadDocuments ? (
            <PdfPreview record={record} />
          ) : (
            <EmptyState
              icon="document"
              title={t('The {record} is ready', { record: nounOf(record) })}
            >
              {t(
                'Auditors read documents only where an owner of the account has granted it. The events and the evidence are open to you.',
              )}
            </EmptyState>
          )}
        </>
      );
  }
}

function Failure({ record }: { readonly record: Conversion }) {
  const { id, error_message: reason, failure_code: code = '' } = record;
  const { mayReadDocuments } = useRights();
  const { error } = useQuery({ ...conversionRequestQuery(id), enabled: mayReadDocuments });
  const isRequestGone = error instanceof ApiError && error.code === 'gone';
  return (
    <div className={styles.failure} data-tone={code === 'cancelled' ? undefined : 'danger'}>
      <h2>{failureTitle(code)}</h2>
      <p className={styles.quoted}>{reason}</p>
      <h3>{t('What to do')}</h3>
      <p>
        {isRequestGone && code !== 'cancelled'
          ? t('Its request is deleted, so send it again from where it came from.')
          : failureAction(code)}
      </p>
      {mayReadDocuments && <FailurePicture id={id} />}
      <p className="note">
        {rich('The credit came back to the account. For programs this is {code}.', {
          code: <code>{code}</code>,
        })}
      </p>
    </div>
  );
}

/** How the warning begins that the service gives where it stopped a script, too. */
const STILL_DRAWN = t('The page was still being drawn');

function Warnings({ record }: { readonly record: Conversion }) {
  const { warnings = [] } = record;
  const what = nounOf(record);
  if (warnings.length === 0) return null;
  return (
    <Notice kind="warning">
      <p>
        {record.kind === 'document'
          ? t('The PDF was made, and differs from what may be expected:')
          : t('The {what} was made, but the page lacked something:', { what })}
      </p>
      <ul className="bullets">
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
      {warnings.some((warning) => warning.startsWith(STILL_DRAWN)) && (
        <p>
          {rich(
            '“{STILL_DRAWN}” means that scripts or animations had not come to an end. A script that does not end is stopped. The {what} shows what was drawn until then.',
            { STILL_DRAWN, what },
          )}
        </p>
      )}
    </Notice>
  );
}
