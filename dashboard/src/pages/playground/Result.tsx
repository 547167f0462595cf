import { Link } from '@tanstack/react-router';
import { nounOf } from '../../api/conversions.ts';
import { ApiError, errorText } from '../../api/error.ts';
import { Button } from '../../ui/Button.tsx';
import { formatBytes } from '../../ui/format.ts';
import { Notice } from '../../ui/Notice.tsx';
import { canShowFile, isPicture, PdfFrame } from '../../ui/PdfFrame.tsx';
import { StatusBadge } from '../../ui/StatusBadge.tsx';
import { saveFile } from '../../ui/SaveButton.tsx';
import { EmptyState, Loading } from '../../ui/states.tsx';
import type { Converted } from './conversion.ts';
import styles from './Playground.module.css';
import { labelOfPath } from './request.ts';
import type { Field } from './request-schema.ts';

interface ResultProps {
  readonly isPending: boolean;
  readonly converted: Converted | undefined;
  readonly failure: unknown;
  readonly fields: readonly Field[];
}

/** The outcome of the last conversion. */
export function Result({ isPending, converted, failure, fields }: ResultProps) {
  return (
    <>
      <div role="status" className="visually-hidden">
        {isPending ? 'The document is being converted.' : summaryOf(converted)}
      </div>
      {isPending ? (
        <Loading label="Converting" lines={10} />
      ) : failure !== null ? (
        <Refusal error={failure} fields={fields} />
      ) : converted === undefined ? (
        <EmptyState icon="document" title="The result appears here">
          Edit the HTML or choose options, then convert.
        </EmptyState>
      ) : (
        <Ended converted={converted} />
      )}
    </>
  );
}

function summaryOf(converted: Converted | undefined): string {
  if (converted === undefined) return '';
  const { status, warnings = [] } = converted.record;
  const what = nounOf(converted.record);
  if (status === 'failed') return 'The conversion failed.';
  return warnings.length === 0 ? `The ${what} is ready.` : `The ${what} is ready, with warnings.`;
}

interface RefusalProps {
  readonly error: unknown;
  readonly fields: readonly Field[];
}

/** Why there is no conversion. What concerns a field is said there too. */
function Refusal({ error, fields }: RefusalProps) {
  if (!(error instanceof ApiError)) return <Notice kind="danger">{errorText(error)}</Notice>;
  const details = Object.entries(error.details);
  return (
    <Notice kind="danger">
      {details.length === 0 ? (
        <p>{error.message}</p>
      ) : (
        <>
          <p>Nothing was converted, and no credit was taken. Correct this first:</p>
          <ul className="bullets">
            {details.map(([path, messages = []]) => (
              <li key={path}>
                <strong>{labelOfPath(fields, path)}</strong>: {messages.join(' ')}
              </li>
            ))}
          </ul>
        </>
      )}
      {error.code === 'insufficient_credits' && <Link to="/usage">Credits and usage</Link>}
    </Notice>
  );
}

function Ended({ converted: { record, pdf } }: { readonly converted: Converted }) {
  const { id, status, error_message: reason, warnings = [] } = record;
  return (
    <div className="stack">
      <div className={styles.inline}>
        <StatusBadge status={status} failure={record.failure_code} />
        {pdf !== undefined && <span>{formatBytes(pdf.size)}</span>}
        <Link to="/conversions/$id" params={{ id }}>
          Open the conversion
        </Link>
        {pdf !== undefined && (
          <Button
            small
            icon="download"
            onPress={() =>
              saveFile(pdf, `${id}.${isPicture(pdf) ? pdf.type.replace('image/', '') : 'pdf'}`)
            }
          >
            Download
          </Button>
        )}
      </div>
      {status === 'failed' && <Notice kind="danger">{reason} The credit was given back.</Notice>}
      {warnings.length > 0 && (
        <Notice kind="warning">
          <p>Something was missing when the page was printed:</p>
          <ul className="bullets">
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </Notice>
      )}
      {pdf !== undefined &&
        (canShowFile(pdf) ? (
          <PdfFrame title={isPicture(pdf) ? 'The picture' : 'The PDF'} pdf={pdf} />
        ) : (
          <Notice kind="info">
            This browser does not show a PDF inside a page. Download it instead.
          </Notice>
        ))}
    </div>
  );
}
