/** What an account may set, replace and remove: its public name, and what signs its PDFs. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, dataOf, queryClient } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import type { paths } from '../../api/schema.d.ts';
import { base64Of } from '../../ui/chosen-files.ts';
import { type Act, type Part, PartSection } from '../../ui/acts.tsx';
import { FileField, type FileOf, TextField, type TextOf } from '../../ui/forms.tsx';
import { Loaded, Notice } from '../../ui/Page.tsx';
import { Facts } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { t } from '../../words/words.ts';

interface SettingSectionProps<Value> extends Omit<Part, 'state'> {
  /** The name of what is loaded, such as "the certificate", and under which key the answer is kept. */
  readonly what: string;
  readonly queryKey: readonly string[];
  /** Null: it is not set. */
  readonly ask: (signal: AbortSignal) => Promise<Value | null>;
  readonly show: (value: Value | null) => ReactNode;
  readonly lines: number;
  /** Is offered while it is set. */
  readonly removal: Act;
}

/** What an account may set, replace and remove. */
export function SettingSection<Value>(props: SettingSectionProps<Value>) {
  const { what, queryKey, ask, show, lines, removal, acts, ...part } = props;
  const current = useQuery({ queryKey, queryFn: ({ signal }) => ask(signal) });
  const isSet = (current.data ?? null) !== null;
  return (
    <PartSection
      {...part}
      holds={isSet}
      state={
        <Loaded query={current} what={what} lines={lines}>
          {show}
        </Loaded>
      }
      acts={isSet ? [{ ...removal, small: true }, ...acts] : acts}
      after={() => queryClient.invalidateQueries({ queryKey })}
    />
  );
}

const NAME_PATH = '/api/v1/account/public-name/';

/** The name that people without an account are told when they check a PDF of this one. */
export function PublicNameSection() {
  return (
    <SettingSection
      title={t('Public name')}
      lead={t(
        'If this service lets anybody check a PDF, people who check one of yours see this name, also for older PDFs. Without a name they see none.',
      )}
      what={t('the public name')}
      queryKey={['public-name']}
      ask={async (signal) => (await dataOf(api.GET(NAME_PATH, { signal }))).name}
      show={(name) => (
        <Facts facts={{ [t('Name')]: name === null ? t('None') : <bdi>{name}</bdi> }} />
      )}
      lines={1}
      removal={{
        action: t('Remove the name'),
        title: t('Remove the public name?'),
        effect: t('People who check a PDF of this account see no name from then on.'),
        send: async () => {
          await dataOf(api.DELETE(NAME_PATH));
          return t('People who check a PDF see no name from now on.');
        },
      }}
      acts={[
        {
          action: t('Set the name'),
          fields: (
            <TextField
              label={t('New public name')}
              name="name"
              autoComplete="organization"
              hint={t('Such as the name of your company. The service does not check it.')}
              isRequired
            />
          ),
          send: async (textOf) => {
            const { name } = await dataOf(api.PUT(NAME_PATH, { body: { name: textOf('name') } }));
            return t('People who check a PDF see the name “{name}”.', { name });
          },
        },
      ]}
    />
  );
}

const SIGNATURE_PATH = '/api/v1/account/signature/';
/** The most bytes that the service takes. */
const LARGEST = 45_000;

type Certificate =
  paths[typeof SIGNATURE_PATH]['get']['responses'][200]['content']['application/json'];

async function askForCertificate(signal: AbortSignal): Promise<Certificate | null> {
  try {
    return await dataOf(api.GET(SIGNATURE_PATH, { signal }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

async function setCertificate(textOf: TextOf, fileOf: FileOf): Promise<string> {
  const file = fileOf('p12');
  if (file === undefined) throw new Error(t('No file is chosen. Choose the PKCS#12 file.'));
  if (file.size > LARGEST) {
    throw new Error(
      t('“{name}” is too large for a PKCS#12 file of one certificate. Choose another.', {
        name: file.name,
      }),
    );
  }
  const body = { p12: await base64Of(file), password: textOf('password') };
  const { subject } = await dataOf(api.PUT(SIGNATURE_PATH, { body }));
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
      ask={askForCertificate}
      show={(certificate) => <Shown certificate={certificate} />}
      lines={3}
      removal={{
        action: t('Remove the certificate'),
        title: t('Remove the certificate for signatures?'),
        effect: t(
          'What was signed stays signed. Conversions that were to be signed with it, and are not finished yet, fail. Its private key is destroyed; copies of the keyring from before still have it: revoke the certificate at its issuer if the key may be known.',
        ),
        send: async () => {
          await dataOf(api.DELETE(SIGNATURE_PATH));
          return t('The certificate is removed.');
        },
      }}
      acts={[
        {
          action: t('Set the certificate'),
          fields: (
            <>
              <FileField
                label={t('PKCS#12 file')}
                name="p12"
                accept=".p12,.pfx,application/x-pkcs12"
                hint={t(
                  'The certificate with its private key. It takes the place of an earlier one.',
                )}
              />
              <TextField
                label={t('Password of the file')}
                name="password"
                type="password"
                autoComplete="off"
                maxLength={1024}
              />
            </>
          ),
          send: (textOf, _, fileOf) => setCertificate(textOf, fileOf),
        },
      ]}
    />
  );
}
