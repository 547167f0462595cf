import { Link } from '@tanstack/react-router';
import { type Conversion, type ConversionEvent, pictureFormatOf } from '../../api/conversions.ts';
import { CopyButton } from '../../ui/Code.tsx';
import { Facts, RecordLink, Tags } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { conformanceName, formatBytes, formatDuration, formatNumber } from '../../ui/format.ts';
import { comparisonText } from './words.ts';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

/** Hex digits of a hash, by which people tell files apart. */
const SHOWN_DIGITS = 12;

type Source = { readonly sha256: string; readonly bytes: number; readonly conversion?: string };

/** The PDFs that it was made from: the event of its request names them. */
function sourcesOf(events: readonly ConversionEvent[]): readonly Source[] {
  const { sources } = events.find(({ type }) => type === 'ConversionRequested')?.data ?? {};
  return typeof sources === 'string' ? (JSON.parse(sources) as readonly Source[]) : [];
}

function Sources({ sources }: { readonly sources: readonly Source[] }) {
  if (sources.length === 0) return t('finished documents');
  return (
    <ol>
      {sources.map(({ sha256, bytes, conversion }, index) => (
        // A source may be there twice; the list never changes.
        <li key={index}>
          {conversion === undefined ? (
            rich('a file of {bytes}, SHA-256 {code}', {
              bytes: formatBytes(bytes),
              code: <code title={sha256}>{sha256.slice(0, SHOWN_DIGITS)}…</code>,
            })
          ) : (
            <RecordLink id={conversion} />
          )}
        </li>
      ))}
    </ol>
  );
}

const formatted = (value: number | undefined, format: (value: number) => string) =>
  value === undefined ? undefined : format(value);

/** `['pdfa-3b', 'pdfua-1']` → `PDF/A-3b, PDF/UA-1`. */
const conformances = (names: readonly string[]): string =>
  names.map(conformanceName).join(', ') || t('nothing that was asked for');

/** What only those ask for who look for a fault, or compare files. */
function machineFacts({ id, sha256 }: Conversion, events: readonly ConversionEvent[]) {
  const started = events.filter(({ type }) => type === 'ConversionStarted').at(-1);
  const { renderer, attempt } = started?.data ?? {};
  return {
    [t('Id')]: <code>{id}</code>,
    [t('Attempts')]: typeof attempt === 'number' ? attempt : undefined,
    [t('Renderer')]: typeof renderer === 'string' ? renderer : undefined,
    'SHA-256': sha256 && (
      <span className="named">
        <code>{sha256}</code>
        <CopyButton text={sha256} label={t('Copy the hash')} />
      </span>
    ),
  };
}

interface ConversionFactsProps {
  readonly record: Conversion;
  readonly events: readonly ConversionEvent[];
  /** With what is for machines. */
  readonly isDetailed: boolean;
}

/** A conversion in numbers. */
export function ConversionFacts({ record, events, isDetailed }: ConversionFactsProps) {
  const { created_at, duration_ms, pages, bytes } = record;
  const signature = record.pdf?.signature;
  const format = pictureFormatOf(record);
  return (
    <Facts
      facts={{
        [t('Reference')]: record.reference && (
          <Link to="/conversions" search={{ reference: record.reference }}>
            <bdi>{record.reference}</bdi>
          </Link>
        ),
        [t('Tags')]: record.tags && (
          <Tags
            tags={record.tags}
            link={(tag, text) => (
              <Link to="/conversions" search={{ tag }}>
                {text}
              </Link>
            )}
          />
        ),
        [t('Template')]: record.template && (
          <Link to="/templates/$id" params={{ id: record.template.id }} search={{}}>
            {rich('Version {version}', { version: record.template.version })}
          </Link>
        ),
        [t('Batch')]: record.batch && <RecordLink id={record.batch} />,
        [t('Made from')]: record.kind && <Sources sources={sourcesOf(events)} />,
        [t('Retry of')]: record.retry_of && <RecordLink id={record.retry_of} />,
        [t('Compared with')]: record.rerender_of && <RecordLink id={record.rerender_of} />,
        [t('Comparison found')]: record.rerender && comparisonText(record.rerender),
        [t('Created')]: <Time iso={created_at} />,
        [t('Total time')]: formatted(duration_ms, formatDuration),
        [t('Format')]: format,
        [t('Pages')]: format === undefined ? formatted(pages, formatNumber) : undefined,
        [t('Conforms to')]: record.pdf?.conformance && conformances(record.pdf.conformance),
        [t('Signed')]: signature && (
          <span className="named">
            {rich('PAdES {level}, with the certificate {code}', {
              level: signature.level,
              code: <code>{signature.certificate}</code>,
            })}
            <CopyButton
              text={signature.certificate}
              label={t('Copy the hash of the certificate')}
            />
          </span>
        ),
        [t('Size')]: formatted(bytes, formatBytes),
        ...(isDetailed && machineFacts(record, events)),
      }}
    />
  );
}
