import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Entry } from '../../../../verifier/verify-evidence.mjs';
import { api, dataOf } from '../../api/client.ts';
import { dependencies } from '../../proof/browser.ts';
import { checkProof } from '../../proof/checks.ts';
import { ProofSection, useCheckAtOnce } from '../../proof/ProofSection.tsx';
import { contentOf } from '../../ui/chosen-files.ts';
import { Facts, Time } from '../../ui/records.tsx';
import { Loaded, Notice, Section } from '../../ui/Page.tsx';
import { t } from '../../words/words.ts';

/** The same one each time: another list is another check. */
const NO_ENTRIES: Entry[] = [];

const ask = (sha256: string, signal: AbortSignal) =>
  dataOf(api.POST('/api/v1/verify/', { body: { sha256 }, signal }));

export interface ChosenPdf {
  /** Hex digits. */
  readonly sha256: string;
  readonly file: File;
}

/** Asks the service about a PDF by its hash alone, then checks what the service says. */
export function PdfCheck({ sha256, file }: ChosenPdf) {
  const answer = useQuery({
    queryKey: ['verify', sha256],
    queryFn: ({ signal }) => ask(sha256, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <Loaded query={answer} what={t('what the service knows of the hash')}>
      {(known) => <Known {...known} sha256={sha256} file={file} />}
    </Loaded>
  );
}

type KnownProps = Awaited<ReturnType<typeof ask>> & ChosenPdf;

function Known({ conversion, entries = NO_ENTRIES, sha256, file }: KnownProps) {
  if (conversion === undefined) return <Unknown />;
  const { id, created_at: created, completed_at: completed } = conversion;
  return (
    <>
      <Section title={t('The service knows this PDF')}>
        <p>{t('It says that a conversion of this account made exactly these bytes.')}</p>
        <Facts
          facts={{
            [t('Conversion')]: (
              <Link to="/conversions/$id" params={{ id }}>
                {id}
              </Link>
            ),
            [t('Requested')]: <Time iso={created} />,
            [t('Made')]: completed && <Time iso={completed} />,
          }}
        />
      </Section>
      <PdfProof conversionId={id} entries={entries} sha256={sha256} file={file} />
    </>
  );
}

function Unknown() {
  return (
    <Notice kind="warning">
      <p>
        <strong>{t('No conversion of this account made this file.')}</strong>
      </p>
      <p>
        {t(
          'The service compares all bytes. The file comes from another account or another program, or it was changed after it was made: saved again, signed, cut off. One byte is enough.',
        )}
      </p>
    </Notice>
  );
}

interface PdfProofProps extends ChosenPdf {
  readonly conversionId: string;
  readonly entries: readonly Entry[];
}

function PdfProof({ conversionId, entries, sha256, file }: PdfProofProps) {
  const check = useMemo(() => {
    const pdf = { sha256, read: () => contentOf(file) };
    return checkProof(async () => ({ conversionId, entries }), pdf, dependencies);
  }, [conversionId, entries, sha256, file]);
  return (
    <ProofSection
      lead={t('This browser checks that the log of the service says so, too.')}
      checking={useCheckAtOnce(check)}
    />
  );
}
