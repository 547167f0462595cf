import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import {
  type Conversion,
  conversionEventsQuery,
  conversionFileQuery,
  deletionOf,
  nounOf,
  pictureQuery,
  thumbnailQuery,
} from '../../api/conversions.ts';
import { ApiError } from '../../api/error.ts';
import { Button } from '../../ui/Button.tsx';
import { counted, formatBytes } from '../../ui/format.ts';
import { PdfFrame } from '../../ui/PdfFrame.tsx';
import { SaveButton } from '../../ui/Dialog.tsx';
import { EmptyState, Loaded, Loading } from '../../ui/Page.tsx';
import styles from './conversion.module.css';
import { deletionText } from './words.ts';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

function sizeText(record: Conversion): string {
  const { pages, bytes = 0 } = record;
  const size = formatBytes(bytes);
  return pages === undefined || nounOf(record) !== 'PDF'
    ? size
    : `${counted(pages, 'page')}, ${size}`;
}

/** The PDF or picture of a completed conversion. It is not sent before a person asks for it: each download is an event. */
export function PdfPreview({ record }: { readonly record: Conversion }) {
  const { data: events, isPending } = useQuery(conversionEventsQuery(record.id));
  const [isShown, setShown] = useState(false);
  const what = nounOf(record);
  if (isPending)
    return <Loading label={t('Loading the state of the {what}', { what })} lines={4} />;
  const deletion = deletionOf(events);
  if (deletion !== undefined) return <Gone what={what} reason={deletionText(t('It'), deletion)} />;
  if (isShown) return <StoredFile id={record.id} what={what} />;
  const canShow = canShowHere(record);
  const noteText = canShow
    ? t('Showing it here is a download, which the timeline records.')
    : t('This browser shows no PDF within a page: download it. The timeline records that.');
  return (
    <>
      {what === 'PDF' && <FirstPage id={record.id} />}
      <p className="note">
        {sizeText(record)}. {noteText}
      </p>
      {canShow && (
        <Button icon="document" onPress={() => setShown(true)}>
          {rich('Show the {what}', { what })}
        </Button>
      )}
    </>
  );
}

/** The first page; nothing if it cannot be drawn, as where it needs a password. */
function FirstPage({ id }: { readonly id: string }) {
  const { data, isPending } = useQuery(thumbnailQuery(id));
  if (isPending) return <Loading label={t('Loading the first page')} lines={10} />;
  return data && <Picture picture={data} alt={t('The first page of the PDF')} />;
}

/** True if this browser shows the file of the conversion within a page: pictures always. */
const canShowHere = (record: Conversion): boolean =>
  nounOf(record) !== 'PDF' || navigator.pdfViewerEnabled;

type GoneProps = { readonly what: string; readonly reason: string };

function Gone({ what, reason }: GoneProps) {
  return (
    <EmptyState icon="trash" title={t('The {what} is not stored any more', { what })}>
      {rich('{reason} Its events, its hash and the proof of them stay in the log.', { reason })}
    </EmptyState>
  );
}

function StoredFile({ id, what }: Omit<GoneProps, 'reason'> & { readonly id: string }) {
  const query = useQuery(conversionFileQuery(id));
  const { error } = query;
  if (error instanceof ApiError && error.code === 'gone')
    return <Gone what={what} reason={error.message} />;
  return (
    <div className={styles.shown}>
      <Loaded query={query} what={t('the {what}', { what })} lines={12}>
        {({ pdf, name }) => (
          <PdfFrame title={`${what === 'PDF' ? what : t('Picture')}: ${name}`} pdf={pdf} />
        )}
      </Loaded>
    </div>
  );
}

/** Saves the PDF or picture. */
export function DownloadFile({ record }: { readonly record: Conversion }) {
  const { id } = record;
  const what = nounOf(record);
  const queries = useQueryClient();
  const load = async () => {
    const { pdf, name } = await queries.ensureQueryData(conversionFileQuery(id));
    return { file: pdf, name };
  };
  return (
    <SaveButton look="primary" icon="download" what={what} load={load}>
      {rich('Download {what}', { what })}
    </SaveButton>
  );
}

/** The page at the moment of its failure, if the log names a picture of it. */
export function FailurePicture({ id }: { readonly id: string }) {
  const { data: events } = useQuery(conversionEventsQuery(id));
  const failure = events?.find(({ type }) => type === 'ConversionFailed');
  if (failure?.data['picture'] === undefined) return null;
  const deletion = deletionOf(events);
  return (
    <>
      <h3>{t('The page when it failed')}</h3>
      {deletion === undefined ? (
        <StoredPicture id={id} />
      ) : (
        <p>{deletionText(t('The picture'), deletion)}</p>
      )}
    </>
  );
}

function StoredPicture({ id }: { readonly id: string }) {
  const query = useQuery(pictureQuery(id));
  const { error } = query;
  if (error instanceof ApiError && error.code === 'gone') return <p>{error.message}</p>;
  return (
    <Loaded query={query} what={t('the picture')} lines={8}>
      {(picture) => (
        <Picture
          picture={picture}
          alt={t('The upper part of the page, as the browser showed it')}
        />
      )}
    </Loaded>
  );
}

type PictureProps = { readonly picture: Blob; readonly alt: string };

/** A picture that the service sent. */
export function Picture({ picture, alt }: PictureProps) {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    const made = URL.createObjectURL(picture);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [picture]);
  return url && <img src={url} alt={alt} className={styles.picture} />;
}
