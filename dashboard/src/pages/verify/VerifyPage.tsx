import { skipToken, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { hexSha256 } from '../../../../verifier/verify-evidence.mjs';
import { FOR_EVER } from '../../api/client.ts';
import { errorText } from '../../api/error.ts';
import { useLacking } from '../../api/people.ts';
import { offersQuery } from '../../api/without-sign-in.ts';
import { assertCanHash } from '../../proof/browser.ts';
import { session } from '../../session/session.ts';
import { contentOf, type FileKind, kindOf } from '../../ui/chosen-files.ts';
import { Code } from '../../ui/Code.tsx';
import { FileDrop } from '../../ui/FileDrop.tsx';
import { formatBytes } from '../../ui/format.ts';
import { Loading, Notice, Page, Section } from '../../ui/Page.tsx';
import { BundleCheck, NotOffered, PdfCheck } from './checks.tsx';
import { t } from '../../words/words.ts';

/** A file by its first bytes and its hash. It is read in this browser alone. */
interface ChosenFile {
  readonly file: File;
  readonly kind: FileKind;
  /** Hex digits. */
  readonly sha256: string;
}

/** @throws {Error} the browser cannot read the file, or cannot compute hashes on this page */
async function readFile(file: File): Promise<ChosenFile> {
  assertCanHash();
  const content = await contentOf(file);
  return { file, kind: kindOf(content), sha256: await hexSha256(content) };
}

/** Counts on when the page is left: a file that is still read then is not taken for the next one. */
let lastNumber = 0;

interface Taken {
  /** Each file is read anew, even if it is the same. */
  readonly number: number;
  readonly file?: File;
  /** Says why there is none. */
  readonly problem?: string;
}

const LEAD = t(
  'Find out whether this service made a PDF, when and from what. Or check a bundle of evidence.',
);
const LEAD_OF_STRANGERS = t(
  'Find out whether this service made a PDF, and when. Or check a bundle of evidence. Nobody needs an account for that.',
);

export default function VerifyPage() {
  // The service asks somebody who has not proved all that it requires no more than a stranger.
  const isLacking = useLacking() !== undefined;
  const isStranger = session.state !== 'open' || isLacking;
  const { data: offers } = useQuery({ ...offersQuery, enabled: isStranger });
  const [{ number, file, problem }, setTaken] = useState<Taken>({ number: 0 });
  const take = (taken: Omit<Taken, 'number'>) => {
    lastNumber += 1;
    setTaken({ ...taken, number: lastNumber });
  };
  const read = useQuery({
    queryKey: ['chosen file', number],
    queryFn: file === undefined ? skipToken : () => readFile(file),
    // No connection is needed, and another try would end as the first.
    networkMode: 'always',
    retry: false,
    gcTime: 0,
    ...FOR_EVER,
  });
  const refusal = problem ?? (read.error && errorText(read.error));
  return (
    <Page title={t('Verify')} lead={isStranger ? LEAD_OF_STRANGERS : LEAD}>
      {offers?.public_verify === false && read.data === undefined && <NotOffered />}
      <FileDrop
        title={t('Drop a PDF or a bundle of evidence here')}
        what={t('a PDF or a bundle')}
        accept={['application/pdf', 'application/zip', '.pdf', '.zip']}
        onFiles={([given]) => given && take({ file: given })}
        onProblem={(text) => take({ problem: text })}
      />
      <p className="note">
        {t(
          'The file does not leave this browser. Of a PDF, the service gets only the SHA-256; of a bundle, only the number of events that its log had then.',
        )}
      </p>
      {read.isFetching && <Loading label={t('Reading {name}', { name: file?.name })} />}
      {refusal && <Notice kind="danger">{refusal}</Notice>}
      {read.data && <Result key={number} chosen={read.data} isStranger={isStranger} />}
    </Page>
  );
}

interface ResultProps {
  readonly chosen: ChosenFile;
  /** Nobody is signed in. */
  readonly isStranger: boolean;
}

function Result({ chosen: { file, kind, sha256 }, isStranger }: ResultProps) {
  return (
    <>
      <Section title={file.name} lead={t('{size}. SHA-256:', { size: formatBytes(file.size) })}>
        <Code code={sha256} copyLabel={t('Copy the SHA-256')} wrap />
      </Section>
      {kind === 'pdf' && <PdfCheck {...{ sha256, file, isStranger }} />}
      {kind === 'bundle' && <BundleCheck file={file} />}
      {kind === 'empty' && (
        <Notice kind="danger">{t('This file is empty. Nothing was sent.')}</Notice>
      )}
      {kind === 'other' && (
        <Notice kind="danger">
          {t(
            'This file is neither a PDF nor a bundle of evidence, which is a ZIP file. Nothing was sent.',
          )}
        </Notice>
      )}
    </>
  );
}
