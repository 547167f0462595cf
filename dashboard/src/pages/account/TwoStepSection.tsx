/** The second factor of the person who is signed in. */
import { useQuery } from '@tanstack/react-query';
import { api, dataOf, queryClient } from '../../api/client.ts';
import { authenticatorQuery } from '../../api/people.ts';
import { Code } from '../../ui/Code.tsx';
import { ConfirmButton, DialogButton, useSecret } from '../../ui/Dialog.tsx';
import { OtpField, PresentPassword, passwordIn, SendForm, type TextOf } from '../../ui/forms.tsx';
import { Loaded, Section } from '../../ui/Page.tsx';
import { Facts } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { t } from '../../words/words.ts';
import styles from './TwoStepSection.module.css';

// All of it: a session that lacked a second factor sees the other pages from now on.
const refresh = () => queryClient.invalidateQueries();

interface SetUpProps {
  readonly email: string;
  readonly onAdded: (codes: readonly string[]) => void;
  readonly onCancel: () => void;
}

function SetUp({ email, onAdded, onCancel }: SetUpProps) {
  const offer = useQuery({
    queryKey: ['totp-offer'],
    queryFn: () => dataOf(api.POST('/api/v1/account/person/totp/')),
    // The code must be of the secret that is shown.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });
  const confirm = async (textOf: TextOf, setup: string) => {
    const body = { setup, otp: textOf('otp'), ...passwordIn(textOf) };
    const added = await dataOf(api.POST('/api/v1/account/person/totp/confirm/', { body }));
    onAdded(added.recovery_codes);
    onCancel();
  };
  return (
    <Loaded query={offer} what={t('the QR code')} lines={6}>
      {({ qr, secret, setup }) => (
        <>
          <p>{t('Scan this with the authenticator app of your telephone or password manager.')}</p>
          <img
            className={styles.qr}
            alt={t('QR code of the secret')}
            src={`data:image/svg+xml,${encodeURIComponent(qr)}`}
          />
          <p>{t('Or type the secret there:')}</p>
          <Code code={secret} copyLabel={t('Copy the secret')} wrap />
          <SendForm
            action={t('Turn it on')}
            onCancel={onCancel}
            onSend={(textOf) => confirm(textOf, setup)}
          >
            <OtpField hint={t('The six digits that the app shows now.')} />
            <PresentPassword label={t('Your password')} email={email} />
          </SendForm>
        </>
      )}
    </Loaded>
  );
}

async function remove(textOf: TextOf): Promise<string> {
  const body = passwordIn(textOf);
  await dataOf(api.POST('/api/v1/account/person/totp/remove/', { body }));
  await refresh();
  return t('From now on, signing in takes only the password.');
}

export function TwoStepSection({ email }: { readonly email: string }) {
  const query = useQuery(authenticatorQuery);
  const [showSecret, secret] = useSecret();
  const show = (codes: readonly string[]) => {
    showSecret({
      title: t('Your recovery codes'),
      secret: codes.join('\n'),
      what: t('codes'),
      file: 'pressledger-recovery-codes.txt',
      children: t(
        'Keep them apart from the app. Each takes the place of a code once, if you lose it.',
      ),
    });
    void refresh();
  };
  const isOn = typeof query.data?.since === 'string';
  const password = <PresentPassword label={t('Your password')} email={email} autoFocus />;
  const renew = async (textOf: TextOf) => {
    const body = passwordIn(textOf);
    const made = await dataOf(api.POST('/api/v1/account/person/recovery-codes/', { body }));
    show(made.recovery_codes);
  };
  return (
    <Section
      title={t('Two-step sign-in')}
      lead={t(
        'After the password, signing in asks for a code from an app. Whoever learns only the password stays out.',
      )}
      actions={
        query.data !== undefined &&
        (isOn ? (
          <>
            <ConfirmButton
              small
              text={t('New recovery codes')}
              title={t('Make new recovery codes?')}
              action={t('Make them')}
              actionLook="primary"
              onConfirm={renew}
            >
              {t('The old ones do not work from then on.')}
              {password}
            </ConfirmButton>
            <ConfirmButton
              small
              text={t('Turn off')}
              title={t('Turn off two-step sign-in?')}
              action={t('Turn it off')}
              onConfirm={remove}
            >
              {t('The authenticator and the recovery codes do not work from then on.')}
              {password}
            </ConfirmButton>
          </>
        ) : (
          <DialogButton
            look="primary"
            small
            text={t('Set it up')}
            title={t('Set up two-step sign-in')}
          >
            {(close) => <SetUp email={email} onAdded={show} onCancel={close} />}
          </DialogButton>
        ))
      }
    >
      <Loaded query={query} what={t('the second factor')} lines={2}>
        {({ since, recovery_codes: left }) => (
          <Facts
            facts={{
              [t('State')]: since === null ? t('Off') : t('On'),
              [t('Set up')]: since === null ? undefined : <Time iso={since} />,
              [t('Recovery codes left')]: since === null ? undefined : left,
            }}
          />
        )}
      </Loaded>
      {secret}
    </Section>
  );
}
