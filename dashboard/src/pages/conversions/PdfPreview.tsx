import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { conversionFileQuery } from '../../api/conversions.ts';
import { ApiError } from '../../api/error.ts';
import { Button, ButtonAnchor } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { formatBytes } from '../../ui/format.ts';
import { Loading } from '../../ui/Loading.tsx';
import { saveFile } from '../../ui/save-file.ts';
import styles from './conversion.module.css';

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

/** Tells whether the service has deleted the file. */
const isGone = (error: Error | null): error is ApiError =>
  error instanceof ApiError && error.code === 'gone';

/** The PDF of a completed conversion, shown by the browser's own viewer where it has one. */
export function PdfPreview({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery(conversionFileQuery(id));
  const url = useObjectUrl(data?.pdf);
  if (isGone(error)) {
    return (
      <EmptyState icon="trash" title="The PDF is not stored any more">
        {error.message} Its events, its hash and the proof of them stay in the log.
      </EmptyState>
    );
  }
  if (error !== null) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (data === undefined || url === undefined)
    return <Loading label="Loading the PDF" lines={12} />;
  if (navigator.pdfViewerEnabled) {
    return <iframe title={`PDF: ${data.name}`} src={url + VIEW} className={styles.pdf} />;
  }
  return (
    <EmptyState
      icon="document"
      title={data.name}
      action={
        <div className={styles.buttons}>
          <ButtonAnchor href={url} target="_blank" rel="noopener" icon="external">
            Open the PDF
          </ButtonAnchor>
          <Button icon="download" onPress={() => saveFile(data.pdf, data.name)}>
            Download the PDF
          </Button>
        </div>
      }
    >
      {formatBytes(data.pdf.size)}. This browser shows no PDF within a page.
    </EmptyState>
  );
}

/** Saves the PDF that the preview has loaded, unless it is not stored any more. */
export function DownloadPdf({ id }: { readonly id: string }) {
  const { data, error } = useQuery(conversionFileQuery(id));
  if (isGone(error)) return null;
  return (
    <Button
      look="primary"
      icon="download"
      isDisabled={data === undefined}
      onPress={() => data && saveFile(data.pdf, data.name)}
    >
      Download PDF
    </Button>
  );
}
