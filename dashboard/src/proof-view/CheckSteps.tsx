import type { StepName } from '../proof/steps.ts';
import { Button } from '../ui/Button.tsx';
import { Icon, type IconName } from '../ui/icons.tsx';
import { keeper } from './browser.ts';
import styles from './CheckSteps.module.css';
import { Failure } from './Failure.tsx';
import { Facts, isCompared, TITLES } from './step-texts.tsx';
import type { CheckState } from './useCheck.ts';

type Look = 'waiting' | 'running' | 'holds' | 'noted' | 'fails' | 'skipped';

const ICONS: Readonly<Record<Look, IconName>> = {
  waiting: 'minus',
  running: 'progress',
  holds: 'check',
  noted: 'info',
  fails: 'cross',
  skipped: 'minus',
};

const WORDS: Readonly<Record<Look, string>> = {
  waiting: 'Waiting',
  running: 'Checking',
  holds: 'Checked',
  noted: 'Nothing to compare with',
  fails: 'Does not hold',
  skipped: 'Not checked',
};

interface CheckStepsProps {
  /** The steps in the order in which they are done. */
  readonly plan: readonly StepName[];
  readonly state: CheckState;
  /** Runs the check again. */
  readonly onAgain: () => void;
}

/** The steps of a check with what each has found. */
export function CheckSteps({ plan, state, onAgain }: CheckStepsProps) {
  if (state.status === 'idle') return null;
  const { steps, status } = state;
  const lookAt = (place: number): Look => {
    const step = steps[place];
    if (step === undefined) {
      if (status !== 'running') return 'skipped';
      return place === steps.length ? 'running' : 'waiting';
    }
    if (!step.holds) return 'fails';
    return isCompared(step) ? 'holds' : 'noted';
  };
  const failed = steps.find((step) => !step.holds);
  return (
    <>
      <ol className={styles.steps}>
        {plan.map((name, place) => {
          const step = steps[place];
          const look = lookAt(place);
          return (
            <li key={name} className={styles.step} data-look={look}>
              <span className={styles.mark}>
                <Icon name={ICONS[look]} size={16} />
              </span>
              <div className={styles.body}>
                <h3 className={styles.title}>
                  {TITLES[name]} <span className={styles.word}>{WORDS[look]}</span>
                </h3>
                {step?.holds === true && <Facts step={step} />}
                {step?.holds === false && <Failure name={name} difference={step.difference} />}
              </div>
            </li>
          );
        })}
      </ol>
      {failed !== undefined && (failed.name === 'history' || isOfBrowser(failed)) && (
        <Forget onAgain={onAgain} />
      )}
    </>
  );
}

const isOfBrowser = (step: { readonly name: StepName; readonly difference?: { file: string } }) =>
  step.name === 'keys' && step.difference?.file === 'this browser';

function Forget({ onAgain }: { readonly onAgain: () => void }) {
  return (
    <div className={styles.forget}>
      <p>
        If the operator has told you why, let this browser forget what it kept. It then compares
        with the log of today.
      </p>
      <Button
        icon="trash"
        onPress={() => {
          keeper.forget();
          onAgain();
        }}
      >
        Forget what was kept, and check again
      </Button>
    </div>
  );
}
