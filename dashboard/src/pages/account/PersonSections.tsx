/** Who is signed in: their name, and their other accounts. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, dataOf, PERSON, queryClient } from '../../api/client.ts';
import { type Person, roleName, useLacking, usePerson } from '../../api/people.ts';
import { offersQuery } from '../../api/without-sign-in.ts';
import { session } from '../../session/session.ts';
import { ButtonAnchor } from '../../ui/Button.tsx';
import { DialogButton } from '../../ui/Dialog.tsx';
import { Facts } from '../../ui/Facts.tsx';
import { Section } from '../../ui/Page.tsx';
import { PresentPassword } from '../../ui/passwords.tsx';
import { SendForm, type TextOf } from '../../ui/SendForm.tsx';
import { SignInForm } from '../../ui/SignInForm.tsx';
import { Loaded } from '../../ui/states.tsx';
import { Badge } from '../../ui/StatusBadge.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { rich, t } from '../../words/rich.ts';

type OwnAccount = Person['accounts'][number];

async function rename(textOf: TextOf): Promise<string> {
  const body = { name: textOf('name') };
  const { name } = await dataOf(api.PATCH('/api/v1/account/person/', { body }));
  await queryClient.invalidateQueries({ queryKey: PERSON });
  return t('Your name is {name} now.', { name });
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
        {current && (
          <Badge tone="ok" icon="check">
            {t('This one')}
          </Badge>
        )}
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

export function PersonSections() {
  const person = usePerson();
  const isWhole = useLacking() === undefined;
  return (
    <>
      {isWhole && <YouSection />}
      {(person.data?.accounts.length ?? 0) > 1 && (
        <Section
          title={t('Your accounts')}
          lead={t('You belong to several, and sign in to one at a time.')}
        >
          <Table
            label={t('Your accounts')}
            columns={columnsFor(person.data?.email ?? '')}
            rows={person.data?.accounts ?? []}
            rowKey={({ id }) => id}
          />
        </Section>
      )}
    </>
  );
}
