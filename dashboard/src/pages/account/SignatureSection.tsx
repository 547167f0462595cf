import { useQuery } from '@tanstack/react-query';
import { base64 } from '../../../../verifier/verify-evidence.mjs';
import { api, dataOf } from '../../api/client.ts';
import { ApiError } from '../../api/error.ts';
import { queryClient } from '../../api/queries.ts';
import { ConfirmButton } from '../../ui/Dialog.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { FileField } from '../../ui/FileField.tsx';
import { Notice } from '../../ui/Notice.tsx';
import { Section } from '../../ui/Page.tsx';
import { type FileOf, SendForm, type TextOf } from '../../ui/SendForm.tsx';
import { Loaded } from '../../ui/states.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { Time } from '../../ui/Time.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { contentOf } from '../verify/chosen-file.ts';

const PATH = '/api/v1/account/signature/';
const SIGNATURE = ['signature'];
/** The most bytes that the service takes. */
const LARGEST = 45_000;

const refresh = () => queryClient.invalidateQueries({ queryKey: SIGNATURE });

async function set(textOf: TextOf, fileOf: FileOf): Promise<string> {
  const file = fileOf('p12');
  if (file === undefined) throw new Error('No file is chosen. Choose the PKCS#12 file.');
  if (file.size > LARGEST) {
    throw new Error(
      `${file.name} is too large for a PKCS#12 file of one certificate. Choose another.`,
    );
  }
  const body = { p12: base64(await contentOf(file)), password: textOf('password') };
  const { subject } = await dataOf(api.PUT(PATH, { body }));
  await refresh();
  return `PDFs are signed with the certificate of ${subject}.`;
}

async function remove(): Promise<void> {
  await dataOf(api.DELETE(PATH));
  announce('The certificate is removed.');
}

/** The certificate that PDFs of the account are signed with. */
export function SignatureSection() {
  const current = useQuery({
    queryKey: SIGNATURE,
    queryFn: async ({ signal }) => {
      try {
        return await dataOf(api.GET(PATH, { signal }));
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }
    },
  });
  return (
    <Section
      title="Certificate for signatures"
      lead="PDFs whose request has pdf.sign are signed with it. Its key is kept encrypted, and is never shown again."
      actions={
        current.data !== undefined &&
        current.data !== null && (
          <ConfirmButton
            small
            text="Remove the certificate"
            title="Remove the certificate for signatures?"
            action="Remove the certificate"
            onConfirm={remove}
            onClosed={() => void refresh()}
          >
            <p>
              What was signed stays signed. Conversions that were to be signed with it, and are not
              finished yet, fail. Its key stays in the log, encrypted, until the account is erased:
              revoke the certificate at its issuer if the key may be known.
            </p>
          </ConfirmButton>
        )
      }
    >
      <Loaded query={current} what="the certificate" lines={3}>
        {(certificate) =>
          certificate === null ? (
            <p>None. PDFs are signed with the certificate of the service, if it has one.</p>
          ) : (
            <>
              {Date.parse(certificate.not_after) < Date.now() && (
                <Notice kind="warning">
                  The certificate has expired: requests with pdf.sign are refused. Set another.
                </Notice>
              )}
              <Facts
                facts={{
                  Subject: <bdi>{certificate.subject}</bdi>,
                  Issuer: <bdi>{certificate.issuer}</bdi>,
                  Expires: <Time iso={certificate.not_after} />,
                }}
              />
            </>
          )
        }
      </Loaded>
      <SendForm action="Set the certificate" look="secondary" layout="narrow" onSend={set}>
        <FileField
          label="PKCS#12 file"
          name="p12"
          accept=".p12,.pfx,application/x-pkcs12"
          hint="The certificate with its private key. It takes the place of an earlier one."
        />
        <TextField
          label="Password of the file"
          name="password"
          type="password"
          autoComplete="off"
          maxLength={1024}
        />
      </SendForm>
    </Section>
  );
}
