import { api, dataOf } from '../api/client.ts';
import { checkProof, PROOF_STEPS } from '../proof/check-proof.ts';
import type { StepName } from '../proof/steps.ts';
import { Button } from '../ui/Button.tsx';
import { dependencies } from './browser.ts';
import { CheckResult } from './CheckResult.tsx';
import { CheckSteps } from './CheckSteps.tsx';
import styles from './CheckSteps.module.css';
import { useCheck } from './useCheck.ts';

interface ProofCheckProps {
  readonly conversionId: string;
  /** The SHA-256 of the PDF in hex digits, where it is known: the log must name it. */
  readonly pdfSha256?: string | undefined;
}

export const proofPlan = (pdfSha256: string | undefined): readonly StepName[] =>
  pdfSha256 === undefined ? PROOF_STEPS : [...PROOF_STEPS, 'document'];

async function* proofSteps({ conversionId, pdfSha256 }: ProofCheckProps) {
  const path = { id: conversionId };
  const proof = await dataOf(api.GET('/api/v1/conversions/{id}/proof/', { params: { path } }));
  const { entries, key } = proof;
  const document = pdfSha256 === undefined ? {} : { pdfSha256 };
  yield* checkProof({ conversionId, entries, key, ...document }, dependencies);
}

/** Checks in this browser that the events of a conversion are in the log. */
export function ProofCheck({ conversionId, pdfSha256 }: ProofCheckProps) {
  const { state, run } = useCheck();
  const check = () => void run(() => proofSteps({ conversionId, pdfSha256 }));
  const plan = proofPlan(pdfSha256);
  return (
    <div className={styles.check}>
      <div>
        <Button icon="shield" isPending={state.status === 'running'} onPress={check}>
          {state.status === 'idle' ? 'Check the proof in this browser' : 'Check again'}
        </Button>
      </div>
      <CheckResult plan={plan} state={state} />
      <CheckSteps plan={plan} state={state} onAgain={check} />
    </div>
  );
}
