import { useState } from 'react';
import { type Account, useAccount } from '../../api/account.ts';
import { useLacking, usePerson, useRights } from '../../api/people.ts';
import { api, dataOf, queryClient } from '../../api/client.ts';
import { session } from '../../session/session.ts';
import { Checkbox } from '../../ui/choices.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { formatCredits } from '../../ui/format.ts';
import { Notice } from '../../ui/Notice.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { NewPassword, SHORTEST_PASSWORD } from '../../ui/passwords.tsx';
import { planName } from '../../ui/plans.ts';
import { SendForm, type TextOf } from '../../ui/SendForm.tsx';
import { Loaded } from '../../ui/states.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { Time } from '../../ui/Time.tsx';
import { MailSections } from './MailSections.tsx';
import { PasskeysSection } from './PasskeysSection.tsx';
import { PublicNameSection } from './PublicNameSection.tsx';
import { PersonSections } from './PersonSections.tsx';
import { SessionsSection } from './SessionsSection.tsx';
import { SignatureSection } from './SignatureSection.tsx';
import { TwoStepSection } from './TwoStepSection.tsx';
import { t } from '../../words/words.ts';

export default function AccountPage() {
  const account = useAccount();
  const email = usePerson().data?.email ?? '';
  const { isOwner } = useRights();
  const isWhole = useLacking() === undefined;
  return (
    <Page
      title={t('Account')}
      lead={
        isWhole
          ? t(
              'Who you are here and for others, your passkeys and password, what signs your PDFs, and where you are signed in.',
            )
          : t(
              'This account needs more than a password. Add a passkey or set up two-step sign-in: all pages open then.',
            )
      }
    >
      {isWhole && <AccountSection account={account} />}
      <PersonSections />
      <PasskeysSection />
      {isWhole && <PasswordSection account={account.data} />}
      {/* It stays in its place when the rest appears: it may show the recovery codes, which are shown once. */}
      <TwoStepSection email={email} />
      {isWhole && isOwner && <PublicNameSection />}
      {isWhole && isOwner && <SignatureSection />}
      {isWhole && <MailSections />}
      {isWhole && <SessionsSection />}
    </Page>
  );
}

function AccountSection({ account }: { readonly account: ReturnType<typeof useAccount> }) {
  return (
    <Section title={t('This account')}>
      <Loaded query={account} what={t('the account')} lines={3}>
        {({ email, plan, credits, created_at: openedAt, id }) => (
          <Facts
            facts={{
              [t('Email')]: email,
              [t('Plan')]: planName(plan),
              [t('Credits left')]: formatCredits(credits),
              [t('Opened')]: <Time iso={openedAt} />,
              [t('Account id')]: <code>{id}</code>,
            }}
          />
        )}
      </Loaded>
    </Section>
  );
}

interface PasswordSectionProps {
  /** Undefined until it is loaded. By its address the browser's password manager finds the password. */
  readonly account: Account | undefined;
}

/**
 * Changes the password at the service, which ends all sessions, and signs in with the new one.
 * @returns whether the person is still signed in
 */
async function changeTo(
  { email, account }: { readonly email: string; readonly account: string | undefined },
  body: { readonly current_password: string; readonly new_password: string },
): Promise<boolean> {
  await dataOf(api.POST('/api/v1/account/password/', { body }));
  try {
    await session.signIn(email, body.new_password, { account });
    return true;
  } catch {
    session.end('password-changed');
    return false;
  }
}

function PasswordSection({ account }: PasswordSectionProps) {
  const [isShown, setShown] = useState(false);
  const email = usePerson().data?.email ?? '';
  const type = isShown ? 'text' : 'password';

  const change = async (textOf: TextOf) => {
    const body = {
      current_password: textOf('current_password'),
      new_password: textOf('new_password'),
    };
    const who = { email, account: account?.id };
    if (!(await changeTo(who, body))) return undefined;
    void queryClient.invalidateQueries();
    return t('The password is changed. All other sessions have ended.');
  };

  return (
    <Section
      title={t('Change the password')}
      lead={t('A new password ends all your other sessions. API keys stay valid.')}
    >
      <SendForm action={t('Change the password')} layout="narrow" onSend={change}>
        {account?.must_change_password === true && (
          <Notice kind="warning">
            {t(
              'The first start printed the current password. Choose another: that opens the pages for operators.',
            )}
          </Notice>
        )}
        <TextField
          label={t('Current password')}
          name="current_password"
          type={type}
          autoComplete="current-password"
          isRequired
        />
        <NewPassword
          label={t('New password')}
          email={email}
          name="new_password"
          type={type}
          hint={t(
            'At least {SHORTEST_PASSWORD} characters. Several words are easier to remember than signs.',
            { SHORTEST_PASSWORD },
          )}
        />
        <Checkbox isSelected={isShown} onChange={setShown}>
          {t('Show the passwords')}
        </Checkbox>
      </SendForm>
    </Section>
  );
}
