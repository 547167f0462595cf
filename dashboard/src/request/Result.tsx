import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { type Conversion, nounOf } from '../api/conversions.ts';
import { ApiError, errorText } from '../api/error.ts';
import { Button } from '../ui/Button.tsx';
import { counted, formatBytes, formatDuration } from '../ui/format.ts';
import { Loading, Notice } from '../ui/Page.tsx';
import { isPicture, PdfFrame, PictureFrame } from '../ui/PdfFrame.tsx';
import { StatusBadge, TestBadge } from '../ui/records.tsx';
import { saveFile } from '../ui/Dialog.tsx';
import type { Converted } from './convert.ts';
import styles from './request.module.css';
import { rich } from '../words/rich.ts';
import { t } from '../words/words.ts';

interface ResultProps {
  readonly isPending: boolean;
  readonly failure: unknown;
  /** Names the field that the service calls `path`. */
  readonly labelOf: (path: string) => string;
  /** Says what came of it, for screen readers. */
  readonly summary: string;
  /** What is shown stays while the next is made, and below why it was not. */
  readonly isKept?: boolean;
  /** What came of it, or what is to be done first. */
  readonly children: ReactNode;
}

/** The outcome of the last request. */
export function Result(props: ResultProps) {
  const { isPending, failure, labelOf, summary, isKept = false, children } = props;
  return (
    <div className="stack">
      <div role="status" className={isKept ? 'note' : 'visually-hidden'}>
        {isPending ? t('The document is being converted.') : summary}
      </div>
      {failure !== null && !isPending && <Refusal error={failure} labelOf={labelOf} />}
      {isPending && !isKept && <Loading label={t('Converting')} lines={10} />}
      {(isKept || (!isPending && failure === null)) && children}
    </div>
  );
}

/** What has come of a conversion, in a sentence. */
export function summaryOf({ record }: Converted): string {
  const { status, warnings = [] } = record;
  const what = nounOf(record);
  if (status === 'failed') return t('The conversion failed.');
  return warnings.length === 0
    ? t('The {what} is ready.', { what })
    : t('The {what} is ready, with warnings.', { what });
}

interface RefusalProps extends Pick<ResultProps, 'labelOf'> {
  readonly error: unknown;
}

/** Why there is no conversion. What concerns a field is said there too. */
function Refusal({ error, labelOf }: RefusalProps) {
  if (!(error instanceof ApiError)) return <Notice kind="danger">{errorText(error)}</Notice>;
  const details = Object.entries(error.details);
  return (
    <Notice kind="danger">
      {details.length === 0 ? (
        <p>{error.message}</p>
      ) : (
        <>
          <p>{t('Nothing was converted, and no credit was taken. Correct this first:')}</p>
          <ul className="bullets">
            {details.map(([path, messages = []]) => (
              <li key={path}>
                <strong>{labelOf(path)}</strong>: {messages.join(' ')}
              </li>
            ))}
          </ul>
        </>
      )}
      {error.code === 'insufficient_credits' && <Link to="/usage">{t('Credits and usage')}</Link>}
    </Notice>
  );
}

/** What a conversion that has ended made, or why it made nothing. */
export function Ended({ converted: { record, pdf } }: { readonly converted: Converted }) {
  const { id, status, error_message: reason, pages, duration_ms: ms } = record;
  const facts = [
    pages !== undefined && counted(pages, 'page'),
    pdf !== undefined && formatBytes(pdf.size),
    ms !== undefined && formatDuration(ms),
  ];
  return (
    <div className="stack">
      <div className={`${styles.inline} line`}>
        {status !== 'completed' && <StatusBadge status={status} failure={record.failure_code} />}
        {record.test && <TestBadge />}
        <span>{facts.filter((fact) => fact !== false).join(' · ')}</span>
        <Link to="/conversions/$id" params={{ id }}>
          {t('View details')}
        </Link>
        {pdf !== undefined && (
          <Button
            small
            icon="download"
            onPress={() =>
              saveFile(pdf, `${id}.${isPicture(pdf) ? pdf.type.replace('image/', '') : 'pdf'}`)
            }
          >
            {t('Download')}
          </Button>
        )}
      </div>
      {status === 'failed' && (
        <Notice kind="danger">
          {reason} {record.test ? '' : t('The credit was given back.')}
        </Notice>
      )}
      <Warnings record={record} />
      {pdf !== undefined &&
        (isPicture(pdf) ? (
          <PictureFrame alt={t('The picture')} picture={pdf} />
        ) : (
          <PdfFrame id={id} title={t('The PDF')} pdf={pdf} />
        ))}
    </div>
  );
}

/** How the warning begins that the service gives where it stopped a script, too. Warnings are in English. */
const STILL_DRAWN = 'The page was still being drawn';

/** What a conversion that completed lacks. */
export function Warnings({ record }: { readonly record: Conversion }) {
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
