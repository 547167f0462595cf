import type { Step, StepName } from '../proof/steps.ts';
import { errorText } from '../ui/ErrorState.tsx';
import { formatNumber } from '../ui/format.ts';
import { Notice } from '../ui/Notice.tsx';
import type { CheckState } from './useCheck.ts';

interface CheckResultProps {
  readonly plan: readonly StepName[];
  readonly state: CheckState;
}

/** The outcome of a check, or what prevented it, in words that screen readers say when they are there. */
export function CheckResult({ plan, state }: CheckResultProps) {
  return (
    <div role="status">
      {state.status === 'ended' && <Outcome plan={plan} steps={state.steps} />}
      {state.status === 'interrupted' && (
        <Notice kind="danger">
          <p>The check could not be finished. {errorText(state.error)}</p>
        </Notice>
      )}
    </div>
  );
}

interface OutcomeProps {
  readonly plan: readonly StepName[];
  readonly steps: readonly Step[];
}

function Outcome({ plan, steps }: OutcomeProps) {
  if (steps.length < plan.length || steps.some(({ holds }) => !holds)) {
    return (
      <Notice kind="danger">
        <p>This does not hold. The first step that fails is marked below.</p>
      </Notice>
    );
  }
  const [checkpoint] = steps.flatMap((step) =>
    step.name === 'checkpoint' && step.holds ? [step.facts] : [],
  );
  return (
    <Notice kind="ok">
      <p>
        Everything that was checked holds, under a checkpoint of{' '}
        {formatNumber(checkpoint?.size ?? 0)} events.
      </p>
    </Notice>
  );
}
