import { useMemo } from 'react';
import type { Found } from '../../../../verifier/verify-evidence.mjs';
import { dependencies } from '../../proof/browser.ts';
import { checkBundle } from '../../proof/checks.ts';
import { ProofSection, useCheckAtOnce } from '../../proof/ProofSection.tsx';
import { contentOf } from '../../ui/chosen-files.ts';
import { type Column, Facts, Table, Time } from '../../ui/records.tsx';
import { Section } from '../../ui/Page.tsx';
import { verifyInWorker } from './verify-in-worker.ts';
import { t } from '../../words/words.ts';

export function BundleCheck({ file }: { readonly file: File }) {
  const check = useMemo(
    () => checkBundle(() => contentOf(file), verifyInWorker, dependencies),
    [file],
  );
  const checking = useCheckAtOnce(check);
  const { status, steps } = checking.state;
  const [found] = steps.flatMap((step) =>
    status === 'ended' && step.holds && step.name === 'bundleReport' ? (step.facts ?? []) : [],
  );
  return (
    <>
      <ProofSection
        lead={t(
          'This browser checks the bundle with the keys that this service publishes, then against its log of today.',
        )}
        checking={checking}
      />
      {found !== undefined && <Shown found={found} />}
    </>
  );
}

type EventRow = Found['events'][number];

const COLUMNS: readonly Column<EventRow>[] = [
  { header: t('Event'), cell: ({ type }) => type, isRowHeader: true },
  { header: t('Number in the log'), cell: ({ index }) => index },
  { header: t('Time'), cell: ({ time }) => <Time iso={time} /> },
];

/** The facts that a bundle shows, once all of it holds. */
function Shown({ found }: { readonly found: Found }) {
  const { conversion, events, proved, signed, absent } = found;
  return (
    <Section title={t('What the bundle shows')}>
      <Facts
        facts={{
          [t('Conversion')]: <code>{conversion}</code>,
          [t('Proved by the log')]: [t('the events'), ...proved].join(', '),
          [t('Signed by the service, not proved')]: signed.join(', '),
          [t('Not in the bundle')]:
            absent.length === 0
              ? undefined
              : absent.map((line) => <p key={line}>{line.replace('absent ', '')}</p>),
          [t('Not shown')]: t('Whether there are later events, or a refund that was left out'),
        }}
      />
      <Table
        label={t('Events of the conversion')}
        columns={COLUMNS}
        rows={events}
        rowKey={({ index }) => `${index}`}
      />
    </Section>
  );
}
