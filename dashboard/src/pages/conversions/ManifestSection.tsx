import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type RenderRecord, renderRecordQuery } from '../../api/conversions.ts';
import { usePerson } from '../../api/people.ts';
import { type Column, Facts, Table } from '../../ui/records.tsx';
import { formatBytes, formatDuration, formatNumber } from '../../ui/format.ts';
import { Notice } from '../../ui/Page.tsx';
import { Tabs } from '../../ui/Tabs.tsx';
import styles from './conversion.module.css';
import { Stored } from './Result.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

type Resource = RenderRecord['resources'][number] & { readonly key: string };

const PHASES = [
  ['queue', t('Waiting in the queue')],
  ['start', t('Opening a tab')],
  ['load', t('Loading the page')],
  ['ready', t('Waiting for its content')],
  ['print', t('Printing')],
  ['store', t('Storing')],
] as const;

/** How the PDF was made: times, fonts, resources and errors of the page. All of it is text. */
export function ManifestSection({ id }: { readonly id: string }) {
  return (
    <Stored
      query={useQuery(renderRecordQuery(id))}
      what={t('the manifest')}
      lines={6}
      gone={() => (
        <Notice kind="info">
          {t(
            'The manifest is not stored any more: it was deleted together with the PDF. Its hash stays in the log.',
          )}
        </Notice>
      )}
    >
      {(record) => <Manifest record={record} />}
    </Stored>
  );
}

interface ListOf {
  readonly title: string;
  readonly count: number;
  /** So many are not in the manifest. */
  readonly leftOut: number;
  readonly none: string;
  readonly content: ReactNode;
}

/** A tab with the things of one kind, whose number is in its title. */
const listTab = ({ title, count, leftOut, none, content }: ListOf) => ({
  id: title,
  title: `${title} (${formatNumber(count + leftOut)})`,
  content:
    count + leftOut === 0 ? (
      <p className="note">{none}</p>
    ) : (
      <>
        {content}
        {leftOut > 0 && (
          <p className="note">
            {rich('{leftOut} more are not listed.', { leftOut: formatNumber(leftOut) })}
          </p>
        )}
      </>
    ),
});

function Manifest({ record }: { readonly record: RenderRecord }) {
  const { fonts, resources, tunnels, console_errors: errors } = record;
  const tabs = [
    { id: 'rendering', title: t('Rendering'), content: <Rendering record={record} /> },
    listTab({
      title: t('Fonts'),
      count: fonts.length,
      leftOut: 0,
      none: t('The PDF has no text.'),
      content: (
        <ul className="bullets">
          {fonts.map((font) => (
            <li key={font}>{font}</li>
          ))}
        </ul>
      ),
    }),
    listTab({
      title: t('Resources'),
      count: resources.length,
      leftOut: record.resources_left_out,
      none: t('The document asked for nothing else.'),
      content: (
        <>
          <Table
            label={t('Resources')}
            columns={RESOURCE_COLUMNS}
            rows={resources.map((each, index) => ({ ...each, key: String(index) }))}
            rowKey={({ key }) => key}
          />
          {tunnels.map(({ host, bytes }, index) => (
            <p key={index}>
              {rich('Encrypted to {host}, {bytes}', { host, bytes: formatBytes(bytes) })}
            </p>
          ))}
        </>
      ),
    }),
    listTab({
      title: t('Console'),
      count: errors.length,
      leftOut: record.console_errors_left_out,
      none: t('The page reported no errors.'),
      content: (
        <ul className="bullets">
          {errors.map(({ text, at }, index) => (
            // The same error may come twice; the list never changes.
            <li key={index}>
              <code>{text}</code>
              {at !== undefined && <p className="note">{at}</p>}
            </li>
          ))}
        </ul>
      ),
    }),
  ];
  return <Tabs label={t('Manifest')} tabs={tabs} />;
}

/** Waits whose names say too little; the others are words already. */
const WAITS: Readonly<Record<string, string>> = {
  drawing: t('scripts and animations that still drew'),
  network_idle: t('a quiet network'),
  requests: t('data that the page was fetching'),
  view: t('showing all of the page to its scripts'),
};

function Rendering({ record }: { readonly record: RenderRecord }) {
  const { renderer, attempt, chrome, timings, waits } = record;
  const { data: person } = usePerson();
  const givenUp = waits
    .filter(({ capped = false }) => capped)
    .map((wait) => WAITS[wait.for] ?? wait.for);
  return (
    <>
      <Phases timings={timings} />
      <Facts
        facts={{
          [t('Renderer')]: t('{renderer}, attempt {attempt}', { renderer, attempt }),
          [t('Browser')]: t('{product}, revision {revision}', {
            product: chrome.product,
            revision: chrome.revision,
          }),
          // It is the operator's to switch on.
          [t('Sandbox')]: person?.operator ? (chrome.sandboxed ? t('on') : t('off')) : undefined,
          [t('Unfinished at print time')]: givenUp.join(', ') || t('none'),
        }}
      />
    </>
  );
}

/** The phases as bars of one scale, with their times as text. */
function Phases({ timings }: { readonly timings: RenderRecord['timings'] }) {
  const total = PHASES.reduce((sum, [phase]) => sum + timings[phase], 0);
  let before = 0;
  return (
    <ul className={styles.phases}>
      {PHASES.map(([phase, title]) => {
        const ms = timings[phase];
        const left = total === 0 ? 0 : (before / total) * 100;
        before += ms;
        return (
          <li key={phase} className={styles.phase}>
            <span>{title}</span>
            <span className={styles.track} aria-hidden="true">
              <span
                className={styles.bar}
                style={{ left: `${left}%`, width: `${total === 0 ? 0 : (ms / total) * 100}%` }}
              />
            </span>
            <span>{formatDuration(ms)}</span>
          </li>
        );
      })}
    </ul>
  );
}

const RESOURCE_COLUMNS: readonly Column<Resource>[] = [
  {
    header: t('Address'),
    isRowHeader: true,
    cell: ({ url, redirects = [], error }) => (
      <span className={styles.address}>
        {redirects.map((each) => (
          <span key={each.url} className="note">
            {rich('{url} ({status}), then', { url: each.url, status: each.status })}
          </span>
        ))}
        <span>{url}</span>
        {error !== undefined && <span className="wrong">{error}</span>}
      </span>
    ),
  },
  { header: t('Answer'), cell: ({ status }) => status ?? t('none') },
  { header: t('Type'), cell: ({ type, kind }) => type ?? kind ?? '–' },
  { header: t('Size'), align: 'end', cell: ({ bytes }) => formatBytes(bytes) },
  {
    header: 'SHA-256',
    cell: ({ sha256, hashed }) =>
      sha256 === undefined ? (
        '–'
      ) : (
        <span className={styles.address}>
          <code>{sha256}</code>
          <span className="note">{HASHED[hashed ?? 'received']}</span>
        </span>
      ),
  },
];

const HASHED = {
  received: t('as it was received'),
  decoded: t('without its content coding'),
  text: t('as text in UTF-8'),
} as const;
