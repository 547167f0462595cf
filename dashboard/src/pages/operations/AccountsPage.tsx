import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { answerQuery, api, dataOf, usePage } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { offersQuery } from '../../api/without-sign-in.ts';
import { Button } from '../../ui/Button.tsx';
import { Checkbox, NumberField } from '../../ui/choices.tsx';
import { ConfirmButton, DialogButton, type SecretProps, useSecret } from '../../ui/Dialog.tsx';
import { formatCredits, planName } from '../../ui/format.ts';
import { SendForm, SHORTEST_PASSWORD, TextField, type TextOf } from '../../ui/forms.tsx';
import { EmptyState, Page, Section } from '../../ui/Page.tsx';
import { Badge, type Column, Records, Table } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';
import styles from './operations.module.css';
import { ACCOUNTS, forgetAccounts } from './operator-api.ts';
import { PlanSelect } from './PlanSelect.tsx';
import type { AccountsSearch } from './search.ts';

type Account = components['schemas']['Account'];

const route = getRouteApi('/signed-in/operations/accounts');

const COLUMNS: readonly Column<Account>[] = [
  {
    header: t('Account'),
    isRowHeader: true,
    cell: ({ id, email, operator, suspended }) => (
      <span className="line">
        <Link to="/operations/accounts/$id" params={{ id }}>
          {email}
        </Link>
        {operator && <Badge tone="accent" icon="server" text={t('Operator')} />}
        {suspended && <Badge tone="warning" icon="warning" text={t('Suspended')} />}
      </span>
    ),
  },
  { header: t('Plan'), cell: ({ plan }) => planName(plan) },
  { header: t('Credits'), align: 'end', cell: ({ credits }) => formatCredits(credits) },
  { header: t('Opened'), cell: ({ created_at: at }) => <Time iso={at} /> },
  { header: t('Id'), cell: ({ id }) => <code className={styles.id}>{id}</code> },
];

export default function AccountsPage() {
  const { email, page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState('');
  const filter = email === undefined ? {} : { email };
  const list = usePage({
    key: [...ACCOUNTS, 'list', email],
    page,
    size: 100,
    ask: (paging, signal) => {
      const query = { ...paging, ...filter };
      return api.GET('/api/v1/operator/accounts/', { params: { query }, signal });
    },
  });
  const show = (search: AccountsSearch) =>
    void navigate({ to: '/operations/accounts', search, resetScroll: false });
  return (
    <Page
      title={t('Accounts')}
      lead={t('All accounts of this service that are open, newest first.')}
      actions={<OpenAccount />}
    >
      <SearchForm
        key={email}
        email={email}
        onType={setTyped}
        onSearch={(search) => {
          // The field is another one from then on, and is empty.
          setTyped('');
          show(search);
        }}
      />
      <Records
        list={list}
        of={t('accounts')}
        label={t('Accounts')}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        shows={({ id, email: address }) => `${address} ${id}`.includes(typed.trim().toLowerCase())}
        onPage={(next) => show({ ...filter, page: next })}
        empty={
          <EmptyState
            icon="search"
            title={
              email === undefined
                ? t('No account of this page has {typed}', { typed })
                : t('No account has {email}', { email })
            }
          >
            {t('Only the whole address finds an account. One that was erased is not found.')}
          </EmptyState>
        }
      />
      <SignUpLinks />
    </Page>
  );
}

type SignUpLink = components['schemas']['OpenSignUpLink'];

const LINK_COLUMNS: readonly Column<SignUpLink>[] = [
  { header: t('For'), isRowHeader: true, cell: ({ email }) => <bdi>{email}</bdi> },
  { header: t('Plan'), cell: ({ plan }) => planName(plan) },
  { header: t('Credits'), align: 'end', cell: ({ credits }) => formatCredits(credits) },
  { header: t('Valid until'), cell: ({ expires_at: at }) => <Time iso={at} /> },
  {
    header: t('Actions'),
    isActions: true,
    cell: ({ id, email }) => (
      <ConfirmButton
        small
        text={t('Revoke')}
        aria-label={t('Revoke the link for {email}', { email })}
        title={t('Revoke the link for {email}?', { email })}
        action={t('Revoke the link')}
        onConfirm={async () => {
          const params = { path: { id } };
          await dataOf(api.DELETE('/api/v1/operator/sign-ups/{id}/', { params }));
          return t('The link is revoked.');
        }}
        onClosed={() => void forgetAccounts()}
      >
        {t('It opens no account from then on.')}
      </ConfirmButton>
    ),
  },
];

/** The newest hundred: links end after seven days. */
function SignUpLinks() {
  const { data: links = [] } = useQuery(
    answerQuery([...ACCOUNTS, 'sign-ups'], '/api/v1/operator/sign-ups/', {
      query: { page_size: 100 },
    }),
  );
  if (links.length === 0) return null;
  return (
    <Section title={t('Links that nobody has used')} lead={t('Each opens an account, once.')}>
      <Table label={t('Links')} columns={LINK_COLUMNS} rows={links} rowKey={({ id }) => id} />
    </Section>
  );
}

interface SearchFormProps {
  readonly email: string | undefined;
  readonly onType: (text: string) => void;
  readonly onSearch: (search: AccountsSearch) => void;
}

function SearchForm({ email = '', onType, onSearch }: SearchFormProps) {
  const [wanted, setWanted] = useState(email);
  const search = (event: FormEvent) => {
    event.preventDefault();
    onSearch(wanted.trim() === '' ? {} : { email: wanted.trim() });
  };
  return (
    <form role="search" className={styles.search} onSubmit={search}>
      <TextField
        label={t('Find')}
        hint={t('Shows those of this page as you type. Enter looks for a whole address among all.')}
        name="email"
        inputMode="email"
        value={wanted}
        onChange={(text) => {
          setWanted(text);
          onType(text);
        }}
        maxLength={320}
        autoComplete="off"
      />
      <Button type="submit" icon="search">
        {t('Find')}
      </Button>
      {email !== '' && <Button onPress={() => onSearch({})}>{t('Show all')}</Button>}
    </form>
  );
}

/** Asks for the account, then shows the password or the link where the service made one: it is never shown again. */
function OpenAccount() {
  const [showSecret, secret] = useSecret();
  return (
    <>
      <DialogButton look="primary" icon="plus" text={t('Open an account')}>
        {(close) => <OpeningForm onClose={close} showSecret={showSecret} />}
      </DialogButton>
      {secret}
    </>
  );
}

/** What is shown of an account or a link that was made. */
const secretFor = (email: string, title: string, what: string, secret: string) => ({
  title,
  secret,
  what,
  children: rich('Copy the {what} for {email} now and pass it on safely.', { what, email }),
});

interface OpeningFormProps {
  readonly onClose: () => void;
  readonly showSecret: (secret: SecretProps) => void;
}

function OpeningForm({ onClose, showSecret }: OpeningFormProps) {
  const navigate = useNavigate();
  const [isInvited, setInvited] = useState(false);
  const { sign_up: signUp = 'closed' } = useQuery(offersQuery).data ?? {};
  const open = async (textOf: TextOf) => {
    const [email, plan, credits] = [textOf('email'), textOf('plan'), textOf('credits')];
    const terms = { email, plan, ...(credits !== '' && { credits: Number(credits) }) };
    if (isInvited) {
      const { link } = await dataOf(api.POST('/api/v1/operator/sign-ups/', { body: terms }));
      showSecret(secretFor(email, t('The link is made'), t('link'), link));
    } else {
      const password = textOf('password');
      const body = { ...terms, ...(password !== '' && { password }) };
      const opened = await dataOf(api.POST('/api/v1/operator/accounts/', { body }));
      const params = { id: opened.id };
      const goThere = () => void navigate({ to: '/operations/accounts/$id', params });
      announce(t('The account of {email} is open.', { email: opened.email }));
      if (opened.password === undefined) goThere();
      else
        showSecret({
          ...secretFor(opened.email, t('The account is open'), t('password'), opened.password),
          onCopied: goThere,
        });
    }
    onClose();
    await forgetAccounts();
  };
  return (
    <SendForm
      action={isInvited ? t('Invite') : t('Open the account')}
      onCancel={onClose}
      onSend={open}
    >
      <TextField
        label={t('Email')}
        name="email"
        inputMode="email"
        maxLength={320}
        autoComplete="off"
        isRequired
        autoFocus
      />
      <PlanSelect plan="free" />
      <NumberField
        label={t('Credits to begin with')}
        name="credits"
        hint={t('Without a number, as many as new accounts get.')}
        minValue={0}
      />
      {signUp !== 'closed' && (
        <Checkbox isSelected={isInvited} onChange={setInvited}>
          {t('Invite by a link: whoever has it chooses the password, and the account is open then')}
        </Checkbox>
      )}
      {!isInvited && (
        <TextField
          label={t('Password')}
          name="password"
          type="password"
          hint={t(
            'At least {SHORTEST_PASSWORD} characters. Without one, the service makes it and shows it once.',
            { SHORTEST_PASSWORD },
          )}
          minLength={SHORTEST_PASSWORD}
          autoComplete="new-password"
        />
      )}
    </SendForm>
  );
}
