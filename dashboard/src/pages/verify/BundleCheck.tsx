import { useEffect } from 'react';
import type { Found } from '../../../../verifier/verify-evidence.mjs';
import { BUNDLE_PLAN, checkBundle } from '../../proof/check-bundle.ts';
import type { Step } from '../../proof/steps.ts';
import { dependencies } from '../../proof-view/browser.ts';
import { CheckResult } from '../../proof-view/CheckResult.tsx';
import { CheckSteps } from '../../proof-view/CheckSteps.tsx';
import { useCheck } from '../../proof-view/useCheck.ts';
import { Section } from '../../ui/Page.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { Time } from '../../ui/Time.tsx';
import { contentOf } from './chosen-file.ts';
import styles from './VerifyPage.module.css';
import { verifyInWorker } from './verify-in-worker.ts';

async function* bundleSteps(file: File): AsyncGenerator<Step> {
  yield* checkBundle(await contentOf(file), verifyInWorker, dependencies);
}

/** The facts that a bundle shows, once all of it holds. */
const foundIn = (steps: readonly Step[]): Found | undefined =>
  steps.flatMap((step) =>
    step.name === 'bundleReport' && step.holds ? [step.facts.found] : [],
  )[0];

export function BundleCheck({ file }: { readonly file: File }) {
  const { state, run } = useCheck();
  const check = () => void run(() => bundleSteps(file));
  // The person has asked for it by choosing the file.
  useEffect(check, [run, file]);
  const found = state.status === 'ended' ? foundIn(state.steps) : undefined;
  return (
    <>
      <Section
        title="Proof"
        lead="This browser checks the bundle with the keys that this service publishes, then against its log of today."
      >
        <CheckResult plan={BUNDLE_PLAN} state={state} />
        <CheckSteps plan={BUNDLE_PLAN} state={state} onAgain={check} />
      </Section>
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

function Shown({ found }: { readonly found: Found }) {
  const { conversion, proved, signed, absent } = found;
  return (
    <Section title="What the bundle shows">
      <dl className={styles.facts}>
        <dt>Conversion</dt>
        <dd>
          <code>{conversion}</code>
        </dd>
        <dt>Proved by the log</dt>
        <dd>{['the events', ...proved].join(', ')}</dd>
        <dt>Signed by the service, not proved</dt>
        <dd>{signed.join(', ')}</dd>
        {absent.length > 0 && (
          <>
            <dt>Not in the bundle</dt>
            <dd>
              {absent.map((line) => (
                <p key={line}>{line.replace('absent ', '')}</p>
              ))}
            </dd>
          </>
        )}
        <dt>Not shown</dt>
        <dd>Whether there are later events, or a refund that was left out</dd>
      </dl>
      <Table
        label="Events of the conversion"
        columns={COLUMNS}
        rows={found.events}
        rowKey={({ index }) => `${index}`}
      />
    </Section>
  );
}
