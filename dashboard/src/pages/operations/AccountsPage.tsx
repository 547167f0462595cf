import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api, dataOf } from '../../api/client.ts';
import { usePage } from '../../api/paged.ts';
import type { components } from '../../api/schema.d.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog, SecretDialog } from '../../ui/Dialog.tsx';
import { formatCredits } from '../../ui/format.ts';
import { NumberField } from '../../ui/NumberField.tsx';
import { Page } from '../../ui/Page.tsx';
import { SHORTEST_PASSWORD } from '../../ui/passwords.tsx';
import { planName } from '../../ui/plans.ts';
import { SendForm } from '../../ui/SendForm.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { Badge } from '../../ui/StatusBadge.tsx';
import { type Column, Records } from '../../ui/Table.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { Time } from '../../ui/Time.tsx';
import { announce } from '../../ui/Toasts.tsx';
import type { AccountsSearch } from './accounts-search.ts';
import styles from './operations.module.css';
import { PlanSelect } from './PlanSelect.tsx';
import { ACCOUNTS, forgetAccounts } from './operator-api.ts';

type Account = components['schemas']['Account'];

const route = getRouteApi('/signed-in/operations/accounts');

const COLUMNS: readonly Column<Account>[] = [
  {
    header: 'Account',
    isRowHeader: true,
    cell: ({ id, email, operator, suspended }) => (
      <span className="line">
        <Link to="/operations/accounts/$id" params={{ id }}>
          {email}
        </Link>
        {operator && (
          <Badge tone="accent" icon="server">
            Operator
          </Badge>
        )}
        {suspended && (
          <Badge tone="warning" icon="warning">
            Suspended
          </Badge>
        )}
      </span>
    ),
  },
  { header: 'Plan', cell: ({ plan }) => planName(plan) },
  { header: 'Credits', align: 'end', cell: ({ credits }) => formatCredits(credits) },
  { header: 'Opened', cell: ({ created_at: at }) => <Time iso={at} /> },
  { header: 'Id', cell: ({ id }) => <code className={styles.id}>{id}</code> },
];

export default function AccountsPage() {
  const { email, page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const [isOpening, setOpening] = useState(false);
  const filter = email === undefined ? {} : { email };
  const list = usePage({
    key: [...ACCOUNTS, 'list', email],
    page,
    size: 50,
    ask: (paging, signal) => {
      const query = { ...paging, ...filter };
      return api.GET('/api/v1/operator/accounts/', { params: { query }, signal });
    },
  });
  const show = (search: AccountsSearch) =>
    void navigate({ to: '/operations/accounts', search, resetScroll: false });
  return (
    <Page
      title="Accounts"
      lead="All accounts of this service that are open, newest first."
      actions={
        <Button look="primary" icon="plus" onPress={() => setOpening(true)}>
          Open an account
        </Button>
      }
    >
      <SearchForm key={email} email={email} onSearch={show} />
      <Records
        list={list}
        of="accounts"
        label="Accounts"
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onPage={(next) => show({ ...filter, page: next })}
        empty={
          <EmptyState
            icon="search"
            title={email === undefined ? 'No account is on this page' : `No account has ${email}`}
            action={
              email === undefined && <Button onPress={() => show({})}>Show all accounts</Button>
            }
          >
            {email === undefined
              ? 'The list may have become shorter.'
              : 'Only the whole address finds an account. One that was erased is not found.'}
          </EmptyState>
        }
      />
      <OpenAccountDialog isOpen={isOpening} onClose={() => setOpening(false)} />
    </Page>
  );
}

interface SearchFormProps {
  readonly email: string | undefined;
  readonly onSearch: (search: AccountsSearch) => void;
}

function SearchForm({ email = '', onSearch }: SearchFormProps) {
  const [wanted, setWanted] = useState(email);
  const search = (event: FormEvent) => {
    event.preventDefault();
    onSearch(wanted.trim() === '' ? {} : { email: wanted.trim() });
  };
  return (
    <form role="search" className={styles.search} onSubmit={search}>
      <TextField
        label="Find by the whole address"
        name="email"
        inputMode="email"
        value={wanted}
        onChange={setWanted}
        maxLength={320}
        autoComplete="off"
      />
      <Button type="submit" icon="search">
        Find
      </Button>
      {email !== '' && <Button onPress={() => onSearch({})}>Show all</Button>}
    </form>
  );
}

type OpenedAccount = components['schemas']['OpenedAccount'];

interface OpenAccountDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Asks for the account, then shows the password where the service made it: it is never shown again. */
function OpenAccountDialog({ isOpen, onClose }: OpenAccountDialogProps) {
  const navigate = useNavigate();
  const [opened, setOpened] = useState<OpenedAccount>();
  const goTo = async ({ id }: OpenedAccount) => {
    setOpened(undefined);
    onClose();
    await navigate({ to: '/operations/accounts/$id', params: { id } });
  };
  if (opened?.password !== undefined) {
    return (
      <SecretDialog
        title="The account is open"
        secret={opened.password}
        what="password"
        onCopied={() => void goTo(opened)}
      >
        Copy the password of {opened.email} now and pass it on safely.
      </SecretDialog>
    );
  }
  return (
    <Dialog title="Open an account" isOpen={isOpen} onClose={onClose}>
      <OpeningForm
        onCancel={onClose}
        onOpened={async (account) => {
          announce(`The account of ${account.email} is open.`);
          if (account.password === undefined) await goTo(account);
          else setOpened(account);
          await forgetAccounts();
        }}
      />
    </Dialog>
  );
}

interface OpeningFormProps {
  readonly onCancel: () => void;
  readonly onOpened: (account: OpenedAccount) => Promise<void>;
}

function OpeningForm({ onCancel, onOpened }: OpeningFormProps) {
  const [plan, setPlan] = useState('free');
  return (
    <SendForm
      action="Open the account"
      onCancel={onCancel}
      onSend={async (textOf) => {
        const [credits, password] = [textOf('credits'), textOf('password')];
        const body = {
          email: textOf('email'),
          plan,
          ...(credits !== '' && { credits: Number(credits) }),
          ...(password !== '' && { password }),
        };
        await onOpened(await dataOf(api.POST('/api/v1/operator/accounts/', { body })));
      }}
    >
      <TextField
        label="Email"
        name="email"
        inputMode="email"
        maxLength={320}
        autoComplete="off"
        isRequired
        autoFocus
      />
      <PlanSelect value={plan} onChange={setPlan} />
      <NumberField
        label="Credits to begin with"
        name="credits"
        hint="Without a number, as many as new accounts get."
        minValue={0}
      />
      <TextField
        label="Password"
        name="password"
        type="password"
        hint={`At least ${SHORTEST_PASSWORD} characters. Without one, the service makes it and shows it once.`}
        minLength={SHORTEST_PASSWORD}
        autoComplete="new-password"
      />
    </SendForm>
  );
}
