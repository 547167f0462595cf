import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import {
  type Conversion,
  type ConversionEvent,
  conversionEventsQuery,
  pictureFormatOf,
} from '../../api/conversions.ts';
import { CopyButton } from '../../ui/Code.tsx';
import { Facts, Tags } from '../../ui/Facts.tsx';
import { conformanceName, formatBytes, formatDuration, formatNumber } from '../../ui/format.ts';
import { Time } from '../../ui/Time.tsx';
import styles from './conversion.module.css';
import { comparisonText } from './words.ts';

/** Hex digits of a hash, by which people tell files apart. */
const SHOWN_DIGITS = 12;

interface Rendering {
  readonly attempts: number;
  /** The node of the last attempt. */
  readonly renderer: string | undefined;
}

function renderingOf(events: readonly ConversionEvent[]): Rendering {
  const started = events.filter(({ type }) => type === 'ConversionStarted');
  const { renderer, attempt } = started.at(-1)?.data ?? {};
  return {
    attempts: typeof attempt === 'number' ? attempt : 0,
    renderer: typeof renderer === 'string' ? renderer : undefined,
  };
}

interface Source {
  readonly sha256: string;
  readonly bytes: number;
  readonly conversion?: string;
}

/** The PDFs that it was made from: the event of its request names them. */
function sourcesOf(events: readonly ConversionEvent[]): readonly Source[] {
  const { sources } = events.find(({ type }) => type === 'ConversionRequested')?.data ?? {};
  return typeof sources === 'string' ? (JSON.parse(sources) as readonly Source[]) : [];
}

function Sources({ sources }: { readonly sources: readonly Source[] }) {
  if (sources.length === 0) return 'finished documents';
  return (
    <ol>
      {sources.map(({ sha256, bytes, conversion }, index) => (
        // A source may be there twice; the list never changes.
        <li key={index}>
          {conversion === undefined ? (
            <>
              a file of {formatBytes(bytes)}, SHA-256{' '}
              <code title={sha256}>{sha256.slice(0, SHOWN_DIGITS)}…</code>
            </>
          ) : (
            <Link to="/conversions/$id" params={{ id: conversion }}>
              <code>{conversion}</code>
            </Link>
          )}
        </li>
      ))}
    </ol>
  );
}

const formatted = (value: number | undefined, format: (value: number) => string) =>
  value === undefined ? undefined : format(value);

const time = (iso: string | undefined) =>
  iso === undefined ? undefined : <Time iso={iso} relative={false} />;

/** `['pdfa-3b', 'pdfua-1']` → `PDF/A-3b, PDF/UA-1`. */
const conformances = (names: readonly string[]): string =>
  names.map(conformanceName).join(', ') || 'nothing that was asked for';

/** A conversion in numbers. */
export function ConversionFacts({ record }: { readonly record: Conversion }) {
  const { id, created_at, completed_at, failed_at, duration_ms, pages, bytes, sha256 } = record;
  const { data: events = [] } = useQuery(conversionEventsQuery(id));
  const { attempts, renderer } = renderingOf(events);
  const signature = record.pdf?.signature;
  const format = pictureFormatOf(record);
  return (
    <Facts
      facts={{
        'File name': record.filename && <bdi>{record.filename}</bdi>,
        Reference: record.reference && (
          <Link to="/conversions" search={{ reference: record.reference }}>
            <bdi>{record.reference}</bdi>
          </Link>
        ),
        Tags: record.tags && (
          <Tags
            tags={record.tags}
            link={(tag, text) => (
              <Link to="/conversions" search={{ tag }}>
                {text}
              </Link>
            )}
          />
        ),
        Batch: record.batch && (
          <Link to="/batches/$id" params={{ id: record.batch }} search={{}}>
            <code>{record.batch}</code>
          </Link>
        ),
        'Made from': record.kind && <Sources sources={sourcesOf(events)} />,
        'Retry of': record.retry_of && (
          <Link to="/conversions/$id" params={{ id: record.retry_of }}>
            <code>{record.retry_of}</code>
          </Link>
        ),
        'Compared with': record.rerender_of && (
          <Link to="/conversions/$id" params={{ id: record.rerender_of }}>
            <code>{record.rerender_of}</code>
          </Link>
        ),
        'Comparison found': record.rerender && comparisonText(record.rerender),
        Created: <Time iso={created_at} />,
        Completed: time(completed_at),
        [record.failure_code === 'cancelled' ? 'Cancelled' : 'Failed']: time(failed_at),
        Duration: formatted(duration_ms, formatDuration),
        Format: format,
        Pages: format === undefined ? formatted(pages, formatNumber) : undefined,
        'Conforms to': record.pdf?.conformance && conformances(record.pdf.conformance),
        Signed: signature && (
          <span className={styles.sha256}>
            PAdES {signature.level}, with the certificate <code>{signature.certificate}</code>
            <CopyButton text={signature.certificate} label="Copy the hash of the certificate" />
          </span>
        ),
        Size: formatted(bytes, formatBytes),
        Attempts: attempts === 0 ? undefined : attempts,
        Renderer: renderer,
        'SHA-256': sha256 && (
          <span className={styles.sha256}>
            <code>{sha256}</code>
            <CopyButton text={sha256} label="Copy the hash" />
          </span>
        ),
      }}
    />
  );
}
