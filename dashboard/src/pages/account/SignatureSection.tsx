import { api, dataOf } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import type { paths } from '../../api/schema.d.ts';
import { base64Of } from '../../ui/chosen-files.ts';
import { Facts } from '../../ui/Facts.tsx';
import { FileField } from '../../ui/FileField.tsx';
import { Notice } from '../../ui/Notice.tsx';
import type { FileOf, TextOf } from '../../ui/SendForm.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { Time } from '../../ui/Time.tsx';
import { SettingSection } from './SettingSection.tsx';
import { t } from '../../words/words.ts';

const PATH = '/api/v1/account/signature/';
/** The most bytes that the service takes. */
const LARGEST = 45_000;

type Certificate = paths[typeof PATH]['get']['responses'][200]['content']['application/json'];

async function ask(signal: AbortSignal): Promise<Certificate | null> {
  try {
    return await dataOf(api.GET(PATH, { signal }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

async function set(textOf: TextOf, fileOf: FileOf): Promise<string> {
  const file = fileOf('p12');
  if (file === undefined) throw new Error(t('No file is chosen. Choose the PKCS#12 file.'));
  if (file.size > LARGEST) {
    throw new Error(
      t('{name} is too large for a PKCS#12 file of one certificate. Choose another.', {
        name: file.name,
      }),
    );
  }
  const body = { p12: await base64Of(file), password: textOf('password') };
  const { subject } = await dataOf(api.PUT(PATH, { body }));
  return t('PDFs are signed with the certificate of {subject}.', { subject });
}

function Shown({ certificate }: { readonly certificate: Certificate | null }) {
  if (certificate === null) {
    return <p>{t('None. PDFs are signed with the certificate of the service, if it has one.')}</p>;
  }
  return (
    <>
      {Date.parse(certificate.not_after) < Date.now() && (
        <Notice kind="warning">
          {t('The certificate has expired: requests with pdf.sign are refused. Set another.')}
        </Notice>
      )}
      <Facts
        facts={{
          [t('Subject')]: <bdi>{certificate.subject}</bdi>,
          [t('Issuer')]: <bdi>{certificate.issuer}</bdi>,
          [t('Expires')]: <Time iso={certificate.not_after} />,
        }}
      />
    </>
  );
}

/** The certificate that PDFs of the account are signed with. */
export function SignatureSection() {
  return (
    <SettingSection
      title={t('Certificate for signatures')}
      lead={t(
        'PDFs whose request has pdf.sign are signed with it. Its key is kept encrypted, and is never shown again.',
      )}
      what={t('the certificate')}
      queryKey={['signature']}
      ask={ask}
      show={(certificate) => <Shown certificate={certificate} />}
      lines={3}
      removal={{
        action: t('Remove the certificate'),
        title: t('Remove the certificate for signatures?'),
        effect: t(
          'What was signed stays signed. Conversions that were to be signed with it, and are not finished yet, fail. Its private key is destroyed; copies of the keyring from before still have it: revoke the certificate at its issuer if the key may be known.',
        ),
        remove: () => dataOf(api.DELETE(PATH)),
        done: t('The certificate is removed.'),
      }}
      action={t('Set the certificate')}
      onSend={set}
    >
      <FileField
        label={t('PKCS#12 file')}
        name="p12"
        accept=".p12,.pfx,application/x-pkcs12"
        hint={t('The certificate with its private key. It takes the place of an earlier one.')}
      />
      <TextField
        label={t('Password of the file')}
        name="password"
        type="password"
        autoComplete="off"
        maxLength={1024}
      />
    </SettingSection>
  );
}
