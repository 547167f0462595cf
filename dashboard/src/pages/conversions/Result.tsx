/** What came of a conversion: its file, the wait for it, or why there is none. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ComponentProps, type ReactNode, useState } from 'react';
import {
  type Conversion,
  type ConversionEvent,
  conversionFileQuery,
  conversionRequestQuery,
  deletionOf,
  nounOf,
  pictureQuery,
} from '../../api/conversions.ts';
import { ApiError } from '../../api/error.ts';
import { useAccount, useRights } from '../../api/people.ts';
import { Button } from '../../ui/Button.tsx';
import { counted, formatBytes } from '../../ui/format.ts';
import { Warnings } from '../../request/Result.tsx';
import { PdfFrame, PictureFrame } from '../../ui/PdfFrame.tsx';
import { SaveButton } from '../../ui/Dialog.tsx';
import { EmptyState, Loaded, Notice } from '../../ui/Page.tsx';
import styles from './conversion.module.css';
import { deletionText, failureAction, failureTitle } from './words.ts';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

type StoredProps<Data> = ComponentProps<typeof Loaded<Data>> & {
  /** Stands for what was deleted. @param reason the service's words */
  readonly gone: (reason: string) => ReactNode;
};

/** Something that is stored for a while. */
export function Stored<Data>({ gone, ...loaded }: StoredProps<Data>) {
  const { error } = loaded.query;
  if (error instanceof ApiError && error.code === 'gone') return gone(error.message);
  return <Loaded {...loaded} />;
}

interface ResultProps {
  readonly record: Conversion;
  readonly events: readonly ConversionEvent[];
}

export function Result({ record, events }: ResultProps) {
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
      return <Failure record={record} events={events} />;
    case 'completed':
      return (
        <>
          <Warnings record={record} />
          {mayReadDocuments ? (
            <FilePreview record={record} events={events} />
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

/** The file of a completed conversion. It is not sent before a person asks for it: each download is an event. */
function FilePreview({ record, events }: ResultProps) {
  const { id, pages, bytes = 0 } = record;
  const [isShown, setShown] = useState(false);
  const query = useQuery({ ...conversionFileQuery(id), enabled: isShown });
  const what = nounOf(record);
  const isPdf = what === 'PDF';
  const deletion = deletionOf(events);
  const gone = (reason: string) => (
    <EmptyState icon="trash" title={t('The {what} is not stored any more', { what })}>
      {rich('{reason} Its events, its hash and the proof of them stay in the log.', { reason })}
    </EmptyState>
  );
  if (deletion !== undefined) return gone(deletionText(t('It'), deletion));
  if (isShown) {
    return (
      <div className={styles.shown}>
        <Stored query={query} what={t('the {what}', { what })} lines={12} gone={gone}>
          {({ pdf, name }) =>
            isPdf ? (
              <PdfFrame id={id} title={`PDF: ${name}`} pdf={pdf} />
            ) : (
              <PictureFrame alt={`${t('Picture')}: ${name}`} picture={pdf} />
            )
          }
        </Stored>
      </div>
    );
  }
  const pageText = isPdf && pages !== undefined ? `${counted(pages, 'page')}, ` : '';
  return (
    <>
      {isPdf && <Picture id={id} part="thumbnail" alt={t('The first page of the PDF')} />}
      <p className="note">
        {pageText}
        {formatBytes(bytes)}. {t('Showing it here is a download, which the timeline records.')}
      </p>
      <Button icon="document" onPress={() => setShown(true)}>
        {rich('Show the {what}', { what })}
      </Button>
    </>
  );
}

/** Saves the PDF or picture. */
export function DownloadFile({ record }: { readonly record: Conversion }) {
  const what = nounOf(record);
  const queries = useQueryClient();
  const load = async () => {
    const { pdf, name } = await queries.ensureQueryData(conversionFileQuery(record.id));
    return { file: pdf, name };
  };
  return (
    <SaveButton look="primary" icon="download" what={what} load={load}>
      {rich('Download {what}', { what })}
    </SaveButton>
  );
}

interface PictureProps {
  readonly id: string;
  readonly part: 'picture' | 'thumbnail';
  readonly alt: string;
}

/** A picture that is stored with a conversion; nothing if there is none. */
function Picture({ id, part, alt }: PictureProps) {
  const query = useQuery(pictureQuery(id, part));
  const { error } = query;
  if (error instanceof ApiError && error.code === 'service_unavailable') {
    return <p className="note">{t('No picture now')}</p>;
  }
  return (
    <Stored query={query} what={t('the picture')} lines={10} gone={(reason) => <p>{reason}</p>}>
      {(picture) => picture && <PictureFrame {...{ picture, alt }} />}
    </Stored>
  );
}

function Failure({ record, events }: ResultProps) {
  const { id, error_message: reason, failure_code: code = '' } = record;
  const { mayReadDocuments } = useRights();
  const { error } = useQuery({ ...conversionRequestQuery(id), enabled: mayReadDocuments });
  const { data: account } = useAccount();
  const isPaid = record.test !== true && account !== undefined && account.credits !== null;
  const isRequestGone = error instanceof ApiError && error.code === 'gone';
  const failure = events.find(({ type }) => type === 'ConversionFailed');
  const deletion = deletionOf(events);
  return (
    <>
      <h2>{failureTitle(code)}</h2>
      <Notice kind={code === 'cancelled' ? 'info' : 'danger'}>{reason}</Notice>
      <h3>{t('What to do')}</h3>
      <p>
        {isRequestGone && code !== 'cancelled'
          ? t('Its request is deleted, so send it again from where it came from.')
          : failureAction(code)}
      </p>
      {mayReadDocuments && failure?.data['picture'] !== undefined && (
        <>
          <h3>{t('The page when it failed')}</h3>
          {deletion === undefined ? (
            <Picture
              id={id}
              part="picture"
              alt={t('The upper part of the page, as the browser showed it')}
            />
          ) : (
            <p>{deletionText(t('The picture'), deletion)}</p>
          )}
        </>
      )}
      <p className="note">
        {isPaid && t('The credit came back to the account. ')}
        {rich('For programs this is {code}.', { code: <code>{code}</code> })}
      </p>
    </>
  );
}
