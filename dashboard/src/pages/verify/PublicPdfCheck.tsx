import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { askInPublic, offersQuery } from '../../api/without-sign-in.ts';
import { dependencies } from '../../proof/browser.ts';
import { checkPublicProof } from '../../proof/checks.ts';
import { ProofSection, useCheckAtOnce } from '../../proof/ProofSection.tsx';
import type { PublicAnswer } from '../../proof/steps.ts';
import { Facts, Time } from '../../ui/records.tsx';
import { Loaded, Notice, Section } from '../../ui/Page.tsx';
import { t } from '../../words/words.ts';

/** Says, where it is so, that only people with an account can ask about a PDF here. */
export function NotOffered() {
  return (
    <Notice kind="info">
      <p>
        <strong>{t('Here, PDFs are checked only for people with an account.')}</strong>
      </p>
      <p>
        {t(
          'Sign in to check a PDF of your account. Anybody can check a bundle of evidence here. If you received a PDF, ask its sender for one.',
        )}
      </p>
    </Notice>
  );
}

/** Asks the service about a PDF by its hash alone, then checks as much of the answer as a stranger can. */
export function PublicPdfCheck({ sha256 }: { readonly sha256: string }) {
  const offers = useQuery(offersQuery);
  return (
    <Loaded query={offers} what={t('what this service offers')} lines={2}>
      {({ public_verify: isOffered }) => (isOffered ? <Answer sha256={sha256} /> : <NotOffered />)}
    </Loaded>
  );
}

function Answer({ sha256 }: { readonly sha256: string }) {
  const answer = useQuery({
    queryKey: [t('verify in public'), sha256],
    queryFn: ({ signal }) => askInPublic(sha256, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  return (
    <Loaded query={answer} what={t('what the service knows of the hash')}>
      {({ known, created_at, entries, by, checkpoint }) =>
        known && created_at !== undefined ? (
          <Known
            answer={{ created_at, checkpoint, entries: entries ?? [] }}
            by={by}
            sha256={sha256}
          />
        ) : (
          <Unknown />
        )
      }
    </Loaded>
  );
}

interface KnownProps {
  readonly answer: PublicAnswer;
  readonly by: string | undefined;
  readonly sha256: string;
}

function Known({ answer, by, sha256 }: KnownProps) {
  const { created_at: created } = answer;
  return (
    <>
      <Section title={t('This service made this PDF')}>
        <p>
          {t(
            'It says that it made exactly these bytes for one of its accounts. Nothing in the file was changed since.',
          )}
        </p>
        <Facts
          facts={{
            [t('Asked for')]: <Time iso={created} relative={false} />,
            By:
              by === undefined ? (
                t('The account has given no name.')
              ) : (
                <>
                  <p>
                    <bdi>{by}</bdi>
                  </p>
                  <p className="note">
                    {t('The account calls itself so. The service does not check it.')}
                  </p>
                </>
              ),
          }}
        />
        <p className="note">
          {t(
            'That says nothing about the content: whether what the document states is true, or whether its sender had the right to send it.',
          )}
        </p>
      </Section>
      <PublicProof answer={answer} sha256={sha256} />
    </>
  );
}

function PublicProof({ answer, sha256 }: Omit<KnownProps, 'by'>) {
  const { created_at, checkpoint, entries } = answer;
  const check = useMemo(
    () => checkPublicProof({ created_at, checkpoint, entries }, sha256, dependencies),
    [created_at, checkpoint, entries, sha256],
  );
  return (
    <ProofSection
      lead={t(
        'This browser checks that the signed log of the service has the event, and that the service has signed what it says of it. The name is not part of that.',
      )}
      checking={useCheckAtOnce(check)}
    />
  );
}

function Unknown() {
  return (
    <Notice kind="warning">
      <p>
        <strong>{t('This service does not know this file.')}</strong>
      </p>
      <p>
        {t(
          'It compares all bytes. The file comes from elsewhere, or it was changed after it was made: saved again, printed to a file, signed, cut off. One byte is enough. A file of an account that was erased is not known either. Ask the sender for the file as it was made.',
        )}
      </p>
    </Notice>
  );
}
