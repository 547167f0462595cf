import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import {
  type Conversion,
  conversionEventsQuery,
  conversionFileQuery,
  expiryOf,
} from '../../api/conversions.ts';
import { ApiError } from '../../api/error.ts';
import { Button } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { formatBytes, formatNumber } from '../../ui/format.ts';
import { Loading } from '../../ui/Loading.tsx';
import { formatTime } from '../../ui/Time.tsx';
import styles from './conversion.module.css';
import { SaveButton } from './SaveButton.tsx';

/** Asks viewers that know it for the page in full width, without the column of small pages beside it. */
const VIEW = '#navpanes=0&view=FitH';

/** A blob: address for as long as the component is shown. */
function useObjectUrl(file: Blob | undefined): string | undefined {
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (file === undefined) return undefined;
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => {
      setUrl(undefined);
      URL.revokeObjectURL(made);
    };
  }, [file]);
  return url;
}

function sizeText({ pages, bytes = 0 }: Conversion): string {
  const size = formatBytes(bytes);
  if (pages === undefined) return size;
  return `${formatNumber(pages)} ${pages === 1 ? 'page' : 'pages'}, ${size}`;
}

/** The PDF of a completed conversion. It is not sent before a person asks for it: each download is an event. */
export function PdfPreview({ record }: { readonly record: Conversion }) {
  const { data: events, isPending } = useQuery(conversionEventsQuery(record.id));
  const [isShown, setShown] = useState(false);
  if (isPending) return <Loading label="Loading the state of the PDF" lines={4} />;
  const expiry = expiryOf(events);
  if (expiry !== undefined) return <Gone reason={`It was deleted on ${formatTime(expiry)}.`} />;
  if (isShown) return <PdfFrame id={record.id} />;
  if (!navigator.pdfViewerEnabled) {
    return (
      <EmptyState icon="document" title="The PDF is ready">
        {sizeText(record)}. This browser shows no PDF within a page: download it. The timeline
        records that.
      </EmptyState>
    );
  }
  return (
    <div className={styles.poster}>
      <EmptyState
        icon="document"
        title="The PDF is ready"
        action={<Button onPress={() => setShown(true)}>Show the PDF</Button>}
      >
        {sizeText(record)}. Showing it here is a download, which the timeline records.
      </EmptyState>
    </div>
  );
}

function Gone({ reason }: { readonly reason: string }) {
  return (
    <EmptyState icon="trash" title="The PDF is not stored any more">
      {reason} Its events, its hash and the proof of them stay in the log.
    </EmptyState>
  );
}

/** The PDF in the browser's own viewer. */
function PdfFrame({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery(conversionFileQuery(id));
  const url = useObjectUrl(data?.pdf);
  if (error instanceof ApiError && error.code === 'gone') return <Gone reason={error.message} />;
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (data === undefined || url === undefined)
    return <Loading label="Loading the PDF" lines={12} />;
  return <iframe title={`PDF: ${data.name}`} src={url + VIEW} className={styles.pdf} />;
}

/** Saves the PDF, unless it is not stored any more. */
export function DownloadPdf({ id }: { readonly id: string }) {
  const queries = useQueryClient();
  const { data: events, isPending } = useQuery(conversionEventsQuery(id));
  if (isPending || expiryOf(events) !== undefined) return null;
  const load = async () => {
    const { pdf, name } = await queries.ensureQueryData(conversionFileQuery(id));
    return { file: pdf, name };
  };
  return (
    <SaveButton look="primary" icon="download" what="PDF" load={load}>
      Download PDF
    </SaveButton>
  );
}
