import { useMemo } from 'react';
import type { Found } from '../../../../verifier/verify-evidence.mjs';
import { dependencies } from '../../proof/browser.ts';
import { checkBundle } from '../../proof/checks.ts';
import { ProofSection, useCheckAtOnce } from '../../proof/ProofSection.tsx';
import { contentOf } from '../../ui/chosen-files.ts';
import { Facts } from '../../ui/Facts.tsx';
import { Section } from '../../ui/Page.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import { verifyInWorker } from './verify-in-worker.ts';

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
        lead="This browser checks the bundle with the keys that this service publishes, then against its log of today."
        checking={checking}
      />
      {found !== undefined && <Shown found={found} />}
    </>
  );
}

type EventRow = Found['events'][number];

const COLUMNS: readonly Column<EventRow>[] = [
  { header: 'Event', cell: ({ type }) => type, isRowHeader: true },
  { header: 'Number in the log', cell: ({ index }) => index },
  { header: 'Time', cell: ({ time }) => <Time iso={time} /> },
];

/** The facts that a bundle shows, once all of it holds. */
function Shown({ found }: { readonly found: Found }) {
  const { conversion, events, proved, signed, absent } = found;
  return (
    <Section title="What the bundle shows">
      <Facts
        facts={{
          Conversion: <code>{conversion}</code>,
          'Proved by the log': ['the events', ...proved].join(', '),
          'Signed by the service, not proved': signed.join(', '),
          'Not in the bundle':
            absent.length === 0
              ? undefined
              : absent.map((line) => <p key={line}>{line.replace('absent ', '')}</p>),
          'Not shown': 'Whether there are later events, or a refund that was left out',
        }}
      />
      <Table
        label="Events of the conversion"
        columns={COLUMNS}
        rows={events}
        rowKey={({ index }) => `${index}`}
      />
    </Section>
  );
}
