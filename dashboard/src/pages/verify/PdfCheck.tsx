import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { checkProof, type Proof } from '../../proof/check-proof.ts';
import { dependencies } from '../../proof-view/browser.ts';
import { CheckResult } from '../../proof-view/CheckResult.tsx';
import { CheckSteps } from '../../proof-view/CheckSteps.tsx';
import { proofPlan } from '../../proof-view/ProofCheck.tsx';
import { useCheck } from '../../proof-view/useCheck.ts';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { Loading } from '../../ui/Loading.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Section } from '../../ui/Page.tsx';
import { Time } from '../../ui/Time.tsx';
import styles from './VerifyPage.module.css';

/** Asks the service about a PDF by its hash alone, then checks what the service says. */
export function PdfCheck({ sha256 }: { readonly sha256: string }) {
  const answer = useQuery({
    queryKey: ['verify', sha256],
    queryFn: ({ signal }) => dataOf(api.POST('/api/v1/verify/', { body: { sha256 }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (answer.isPending) return <Loading label="Asking the service about the hash" />;
  if (answer.isError) {
    return <ErrorState error={answer.error} onRetry={() => void answer.refetch()} />;
  }
  const { conversion, entries = [] } = answer.data;
  if (conversion === undefined) return <Unknown />;
  const { id, created_at: created, completed_at: completed } = conversion;
  return (
    <>
      <Section title="The service knows this PDF">
        <p>It says that a conversion of this account made exactly these bytes.</p>
        <dl className={styles.facts}>
          <dt>Conversion</dt>
          <dd>
            <Link to="/conversions/$id" params={{ id }}>
              {id}
            </Link>
          </dd>
          <dt>Requested</dt>
          <dd>
            <Time iso={created} />
          </dd>
          {completed !== undefined && (
            <>
              <dt>Made</dt>
              <dd>
                <Time iso={completed} />
              </dd>
            </>
          )}
        </dl>
      </Section>
      <PdfProof conversionId={id} entries={entries} pdfSha256={sha256} />
    </>
  );
}

function Unknown() {
  return (
    <Notice kind="warning">
      <p>
        <strong>No conversion of this account made this file.</strong>
      </p>
      <p>
        The service compares all bytes. The file comes from another account or another program, or
        it was changed after it was made: saved again, signed, cut off. One byte is enough.
      </p>
    </Notice>
  );
}

function PdfProof({ conversionId, entries, pdfSha256 }: Proof & { readonly pdfSha256: string }) {
  const { state, run } = useCheck();
  const check = () =>
    void run(() => checkProof({ conversionId, entries, pdfSha256 }, dependencies));
  // The person has asked for it by choosing the file.
  useEffect(check, [run, conversionId, entries, pdfSha256]);
  const plan = proofPlan(pdfSha256);
  return (
    <Section title="Proof" lead="This browser checks that the log of the service says so, too.">
      <CheckResult plan={plan} state={state} />
      <CheckSteps plan={plan} state={state} onAgain={check} />
    </Section>
  );
}
