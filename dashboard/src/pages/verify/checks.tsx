import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo } from 'react';
import type { Found } from '../../../../verifier/verify-evidence.mjs';
import { api, dataOf } from '../../api/client.ts';
import { dependencies } from '../../proof/browser.ts';
import { checkBundle, checkProof, checkPublicProof } from '../../proof/checks.ts';
import { ProofSection, useCheckAtOnce } from '../../proof/ProofSection.tsx';
import type { Check } from '../../proof/steps.ts';
import { contentOf } from '../../ui/chosen-files.ts';
import { type Column, Facts, RecordLink, Table } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { Loaded, Notice, Section } from '../../ui/Page.tsx';
import { t } from '../../words/words.ts';
import { askInPublic, offersQuery } from '../../api/without-sign-in.ts';
import { verifyInWorker } from './verify-in-worker.ts';

interface ChosenPdf {
  /** Hex digits. */
  readonly sha256: string;
  readonly file: File;
}

/** What the service says of a PDF that it knows, and how that is checked. */
interface Known {
  readonly title: string;
  readonly says: string;
  readonly facts: Parameters<typeof Facts>[0]['facts'];
  /** What it does not say. */
  readonly note?: string;
  readonly checked: string;
  readonly check: Check;
}

interface Asked {
  /** Asks about a PDF by its hash alone. null: the service does not know it. */
  readonly ask: (pdf: ChosenPdf, signal: AbortSignal) => Promise<Known | null>;
  readonly unknown: { readonly title: string; readonly text: string };
}

const OF_ACCOUNT: Asked = {
  ask: async ({ sha256, file }, signal) => {
    const answer = await dataOf(api.POST('/api/v1/verify/', { body: { sha256 }, signal }));
    const { conversion, entries = [] } = answer;
    if (conversion === undefined) return null;
    const { id, created_at: created, completed_at: completed } = conversion;
    const pdf = { sha256, read: () => contentOf(file) };
    return {
      title: t('The service knows this PDF'),
      says: t('It says that a conversion of this account made exactly these bytes.'),
      facts: {
        [t('Conversion')]: <RecordLink id={id} />,
        [t('Requested')]: <Time iso={created} />,
        [t('Made')]: completed && <Time iso={completed} />,
      },
      checked: t('This browser checks that the log of the service says so, too.'),
      check: checkProof(async () => ({ conversionId: id, entries }), pdf, dependencies),
    };
  },
  unknown: {
    title: t('No conversion of this account made this file.'),
    text: t(
      'The service compares all bytes. The file comes from another account or another program, or it was changed after it was made: saved again, signed, cut off. One byte is enough.',
    ),
  },
};

/** For strangers, who see less and can check less. */
const IN_PUBLIC: Asked = {
  ask: async ({ sha256 }, signal) => {
    const { known, created_at, entries = [], by, checkpoint } = await askInPublic(sha256, signal);
    if (!known || created_at === undefined) return null;
    return {
      title: t('This service made this PDF'),
      says: t(
        'It says that it made exactly these bytes for one of its accounts. Nothing in the file was changed since.',
      ),
      facts: {
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
      },
      note: t(
        'That says nothing about the content: whether what the document states is true, or whether its sender had the right to send it.',
      ),
      checked: t(
        'This browser checks that the signed log of the service has the event, and that the service has signed what it says of it. The name is not part of that.',
      ),
      check: checkPublicProof({ created_at, checkpoint, entries }, sha256, dependencies),
    };
  },
  unknown: {
    title: t('This service does not know this file.'),
    text: t(
      'It compares all bytes. The file comes from elsewhere, or it was changed after it was made: saved again, printed to a file, signed, cut off. One byte is enough. A file of an account that was erased is not known either. Ask the sender for the file as it was made.',
    ),
  },
};

interface VerdictProps {
  readonly kind?: 'info' | 'warning';
  readonly title: string;
  readonly children: ReactNode;
}

const Verdict = ({ kind = 'warning', title, children }: VerdictProps) => (
  <Notice kind={kind}>
    <p>
      <strong>{title}</strong>
    </p>
    <p>{children}</p>
  </Notice>
);

/** Asks the service about a PDF, then checks as much of the answer as the person can. */
export function PdfCheck({ isStranger, ...pdf }: ChosenPdf & { readonly isStranger: boolean }) {
  const offers = useQuery({ ...offersQuery, enabled: isStranger });
  const { ask, unknown } = isStranger ? IN_PUBLIC : OF_ACCOUNT;
  const isAsked = !isStranger || offers.data?.public_verify === true;
  const answer = useQuery({
    queryKey: ['verify', isStranger, pdf.sha256],
    queryFn: ({ signal }) => ask(pdf, signal),
    enabled: isAsked,
    // It never changes for a PDF that is known.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  if (!isAsked) {
    return (
      <Loaded query={offers} what={t('what this service offers')} lines={2}>
        {() => <NotOffered />}
      </Loaded>
    );
  }
  return (
    <Loaded query={answer} what={t('what the service knows of the hash')}>
      {(known) =>
        known ? <KnownPdf {...known} /> : <Verdict title={unknown.title}>{unknown.text}</Verdict>
      }
    </Loaded>
  );
}

function KnownPdf({ title, says, facts, note, checked, check }: Known) {
  return (
    <>
      <Section title={title}>
        <p>{says}</p>
        <Facts facts={facts} />
        {note !== undefined && <p className="note">{note}</p>}
      </Section>
      <ProofSection lead={checked} checking={useCheckAtOnce(check)} />
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
