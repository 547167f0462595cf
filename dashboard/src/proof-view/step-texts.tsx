import type { Checkpoint, Step, StepName } from '../proof/steps.ts';
import { formatNumber } from '../ui/format.ts';
import { Time } from '../ui/Time.tsx';
import styles from './CheckSteps.module.css';

type HeldStep = Extract<Step, { holds: true }>;

/** The subjects of the steps. They claim nothing, for a step may fail or may not be reached. */
export const TITLES: Readonly<Record<StepName, string>> = {
  keys: 'Keys of the log',
  checkpoint: 'Signature of the checkpoint',
  history: 'Same log as at earlier visits',
  events: 'Events in the log',
  document: 'PDF in the log',
  growth: 'Same log as in the bundle',
  bundleFiles: 'Signature of the bundle',
  bundleCheckpoint: 'Checkpoint in the bundle',
  bundleEvents: 'Events in the bundle',
  bundleDocuments: 'Documents in the bundle',
  bundleReport: 'Report in the bundle',
};

/** True if something was checked: at a first visit a browser has nothing to compare with. */
export function isCompared(step: HeldStep): boolean {
  const isOfBrowser = step.name === 'keys' || step.name === 'history';
  return !isOfBrowser || step.facts.kept !== undefined;
}

const events = (count: number): string =>
  count === 1 ? '1 event' : `${formatNumber(count)} events`;

function Hashes({ label, values }: { readonly label: string; readonly values: readonly string[] }) {
  return (
    <details className={styles.details}>
      <summary>{label}</summary>
      {values.map((value) => (
        <code key={value} className={styles.value}>
          {value}
        </code>
      ))}
    </details>
  );
}

function CheckpointFacts({ checkpoint }: { readonly checkpoint: Checkpoint }) {
  const { origin, size, root, cosigners } = checkpoint;
  return (
    <>
      <p>A key of the service has signed that its log has this size and this root hash.</p>
      <dl className={styles.facts}>
        <dt>Log</dt>
        <dd>
          <code>{origin}</code>
        </dd>
        <dt>Size</dt>
        <dd>{events(size)}</dd>
        <dt>Root hash</dt>
        <dd>
          <code>{root}</code>
        </dd>
      </dl>
      {cosigners.length > 0 && (
        <p>
          It also bears signatures of {cosigners.join(', ')}. They are not checked here: this
          browser has no keys of witnesses.
        </p>
      )}
    </>
  );
}

/** The finding of a step that holds. */
export function Facts({ step }: { readonly step: HeldStep }) {
  switch (step.name) {
    case 'keys': {
      const { kept, keys } = step.facts;
      return (
        <>
          <p>
            {kept === undefined
              ? 'This browser knows no key from an earlier visit, so it takes the key from the service itself. Compare it with one that you got another way.'
              : 'A key that this browser kept is still in force.'}
          </p>
          <Hashes label="Show the key" values={keys} />
        </>
      );
    }
    case 'checkpoint':
      return <CheckpointFacts checkpoint={step.facts} />;
    case 'history': {
      const { kept, checkpoint, isKept } = step.facts;
      if (kept !== undefined) {
        return (
          <p>
            The first {events(Math.min(kept.size, checkpoint.size))} are the ones that this browser
            saw before. It last kept the state of the log on{' '}
            <Time iso={kept.checkedAt} relative={false} />.
          </p>
        );
      }
      return (
        <p>
          {isKept
            ? 'This is the first check in this browser. It keeps the state of the log, and will show at a later visit if events were changed or removed.'
            : 'This browser lets the page keep nothing, so that no visit can be compared with an earlier one.'}
        </p>
      );
    }
    case 'events':
      return <EventList events={step.facts.events} />;
    case 'document': {
      const { sha256, event } = step.facts;
      return (
        <p>
          Event {event.index}, <Time iso={event.time} relative={false} />, names its SHA-256:{' '}
          <code className={styles.value}>{sha256}</code>
        </p>
      );
    }
    case 'growth':
      return (
        <p>
          The {events(step.facts.from.size)} of the log in the bundle are the first of the{' '}
          {events(step.facts.to.size)} of today.
        </p>
      );
    case 'bundleFiles':
    case 'bundleCheckpoint':
    case 'bundleEvents':
    case 'bundleDocuments':
    case 'bundleReport':
      return <BundleFacts step={step} />;
  }
}

type EventFacts = Extract<HeldStep, { name: 'events' }>['facts']['events'];

function EventList({ events: proved }: { readonly events: EventFacts }) {
  return (
    <>
      <p>
        The hash of each leads to the root hash above. No event of the conversion’s stream is left
        out between them.
      </p>
      <ol className={styles.events}>
        {proved.map(({ index, type, time, leaf }) => (
          <li key={index}>
            <span className={styles.eventName}>{type}</span>
            <span>
              event {index}, <Time iso={time} relative={false} />
            </span>
            <code className={styles.value}>{leaf}</code>
          </li>
        ))}
      </ol>
    </>
  );
}

type BundleStep = Exclude<
  HeldStep,
  { name: 'keys' | 'checkpoint' | 'history' | 'events' | 'document' | 'growth' }
>;

function BundleFacts({ step: { name, facts } }: { readonly step: BundleStep }) {
  const { found } = facts;
  switch (name) {
    case 'bundleFiles':
      return <p>A signed list names each file with its SHA-256, and the ZIP has no other byte.</p>;
    case 'bundleCheckpoint':
      return (
        found && (
          <CheckpointFacts checkpoint={{ ...found, note: '', cosigners: found.not_checked }} />
        )
      );
    case 'bundleEvents':
      return (
        found && (
          <p>
            {events(found.events.length)} of the conversion {found.conversion}.
          </p>
        )
      );
    case 'bundleDocuments':
      return (
        found &&
        found.proved.length > 0 && <p>Proved by their hashes: {found.proved.join(', ')}.</p>
      );
    case 'bundleReport':
      return <p>What the report says besides its events is signed by the service, not proved.</p>;
  }
}
