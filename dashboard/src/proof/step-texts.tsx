import type { ReactNode } from 'react';
import { Facts } from '../ui/Facts.tsx';
import { counted } from '../ui/format.ts';
import { Time } from '../ui/Time.tsx';
import styles from './ProofSection.module.css';
import type { Checkpoint, Failed, Held, StepFacts, StepName } from './steps.ts';

interface StepTexts<Name extends StepName> {
  /** The subject of the step. It claims nothing, for a step may fail or may not be reached. */
  readonly title: string;
  /** The meaning, for people, of a step that fails. */
  readonly failed: string;
  /** The finding of a step that holds. */
  readonly found: (facts: StepFacts[Name]) => ReactNode;
}

const events = (count: number): string => counted(count, 'event');

const STEPS: { readonly [Name in StepName]: StepTexts<Name> } = {
  keys: {
    title: 'Keys of the log',
    failed: 'The proof names no key that the service publishes.',
    found: ({ kept, keys }) => (
      <>
        <p>
          {kept === undefined
            ? 'This browser knows no key from an earlier visit, so it takes the key from the service itself. Compare it with one that you got another way.'
            : 'A key that this browser kept is still in force.'}
        </p>
        <details>
          <summary>Show the key</summary>
          {keys.map((key) => (
            <code key={key} className={styles.value}>
              {key}
            </code>
          ))}
        </details>
      </>
    ),
  },
  checkpoint: {
    title: 'Signature of the checkpoint',
    failed:
      'No key of the service has signed this checkpoint as it stands. It was altered, or comes from another log.',
    found: (checkpoint) => <CheckpointFacts {...checkpoint} />,
  },
  history: {
    title: 'Same log as at earlier visits',
    failed:
      'The log is not the one that this browser has seen before: events were changed or removed. Keep this page, and ask the operator.',
    found: ({ kept, checkpoint, isKept }) =>
      kept === undefined ? (
        <p>
          {isKept
            ? 'This is the first check in this browser. It keeps the state of the log, and will show at a later visit if events were changed or removed.'
            : 'This browser lets the page keep nothing, so that no visit can be compared with an earlier one.'}
        </p>
      ) : (
        <p>
          The first {events(Math.min(kept.size, checkpoint.size))} are the ones that this browser
          saw before. It last kept the state of the log on{' '}
          <Time iso={kept.checkedAt} relative={false} />.
        </p>
      ),
  },
  events: {
    title: 'Events in the log',
    failed:
      'The proof does not fit the log. It was altered, or the service shows another log than the one that it signed.',
    found: ({ events: proved }) => (
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
    ),
  },
  document: {
    title: 'PDF in the log',
    failed: 'The log names another PDF for this conversion, or another signature of it.',
    found: ({ sha256, event }) => (
      <p>
        Event {event.index}, <Time iso={event.time} relative={false} />, names its SHA-256:{' '}
        <code className={styles.value}>{sha256}</code>
      </p>
    ),
  },
  entry: {
    title: 'Hash of the event in the log',
    failed:
      'The proof does not fit the log. It was altered, or the service shows another log than the one that it signed.',
    found: ({ index, leaf }) => (
      <p>
        The hash of event {index} leads to the root hash above:{' '}
        <code className={styles.value}>{leaf}</code>
      </p>
    ),
  },
  statement: {
    title: 'Statement about the PDF',
    failed: 'No key of the service has signed that this event is about this PDF.',
    found: ({ statement }) => (
      <>
        <p>
          A key of the service has signed that this event names this PDF. The event itself belongs
          to its account, so this browser cannot read it and takes the service’s word for that. An
          owner who shows the bundle of evidence proves it without the service.
        </p>
        <details>
          <summary>Show the statement</summary>
          <pre className={styles.value}>{statement}</pre>
        </details>
      </>
    ),
  },
  growth: {
    title: 'Same log as in the bundle',
    failed:
      'The log of this service does not go on from the checkpoint in the bundle. Events were changed or removed since, or the bundle is of another log.',
    found: ({ from, to }) => (
      <p>
        The {events(from.size)} of the log in the bundle are the first of the {events(to.size)} of
        today.
      </p>
    ),
  },
  bundleFiles: {
    title: 'Signature of the bundle',
    failed: 'A file in the bundle is not the one that the service has signed.',
    found: () => (
      <p>A signed list names each file with its SHA-256, and the ZIP has no other byte.</p>
    ),
  },
  bundleCheckpoint: {
    title: 'Checkpoint in the bundle',
    failed: 'No key of the service has signed the checkpoint in the bundle as it stands.',
    found: (found) => found && <CheckpointFacts {...found} cosigners={found.not_checked} />,
  },
  bundleEvents: {
    title: 'Events in the bundle',
    failed: 'An event in the bundle is not as the log has it.',
    found: (found) =>
      found && (
        <p>
          {events(found.events.length)} of the conversion {found.conversion}.
        </p>
      ),
  },
  bundleDocuments: {
    title: 'Documents in the bundle',
    failed: 'A document in the bundle is not the one that the events name.',
    found: (found) =>
      found && found.proved.length > 0 && <p>Proved by their hashes: {found.proved.join(', ')}.</p>,
  },
  bundleReport: {
    title: 'Report in the bundle',
    failed: 'The report in the bundle shows something else than its events.',
    found: () => (
      <p>What the report says besides its events is signed by the service, not proved.</p>
    ),
  },
};

function CheckpointFacts({ origin, size, root, cosigners }: Omit<Checkpoint, 'note'>) {
  return (
    <>
      <p>A key of the service has signed that its log has this size and this root hash.</p>
      <Facts
        facts={{
          Log: <code>{origin}</code>,
          Size: events(size),
          'Root hash': <code>{root}</code>,
        }}
      />
      {cosigners.length > 0 && (
        <p>
          It also bears signatures of {cosigners.join(', ')}. They are not checked here: this
          browser has no keys of witnesses.
        </p>
      )}
    </>
  );
}

export const titleOf = (name: StepName): string => STEPS[name].title;

export const findingOf = <Name extends StepName>({ name, facts }: Held<Name>): ReactNode =>
  STEPS[name].found(facts);

/** True if something was checked: at a first visit a browser has nothing to compare with. */
export const isCompared = ({ facts }: Held): boolean =>
  facts === undefined || !('kept' in facts) || facts.kept !== undefined;

export function meaningOf({ name, difference: { file, of } }: Failed): string {
  if (name === 'keys' && file === 'this browser') {
    return 'None of the keys that this browser kept is in force any more. The keys were changed twice since then, or this is another log. Ask the operator before you trust the new ones.';
  }
  if (name === 'bundleFiles' && (of === 'signed by' || of === 'signers')) {
    return 'No key of this service that is in force has signed the bundle. It comes from another service, was signed again, or is older than the last two changes of the keys.';
  }
  if (name === 'bundleFiles' && (file === 'the ZIP' || file === 'the bundle')) {
    return 'The file is not a whole bundle of evidence. It was cut off, altered, or packed again by another program.';
  }
  return STEPS[name].failed;
}
