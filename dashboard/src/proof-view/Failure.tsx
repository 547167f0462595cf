import type { PlainDifference, StepName } from '../proof/steps.ts';
import styles from './CheckSteps.module.css';

const ALTERED =
  'The proof does not fit the log. It was altered, or the service shows another log than the one that it signed.';

/** The meaning, for people, of a step that fails. */
const MEANINGS: Readonly<Record<StepName, string>> = {
  keys: 'The proof names no key that the service publishes.',
  checkpoint:
    'No key of the service has signed this checkpoint as it stands. It was altered, or comes from another log.',
  history:
    'The log is not the one that this browser has seen before: events were changed or removed. Keep this page, and ask the operator.',
  events: ALTERED,
  document: 'The log names another PDF for this conversion.',
  growth:
    'The log of this service does not go on from the checkpoint in the bundle. Events were changed or removed since, or the bundle is of another log.',
  bundleFiles: 'A file in the bundle is not the one that the service has signed.',
  bundleCheckpoint: 'No key of the service has signed the checkpoint in the bundle as it stands.',
  bundleEvents: 'An event in the bundle is not as the log has it.',
  bundleDocuments: 'A document in the bundle is not the one that the events name.',
  bundleReport: 'The report in the bundle shows something else than its events.',
};

function meaningOf(name: StepName, { file, of }: PlainDifference): string {
  if (name === 'keys' && file === 'this browser') {
    return 'None of the keys that this browser kept is in force any more. The keys were changed twice since then, or this is another log. Ask the operator before you trust the new ones.';
  }
  if (name === 'bundleFiles' && (of === 'signed by' || of === 'signers')) {
    return 'No key of this service that is in force has signed the bundle. It comes from another service, was signed again, or is older than the last two changes of the keys.';
  }
  if (name === 'bundleFiles' && (file === 'the ZIP' || file === 'the bundle')) {
    return 'The file is not a whole bundle of evidence. It was cut off, altered, or packed again by another program.';
  }
  return MEANINGS[name];
}

interface FailureProps {
  readonly name: StepName;
  readonly difference: PlainDifference;
}

/** The first thing that is not as it must be. */
export function Failure({ name, difference }: FailureProps) {
  const { file, of, expected, found } = difference;
  return (
    <div className={styles.failure}>
      <p>{meaningOf(name, difference)}</p>
      <dl className={styles.facts}>
        <dt>Where</dt>
        <dd>{of === '' ? file : `${file}: ${of}`}</dd>
        <dt>Expected</dt>
        <dd>
          <code>{expected}</code>
        </dd>
        <dt>Found</dt>
        <dd>
          <code>{found}</code>
        </dd>
      </dl>
    </div>
  );
}
