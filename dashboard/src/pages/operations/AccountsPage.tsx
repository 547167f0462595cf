import { getRouteApi, Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api } from '../../api/client.ts';
import { usePage } from '../../api/paged.ts';
import type { components } from '../../api/schema.d.ts';
import { Button } from '../../ui/Button.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Page } from '../../ui/Page.tsx';
import { planName } from '../../ui/plans.ts';
import { Badge } from '../../ui/StatusBadge.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { type Column, Records } from '../../ui/Table.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { Time } from '../../ui/Time.tsx';
import type { AccountsSearch } from './accounts-search.ts';
import { OpenAccountDialog } from './OpenAccountDialog.tsx';
import styles from './operations.module.css';
import { ACCOUNTS } from './operator-api.ts';

type Account = components['schemas']['Account'];

const route = getRouteApi('/signed-in/operations/accounts');

const COLUMNS: readonly Column<Account>[] = [
  {
    header: 'Account',
    isRowHeader: true,
    cell: ({ id, email, operator }) => (
      <span className="line">
        <Link to="/operations/accounts/$id" params={{ id }}>
          {email}
        </Link>
        {operator && (
          <Badge tone="accent" icon="server">
            Operator
          </Badge>
        )}
      </span>
    ),
  },
  { header: 'Plan', cell: ({ plan }) => planName(plan) },
  { header: 'Credits', align: 'end', cell: ({ credits }) => formatNumber(credits) },
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
