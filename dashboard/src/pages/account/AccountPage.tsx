import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api, dataOf, PERSON, queryClient } from '../../api/client.ts';
import {
  type Account,
  type Person,
  roleName,
  useAccount,
  useLacking,
  usePerson,
  useRights,
} from '../../api/people.ts';
import { offersQuery } from '../../api/without-sign-in.ts';
import { session } from '../../session/session.ts';
import { ButtonAnchor } from '../../ui/Button.tsx';
import { Checkbox } from '../../ui/choices.tsx';
import { DialogButton } from '../../ui/Dialog.tsx';
import { formatCredits, planName } from '../../ui/format.ts';
import {
  NewPassword,
  passwordIn,
  PresentPassword,
  SendForm,
  SHORTEST_PASSWORD,
  TextField,
  type TextOf,
} from '../../ui/forms.tsx';
import { Loaded, Notice, Page, Section } from '../../ui/Page.tsx';
import { Badge, type Column, Facts, Table } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { SignInForm } from '../../ui/SignInForm.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';
import { MailSections } from './MailSections.tsx';
import { PasskeysSection } from './PasskeysSection.tsx';
import { SessionsSection } from './SessionsSection.tsx';
import { PublicNameSection, SignatureSection } from './settings.tsx';
import { TwoStepSection } from './TwoStepSection.tsx';

export default function AccountPage() {
  const account = useAccount();
  const person = usePerson().data;
  const email = person?.email ?? '';
  const accounts = person?.accounts ?? [];
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
      {isWhole && <YouSection />}
      {accounts.length > 1 && <AccountsSection email={email} accounts={accounts} />}
      <PasskeysSection />
      {isWhole && <PasswordSection account={account.data} />}
      {isWhole && <EmailSection />}
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

function PasswordSection({ account }: PasswordSectionProps) {
  const [isShown, setShown] = useState(false);
  const email = usePerson().data?.email ?? '';
  const type = isShown ? 'text' : 'password';

  const change = async (textOf: TextOf) => {
    const body = {
      current_password: textOf('current_password'),
      new_password: textOf('new_password'),
    };
    await dataOf(api.POST('/api/v1/account/password/', { body }));
    // That has ended all sessions, also this one.
    try {
      await session.signIn(email, body.new_password, { account: account?.id });
    } catch {
      session.end('password-changed');
      return undefined;
    }
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

async function changeEmail(textOf: TextOf): Promise<string> {
  const email = textOf('email');
  const body = { email, ...passwordIn(textOf) };
  await dataOf(api.POST('/api/v1/account/email/', { body }));
  return t('Open the link in the mail to {email} within an hour. Until then nothing changes.', {
    email,
  });
}

function EmailSection() {
  const before = usePerson().data?.email ?? '';
  return (
    <Section
      title={t('Change the address')}
      lead={t('Another address that you sign in with. When it changes, all your sessions end.')}
    >
      <SendForm action={t('Change the address')} layout="narrow" onSend={changeEmail}>
        <TextField label={t('New address')} name="email" type="email" isRequired />
        <PresentPassword label={t('Your password')} email={before} />
      </SendForm>
    </Section>
  );
}

type OwnAccount = Person['accounts'][number];

async function rename(textOf: TextOf): Promise<string> {
  const body = { name: textOf('name') };
  const { name } = await dataOf(api.PATCH('/api/v1/account/person/', { body }));
  await queryClient.invalidateQueries({ queryKey: PERSON });
  return t('Your name is “{name}” now.', { name });
}

/** Signs in to another account. The password is asked for: whoever finds this page open must not get there. */
function Switch({ account, email }: { readonly account: OwnAccount; readonly email: string }) {
  const navigate = useNavigate();
  const { provider = null } = useQuery(offersQuery).data ?? {};
  const hasPassword = usePerson().data?.has_password ?? true;
  const name = account.name ?? account.id;
  const goThere = async () => {
    session.forget();
    queryClient.clear();
    await navigate({ to: '/' });
    return t('You are signed in to the account {name}.', { name });
  };
  return (
    <DialogButton
      small
      text={t('Sign in')}
      aria-label={t('Sign in to {name}', { name })}
      title={t('Sign in to the account {name}', { name })}
    >
      {(close) => (
        <>
          {hasPassword && (
            <SignInForm email={email} account={account.id} onSignedIn={goThere} onCancel={close}>
              <PresentPassword label={t('Your password')} email={email} autoFocus />
            </SignInForm>
          )}
          {provider !== null && (
            <ButtonAnchor
              href={`/dashboard/oidc/start?account=${account.id}`}
              onClick={() => session.forget()}
            >
              {rich('Sign in with {provider}', { provider })}
            </ButtonAnchor>
          )}
        </>
      )}
    </DialogButton>
  );
}

const columnsFor = (email: string): readonly Column<OwnAccount>[] => [
  {
    header: t('Account'),
    isRowHeader: true,
    cell: ({ name, id, current }) => (
      <span className="line">
        <bdi>{name ?? id}</bdi>
        {current && <Badge tone="ok" icon="check" text={t('This one')} />}
      </span>
    ),
  },
  { header: t('Your role'), cell: ({ role }) => roleName(role) },
  {
    header: t('Actions'),
    isActions: true,
    cell: (account) => !account.current && <Switch account={account} email={email} />,
  },
];

function YouSection() {
  return (
    <Section
      title={t('You')}
      lead={t('The name that others in your accounts see, also in the history.')}
    >
      <Loaded query={usePerson()} what={t('who you are')} lines={2}>
        {({ name, email, role }) => (
          <>
            <Facts
              facts={{
                [t('Name')]: <bdi>{name ?? t('None')}</bdi>,
                [t('Email')]: email,
                [t('Role')]: roleName(role),
              }}
            />
            <SendForm action={t('Change the name')} layout="line" onSend={rename}>
              <TextField label={t('New name')} name="name" autoComplete="name" isRequired />
            </SendForm>
          </>
        )}
      </Loaded>
    </Section>
  );
}

function AccountsSection({
  email,
  accounts,
}: Pick<Person, 'accounts'> & { readonly email: string }) {
  return (
    <Section
      title={t('Your accounts')}
      lead={t('You belong to several, and sign in to one at a time.')}
    >
      <Table
        label={t('Your accounts')}
        columns={columnsFor(email)}
        rows={accounts}
        rowKey={({ id }) => id}
      />
    </Section>
  );
}
