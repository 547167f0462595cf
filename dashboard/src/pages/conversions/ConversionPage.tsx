import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { conversionRequestQuery, getEvidence } from '../../api/conversion-documents.ts';
import {
  type Conversion,
  conversionEventsQuery,
  conversionQuery,
  deletionOf,
  isEnded,
  nounOf,
} from '../../api/conversions.ts';
import { ApiError } from '../../api/error.ts';
import { usePerson, useRights } from '../../api/people.ts';
import { dependencies } from '../../proof/browser.ts';
import { checkProof } from '../../proof/checks.ts';
import { ProofSection, useCheck } from '../../proof/ProofSection.tsx';
import { ButtonLink } from '../../ui/Button.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { SaveButton } from '../../ui/SaveButton.tsx';
import { StatusBadge, TestBadge } from '../../ui/StatusBadge.tsx';
import { EmptyState, Loaded } from '../../ui/states.tsx';
import { ConversionFacts } from './ConversionFacts.tsx';
import { ConvertAgain } from './ConvertAgain.tsx';
import styles from './conversion.module.css';
import { FailurePicture } from './FailurePicture.tsx';
import { failureAction, failureTitle } from './failure-advice.ts';
import { ManifestSection } from './ManifestSection.tsx';
import { canShowHere, DownloadFile, PdfPreview } from './PdfPreview.tsx';
import { RequestSection } from './RequestSection.tsx';
import { TakeBack } from './TakeBack.tsx';
import { Timeline } from './Timeline.tsx';

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
      <Page title="Conversion">
        <EmptyState
          icon="search"
          title="This account has no such conversion"
          action={<ButtonLink to="/conversions">See all conversions</ButtonLink>}
        >
          No conversion of this account has the id {id}. It may be misspelt, or belong to another
          account.
        </EmptyState>
      </Page>
    );
  }
  if (data === undefined || isPending || person.isPending) {
    return (
      <Page title="Conversion" lead={<code>{id}</code>}>
        <Loaded query={query} what="the conversion" lines={10}>
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
  const { mayWork, mayReadDocuments } = useRights();
  const timeline = (
    <Section
      title="Timeline"
      lead="All events of this conversion, with the time between them."
      fold={isEnded(record) ? 'closed' : 'open'}
    >
      <Timeline id={id} />
    </Section>
  );
  const loadEvidence = async () => ({
    file: await getEvidence(id),
    name: `${id}.evidence.zip`,
  });
  // The longer column is the one beside the file, where that is shown.
  const isTall = isCompleted && mayReadDocuments && canShowHere(record);
  return (
    <Page
      title={name === id ? 'Conversion' : name}
      lead={
        <span className="line">
          <code>{id}</code>
          <span role="status">
            <StatusBadge status={status} failure={record.failure_code} />
            {record.test && <TestBadge />}
          </span>
        </span>
      }
      actions={
        <>
          {isCompleted && mayReadDocuments && <DownloadFile record={record} />}
          {mayWork && isEnded(record) && <ConvertAgain id={id} />}
          {mayWork && isCompleted && <ConvertAgain id={id} compares />}
          {mayWork && isCompleted && nounOf(record) === 'PDF' && <UseInDocument id={id} />}
          {mayWork && status === 'failed' && <OpenRequest id={id} />}
          {isEnded(record) && (
            <SaveButton icon="shield" what="evidence bundle" load={loadEvidence}>
              Evidence bundle
            </SaveButton>
          )}
          {mayWork && <TakeBack record={record} />}
        </>
      }
    >
      <div className={styles.columns}>
        <div className={styles.column}>
          <section aria-label="Result" className={styles.result}>
            <Result record={record} />
          </section>
          {!isTall && timeline}
        </div>
        <div className={styles.column}>
          <Section title="Summary">
            <ConversionFacts record={record} />
          </Section>
          {isTall && timeline}
        </div>
      </div>
      {mayReadDocuments && (
        <Section
          title="Request"
          lead="The document and the options that were asked for."
          fold={isCompleted ? 'closed' : 'open'}
        >
          <RequestSection id={id} />
        </Section>
      )}
      {isEnded(record) && <ConversionProof id={id} pdfSha256={record.sha256} />}
      {isCompleted && mayReadDocuments && (
        <Section
          title="Manifest"
          lead="How the file was made, as the renderer recorded it. Its hash is in the log."
          fold="closed"
        >
          <ManifestSection id={id} />
        </Section>
      )}
    </Page>
  );
}

/** Leads to where the request can be corrected, while it is stored. */
function OpenRequest({ id }: { readonly id: string }) {
  const { data } = useQuery(conversionRequestQuery(id));
  if (data === undefined) return null;
  return data.document === undefined ? (
    <ButtonLink to="/playground" search={{ from: id }} icon="play">
      Open in the playground
    </ButtonLink>
  ) : (
    <ButtonLink to="/documents" search={{ from: id }} icon="pages">
      Open in Documents
    </ButtonLink>
  );
}

/** Takes the PDF into a new document, while it is stored. */
function UseInDocument({ id }: { readonly id: string }) {
  const { data: events } = useQuery(conversionEventsQuery(id));
  if (deletionOf(events) !== undefined) return null;
  return (
    <ButtonLink to="/documents" search={{ add: id }} icon="pages">
      Use in a new document
    </ButtonLink>
  );
}

interface ConversionProofProps {
  readonly id: string;
  /** The SHA-256 of the PDF in hex digits, if there is one: the log must name it. */
  readonly pdfSha256: string | undefined;
}

/** Checks in this browser that the events of the conversion are in the log. */
function ConversionProof({ id, pdfSha256 }: ConversionProofProps) {
  const check = useMemo(() => {
    const params = { path: { id } };
    const load = async () => {
      const proof = await dataOf(api.GET('/api/v1/conversions/{id}/proof/', { params }));
      return { conversionId: id, entries: proof.entries, key: proof.key };
    };
    return checkProof(
      load,
      pdfSha256 === undefined ? undefined : { sha256: pdfSha256 },
      dependencies,
    );
  }, [id, pdfSha256]);
  return (
    <ProofSection
      lead="The events of this conversion are in a log that nobody can change unnoticed. Your browser checks that by itself."
      checking={useCheck(check)}
      isAsked
    />
  );
}

function Result({ record }: { readonly record: Conversion }) {
  const { mayReadDocuments } = useRights();
  switch (record.status) {
    case 'pending':
      return (
        <EmptyState icon="clock" title="Waiting for a renderer">
          The request is stored. The file appears here by itself, usually within seconds.
        </EmptyState>
      );
    case 'processing':
      return (
        <EmptyState icon="progress" title="A renderer makes the file">
          It appears here by itself, usually within seconds.
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
            <EmptyState icon="document" title={`The ${nounOf(record)} is ready`}>
              Auditors read documents only where an owner of the account has granted it. The events
              and the evidence are open to you.
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
      <h3>What to do</h3>
      <p>
        {isRequestGone && code !== 'cancelled'
          ? 'Its request is deleted, so send it again from where it came from.'
          : failureAction(code)}
      </p>
      {mayReadDocuments && <FailurePicture id={id} />}
      <p className="note">
        The credit came back to the account. Code <code>{code}</code>.
      </p>
    </div>
  );
}

/** How the warning begins that the service gives where it stopped a script, too. */
const STILL_DRAWN = 'The page was still being drawn';

function Warnings({ record }: { readonly record: Conversion }) {
  const { warnings = [] } = record;
  const what = nounOf(record);
  if (warnings.length === 0) return null;
  return (
    <Notice kind="warning">
      <p>
        {record.kind === 'document'
          ? 'The PDF was made, and differs from what may be expected:'
          : `The ${what} was made, but the page lacked something:`}
      </p>
      <ul className="bullets">
        {warnings.map((warning) => (
          <li key={warning}>{warning}</li>
        ))}
      </ul>
      {warnings.some((warning) => warning.startsWith(STILL_DRAWN)) && (
        <p>
          “{STILL_DRAWN}” means that scripts or animations had not come to an end. A script that
          does not end is stopped. The {what} shows what was drawn until then.
        </p>
      )}
    </Notice>
  );
}
