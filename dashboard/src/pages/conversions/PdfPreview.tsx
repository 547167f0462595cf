import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import {
  type Conversion,
  conversionEventsQuery,
  conversionFileQuery,
  deletionOf,
} from '../../api/conversions.ts';
import { ApiError } from '../../api/error.ts';
import { Button } from '../../ui/Button.tsx';
import { counted, formatBytes } from '../../ui/format.ts';
import { PdfFrame } from '../../ui/PdfFrame.tsx';
import { SaveButton } from '../../ui/SaveButton.tsx';
import { EmptyState, Loaded, Loading } from '../../ui/states.tsx';
import styles from './conversion.module.css';
import { deletionText } from './words.ts';

function sizeText({ pages, bytes = 0 }: Conversion): string {
  const size = formatBytes(bytes);
  return pages === undefined ? size : `${counted(pages, 'page')}, ${size}`;
}

/** The PDF of a completed conversion. It is not sent before a person asks for it: each download is an event. */
export function PdfPreview({ record }: { readonly record: Conversion }) {
  const { data: events, isPending } = useQuery(conversionEventsQuery(record.id));
  const [isShown, setShown] = useState(false);
  if (isPending) return <Loading label="Loading the state of the PDF" lines={4} />;
  const deletion = deletionOf(events);
  if (deletion !== undefined) return <Gone reason={deletionText('It', deletion)} />;
  if (isShown) return <StoredPdf id={record.id} />;
  const canShow = navigator.pdfViewerEnabled;
  return (
    <div className={canShow ? styles.poster : undefined}>
      <EmptyState
        icon="document"
        title="The PDF is ready"
        action={canShow && <Button onPress={() => setShown(true)}>Show the PDF</Button>}
      >
        {sizeText(record)}.{' '}
        {canShow
          ? 'Showing it here is a download, which the timeline records.'
          : 'This browser shows no PDF within a page: download it. The timeline records that.'}
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

function StoredPdf({ id }: { readonly id: string }) {
  const query = useQuery(conversionFileQuery(id));
  const { error } = query;
  if (error instanceof ApiError && error.code === 'gone') return <Gone reason={error.message} />;
  return (
    <Loaded query={query} what="the PDF" lines={12}>
      {({ pdf, name }) => <PdfFrame title={`PDF: ${name}`} pdf={pdf} />}
    </Loaded>
  );
}

/** Saves the PDF, unless it is not stored any more. */
export function DownloadPdf({ id }: { readonly id: string }) {
  const queries = useQueryClient();
  const { data: events, isPending } = useQuery(conversionEventsQuery(id));
  if (isPending || deletionOf(events) !== undefined) return null;
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
