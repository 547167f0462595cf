import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { errorText } from '../api/error.ts';
import { Button } from '../ui/Button.tsx';
import { Facts } from '../ui/records.tsx';
import { formatNumber } from '../ui/format.ts';
import { Notice, Section } from '../ui/Page.tsx';
import { Step, Steps } from '../ui/Steps.tsx';
import { assertCanCheck, keeper } from './browser.ts';
import styles from './ProofSection.module.css';
import { findingOf, isCompared, meaningOf, titleOf } from './step-texts.tsx';
import { type Check, type Failed, runCheck, type Step as DoneStep } from './steps.ts';
import { rich } from '../words/rich.ts';
import { t } from '../words/words.ts';

interface CheckState {
  /** `interrupted`: something prevented the check; what was checked says nothing about the rest. */
  readonly status: 'idle' | 'running' | 'ended' | 'interrupted';
  readonly steps: readonly DoneStep[];
  readonly error?: unknown;
}

/** Runs a check step by step. A new run takes the place of one that has not ended. */
export function useCheck(check: Check) {
  const [state, setState] = useState<CheckState>({ status: 'idle', steps: [] });
  const lastRun = useRef(0);
  const run = useCallback(async () => {
    lastRun.current += 1;
    const thisRun = lastRun.current;
    let steps: readonly DoneStep[] = [];
    const show = (status: CheckState['status'], error?: unknown) => {
      if (thisRun === lastRun.current) setState({ status, steps, error });
    };
    show('running');
    try {
      await assertCanCheck();
      await runCheck(check, (step) => {
        steps = [...steps, step];
        show('running');
      });
      show('ended');
    } catch (error) {
      show('interrupted', error);
    }
  }, [check]);
  return { check, state, run };
}

/** Runs a check that the person has asked for by what led here. */
export function useCheckAtOnce(check: Check) {
  const checking = useCheck(check);
  const { run } = checking;
  useEffect(() => void run(), [run]);
  return checking;
}

interface ProofSectionProps {
  readonly lead: string;
  readonly checking: ReturnType<typeof useCheck>;
  /** Waits for a person to start the check. */
  readonly isAsked?: boolean;
  /** Further buttons beside that of the check. */
  readonly children?: ReactNode;
}

/** A check with its outcome, its steps and what each has found. */
export function ProofSection({ lead, checking, isAsked = false, children }: ProofSectionProps) {
  const { check, state, run } = checking;
  const failed = state.steps.find((step) => !step.holds);
  return (
    <Section title={t('Proof')} lead={lead}>
      {isAsked && (
        <div className="line">
          <Button icon="shield" isPending={state.status === 'running'} onPress={() => void run()}>
            {state.status === 'idle' ? t('Check the proof in this browser') : t('Check again')}
          </Button>
          {children}
        </div>
      )}
      {/* Screen readers say the outcome when it is there. */}
      <div role="status" className={styles.outcome}>
        <Outcome check={check} state={state} />
      </div>
      {state.status !== 'idle' && (
        <Steps>
          {check.plan.map((name, place) => {
            const step = state.steps[place];
            return (
              <Step key={name} title={titleOf(name)} {...lookAt(state, place)}>
                {step?.holds === true && <div className={styles.found}>{findingOf(step)}</div>}
                {step?.holds === false && <Failure step={step} />}
              </Step>
            );
          })}
        </Steps>
      )}
      {failed !== undefined && isOfBrowser(failed) && (
        <div className="stack start">
          <p>
            {t(
              'If the operator has told you why, let this browser forget what it kept. It then compares with the log of today.',
            )}
          </p>
          <Button
            icon="trash"
            onPress={() => {
              keeper.forget();
              void run();
            }}
          >
            {t('Forget what was kept, and check again')}
          </Button>
        </div>
      )}
    </Section>
  );
}

const WORDS = {
  fails: t('Does not hold'),
  holds: t('Checked'),
  noted: t('Nothing to compare with'),
  running: t('Checking'),
} as const;

/** How a step stands, by its place in the plan. */
function lookAt({ steps, status }: CheckState, place: number) {
  const step = steps[place];
  if (step === undefined && (status !== 'running' || place > steps.length)) {
    const word = status === 'running' ? t('Waiting') : t('Not checked');
    return { look: 'waiting', word } as const;
  }
  const look =
    step === undefined ? 'running' : !step.holds ? 'fails' : isCompared(step) ? 'holds' : 'noted';
  return { look, word: WORDS[look] } as const;
}

/** True if the log is not the one that this browser kept. */
const isOfBrowser = ({ name, difference }: Failed): boolean =>
  name === 'history' || (name === 'keys' && difference.file === 'this browser');

function Outcome({ check, state }: Pick<ProofSectionProps['checking'], 'check' | 'state'>) {
  const { status, steps, error } = state;
  if (status === 'interrupted') {
    return (
      <Notice kind="danger">
        {rich('The check could not be finished. {error}', { error: errorText(error) })}
      </Notice>
    );
  }
  if (status !== 'ended') return null;
  if (steps.length < check.plan.length || steps.some(({ holds }) => !holds)) {
    return (
      <Notice kind="danger">
        {t('This does not hold. The first step that fails is marked below.')}
      </Notice>
    );
  }
  const [size = 0] = steps.flatMap((step) =>
    step.holds && step.name === 'checkpoint' ? [step.facts.size] : [],
  );
  return (
    <Notice kind="ok">
      {rich('Everything that was checked holds, under a checkpoint of {size} events.', {
        size: formatNumber(size),
      })}
    </Notice>
  );
}

/** The first thing that is not as it must be. */
function Failure({ step }: { readonly step: Failed }) {
  const { file, of, expected, found } = step.difference;
  return (
    <>
      <p>{meaningOf(step)}</p>
      <Facts
        facts={{
          [t('Where')]: of === '' ? file : `${file}: ${of}`,
          [t('Expected')]: <code>{expected}</code>,
          [t('Found')]: <code>{found}</code>,
        }}
      />
    </>
  );
}
