import type { ReactNode } from 'react';
import { Facts } from '../ui/records.tsx';
import { Time } from '../ui/time.tsx';
import { counted } from '../ui/format.ts';
import styles from './ProofSection.module.css';
import type { Checkpoint, Failed, Held, StepFacts, StepName } from './steps.ts';
import { rich } from '../words/rich.ts';
import { t } from '../words/words.ts';

interface StepTexts<Name extends StepName> {
  /** The subject of the step. It claims nothing, for a step may fail or may not be reached. */
  readonly title: string;
  /** The meaning, for people, of a step that fails. */
  readonly failed: string;
  /** The finding of a step that holds. */
  readonly found: (facts: StepFacts[Name]) => ReactNode;
}

const events = (count: number): string => counted(count, 'event');
const value = (text: string) => <code className={styles.value}>{text}</code>;
const at = (iso: string) => <Time iso={iso} relative={false} />;

const NOT_IN_LOG = t(
  'The proof does not fit the log. It was altered, or the service shows another log than the one that it signed.',
);

const STEPS: { readonly [Name in StepName]: StepTexts<Name> } = {
  keys: {
    title: t('Keys of the log'),
    failed: t('The proof names no key that the service publishes.'),
    found: ({ kept, keys }) => (
      <>
        {kept === undefined
          ? t(
              'This browser knows no key from an earlier visit, so it takes the key from the service itself. Compare it with one that you got another way.',
            )
          : t('A key that this browser kept is still in force.')}
        <details>
          <summary>{t('Show the key')}</summary>
          {value(keys.join('\n'))}
        </details>
      </>
    ),
  },
  checkpoint: {
    title: t('Signature of the checkpoint'),
    failed: t(
      'No key of the service has signed this checkpoint as it stands. It was altered, or comes from another log.',
    ),
    found: (checkpoint) => <CheckpointFacts {...checkpoint} />,
  },
  history: {
    title: t('Same log as at earlier visits'),
    failed: t(
      'The log is not the one that this browser has seen before: events were changed or removed. Keep this page, and ask the operator.',
    ),
    found: ({ kept, checkpoint, isKept }) => {
      if (kept !== undefined) {
        return rich(
          'The first {events} are the ones that this browser saw before. It last kept the state of the log on {time}.',
          { events: events(Math.min(kept.size, checkpoint.size)), time: at(kept.checkedAt) },
        );
      }
      return isKept
        ? t(
            'This is the first check in this browser. It keeps the state of the log, and will show at a later visit if events were changed or removed.',
          )
        : t(
            'This browser lets the page keep nothing, so that no visit can be compared with an earlier one.',
          );
    },
  },
  events: {
    title: t('Events in the log'),
    failed: NOT_IN_LOG,
    found: ({ events: proved }) => (
      <>
        {t(
          'The hash of each leads to the root hash above. No event of the conversion’s stream is left out between them.',
        )}
        <ol className={styles.events}>
          {proved.map(({ index, type, time, leaf }) => (
            <li key={index}>
              <b>{type}</b>
              <span>{rich('event {index}, {time}', { index, time: at(time) })}</span>
              {value(leaf)}
            </li>
          ))}
        </ol>
      </>
    ),
  },
  document: {
    title: t('PDF in the log'),
    failed: t('The log names another PDF for this conversion, or another signature of it.'),
    found: ({ sha256, event: { index, time } }) =>
      rich('Event {index}, {time}, names its SHA-256: {code}', {
        index,
        time: at(time),
        code: value(sha256),
      }),
  },
  entry: {
    title: t('Hash of the event in the log'),
    failed: NOT_IN_LOG,
    found: ({ index, leaf }) =>
      rich('The hash of event {index} leads to the root hash above: {code}', {
        index,
        code: value(leaf),
      }),
  },
  statement: {
    title: t('Statement about the PDF'),
    failed: t('No key of the service has signed that this event is about this PDF.'),
    found: ({ statement }) => (
      <>
        {t(
          'A key of the service has signed that this event names this PDF. The event itself belongs to its account, so this browser cannot read it and takes the service’s word for that. An owner who shows the bundle of evidence proves it without the service.',
        )}
        <details>
          <summary>{t('Show the statement')}</summary>
          {value(statement)}
        </details>
      </>
    ),
  },
  growth: {
    title: t('Same log as in the bundle'),
    failed: t(
      'The log of this service does not go on from the checkpoint in the bundle. Events were changed or removed since, or the bundle is of another log.',
    ),
    found: ({ from, to }) =>
      t('The {size} of the log in the bundle are the first of the {size2} of today.', {
        size: events(from.size),
        size2: events(to.size),
      }),
  },
  bundleFiles: {
    title: t('Signature of the bundle'),
    failed: t('A file in the bundle is not the one that the service has signed.'),
    found: () =>
      t('A signed list names each file with its SHA-256, and the ZIP has no other byte.'),
  },
  bundleCheckpoint: {
    title: t('Checkpoint in the bundle'),
    failed: t('No key of the service has signed the checkpoint in the bundle as it stands.'),
    found: (found) => found && <CheckpointFacts {...found} cosigners={found.not_checked} />,
  },
  bundleEvents: {
    title: t('Events in the bundle'),
    failed: t('An event in the bundle is not as the log has it.'),
    found: (found) =>
      found &&
      t('{length} of the conversion {conversion}.', {
        length: events(found.events.length),
        conversion: found.conversion,
      }),
  },
  bundleDocuments: {
    title: t('Documents in the bundle'),
    failed: t('A document in the bundle is not the one that the events name.'),
    found: (found) =>
      found &&
      found.proved.length > 0 &&
      t('Proved by their hashes: {value}.', { value: found.proved.join(', ') }),
  },
  bundleReport: {
    title: t('Report in the bundle'),
    failed: t('The report in the bundle shows something else than its events.'),
    found: () => t('What the report says besides its events is signed by the service, not proved.'),
  },
};

function CheckpointFacts({ origin, size, root, cosigners }: Omit<Checkpoint, 'note'>) {
  return (
    <>
      <p>{t('A key of the service has signed that its log has this size and this root hash.')}</p>
      <Facts
        facts={{
          [t('Log')]: <code>{origin}</code>,
          [t('Size')]: events(size),
          [t('Root hash')]: <code>{root}</code>,
        }}
      />
      {cosigners.length > 0 && (
        <p>
          {rich(
            'It also bears signatures of {value}. They are not checked here: this browser has no keys of witnesses.',
            { value: cosigners.join(', ') },
          )}
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
    return t(
      'None of the keys that this browser kept is in force any more. The keys were changed twice since then, or this is another log. Ask the operator before you trust the new ones.',
    );
  }
  if (name === 'bundleFiles' && (of === 'signed by' || of === 'signers')) {
    return t(
      'No key of this service that is in force has signed the bundle. It comes from another service, was signed again, or is older than the last two changes of the keys.',
    );
  }
  if (name === 'bundleFiles' && (file === 'the ZIP' || file === 'the bundle')) {
    return t(
      'The file is not a whole bundle of evidence. It was cut off, altered, or packed again by another program.',
    );
  }
  return STEPS[name].failed;
}
