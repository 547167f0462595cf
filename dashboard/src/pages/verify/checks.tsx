import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Entry, Found } from '../../../../verifier/verify-evidence.mjs';
import { api, dataOf } from '../../api/client.ts';
import { dependencies } from '../../proof/browser.ts';
import { checkBundle, checkProof, checkPublicProof } from '../../proof/checks.ts';
import { ProofSection, useCheckAtOnce } from '../../proof/ProofSection.tsx';
import { contentOf } from '../../ui/chosen-files.ts';
import { type Column, Facts, RecordLink, Table, Time } from '../../ui/records.tsx';
import { Loaded, Notice, Section } from '../../ui/Page.tsx';
import { t } from '../../words/words.ts';
import type { Conversion } from '../../api/conversions.ts';
import { askInPublic, offersQuery } from '../../api/without-sign-in.ts';
import type { PublicAnswer } from '../../proof/steps.ts';
import { verifyInWorker } from './verify-in-worker.ts';

/** The same one each time: another list is another check. */
const NO_ENTRIES: Entry[] = [];

interface ChosenPdf {
  /** Hex digits. */
  readonly sha256: string;
  readonly file: File;
}

/** What the service says of a hash, which never changes for one that it knows. */
const useAnswer = <Answer,>(
  key: readonly string[],
  ask: (signal: AbortSignal) => Promise<Answer>,
) =>
  useQuery({
    queryKey: key,
    queryFn: ({ signal }) => ask(signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });

interface VerdictProps {
  readonly kind?: 'info' | 'warning';
  readonly title: string;
  readonly children: string;
}

const Verdict = ({ kind = 'warning', title, children }: VerdictProps) => (
  <Notice kind={kind}>
    <p>
      <strong>{title}</strong>
    </p>
    <p>{children}</p>
  </Notice>
);

/** Asks the service about a PDF by its hash alone, then checks what the service says. */
export function PdfCheck({ sha256, file }: ChosenPdf) {
  const answer = useAnswer(['verify', sha256], (signal) =>
    dataOf(api.POST('/api/v1/verify/', { body: { sha256 }, signal })),
  );
  return (
    <Loaded query={answer} what={t('what the service knows of the hash')}>
      {({ conversion, entries = NO_ENTRIES }) =>
        conversion === undefined ? (
          <Verdict title={t('No conversion of this account made this file.')}>
            {t(
              'The service compares all bytes. The file comes from another account or another program, or it was changed after it was made: saved again, signed, cut off. One byte is enough.',
            )}
          </Verdict>
        ) : (
          <Known conversion={conversion} entries={entries} sha256={sha256} file={file} />
        )
      }
    </Loaded>
  );
}

interface KnownProps extends ChosenPdf {
  readonly conversion: Conversion;
  readonly entries: readonly Entry[];
}

function Known({ conversion, entries, sha256, file }: KnownProps) {
  const { id, created_at: created, completed_at: completed } = conversion;
  const check = useMemo(() => {
    const pdf = { sha256, read: () => contentOf(file) };
    return checkProof(async () => ({ conversionId: id, entries }), pdf, dependencies);
  }, [id, entries, sha256, file]);
  return (
    <>
      <Section title={t('The service knows this PDF')}>
        <p>{t('It says that a conversion of this account made exactly these bytes.')}</p>
        <Facts
          facts={{
            [t('Conversion')]: <RecordLink id={id} />,
            [t('Requested')]: <Time iso={created} />,
            [t('Made')]: completed && <Time iso={completed} />,
          }}
        />
      </Section>
      <ProofSection
        lead={t('This browser checks that the log of the service says so, too.')}
        checking={useCheckAtOnce(check)}
      />
    </>
  );
}

/** Says, where it is so, that only people with an account can ask about a PDF here. */
export const NotOffered = () => (
  <Verdict kind="info" title={t('Here, PDFs are checked only for people with an account.')}>
    {t(
      'Sign in to check a PDF of your account. Anybody can check a bundle of evidence here. If you received a PDF, ask its sender for one.',
    )}
  </Verdict>
);

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
  const answer = useAnswer(['verify in public', sha256], (signal) => askInPublic(sha256, signal));
  return (
    <Loaded query={answer} what={t('what the service knows of the hash')}>
      {({ known, created_at, entries, by, checkpoint }) =>
        known && created_at !== undefined ? (
          <KnownToAll {...{ created_at, checkpoint, by, sha256 }} entries={entries ?? NONE_KNOWN} />
        ) : (
          <Verdict title={t('This service does not know this file.')}>
            {t(
              'It compares all bytes. The file comes from elsewhere, or it was changed after it was made: saved again, printed to a file, signed, cut off. One byte is enough. A file of an account that was erased is not known either. Ask the sender for the file as it was made.',
            )}
          </Verdict>
        )
      }
    </Loaded>
  );
}

const NONE_KNOWN: PublicAnswer['entries'] = [];

interface KnownToAllProps extends PublicAnswer {
  readonly by: string | undefined;
  readonly sha256: string;
}

function KnownToAll({ created_at, checkpoint, entries, by, sha256 }: KnownToAllProps) {
  const check = useMemo(
    () => checkPublicProof({ created_at, checkpoint, entries }, sha256, dependencies),
    [created_at, checkpoint, entries, sha256],
  );
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
            [t('Asked for')]: <Time iso={created_at} relative={false} />,
            [t('By')]:
              by === undefined ? (
                t('The account has given no name.')
              ) : (
                <>
                  <bdi>{by}</bdi>
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
      <ProofSection
        lead={t(
          'This browser checks that the signed log of the service has the event, and that the service has signed what it says of it. The name is not part of that.',
        )}
        checking={useCheckAtOnce(check)}
      />
    </>
  );
}

export function BundleCheck({ file }: { readonly file: File }) {
  const check = useMemo(
    () => checkBundle(() => contentOf(file), verifyInWorker, dependencies),
    [file],
  );
  const checking = useCheckAtOnce(check);
  const { status, steps } = checking.state;
  const [found] = steps.flatMap((step) =>
    status === 'ended' && step.holds && step.name === 'bundleReport' ? (step.facts ?? []) : [],
  );
  return (
    <>
      <ProofSection
        lead={t(
          'This browser checks the bundle with the keys that this service publishes, then against its log of today.',
        )}
        checking={checking}
      />
      {found !== undefined && <Shown found={found} />}
    </>
  );
}

type EventRow = Found['events'][number];

const COLUMNS: readonly Column<EventRow>[] = [
  { header: t('Event'), cell: ({ type }) => type, isRowHeader: true },
  { header: t('Number in the log'), cell: ({ index }) => index },
  { header: t('Time'), cell: ({ time }) => <Time iso={time} /> },
];

/** The facts that a bundle shows, once all of it holds. */
function Shown({ found }: { readonly found: Found }) {
  const { conversion, events, proved, signed, absent } = found;
  return (
    <Section title={t('What the bundle shows')}>
      <Facts
        facts={{
          [t('Conversion')]: <code>{conversion}</code>,
          [t('Proved by the log')]: [t('the events'), ...proved].join(', '),
          [t('Signed by the service, not proved')]: signed.join(', '),
          [t('Not in the bundle')]:
            absent.length === 0
              ? undefined
              : absent.map((line) => <p key={line}>{line.replace('absent ', '')}</p>),
          [t('Not shown')]: t('Whether there are later events, or a refund that was left out'),
        }}
      />
      <Table
        label={t('Events of the conversion')}
        columns={COLUMNS}
        rows={events}
        rowKey={({ index }) => `${index}`}
      />
    </Section>
  );
}
