import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Form } from 'react-aria-components';
import { api, totalOf } from '../../api/client.ts';
import type { components } from '../../api/schema.d.ts';
import { Button } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { formText } from '../../ui/form-text.ts';
import { formatNumber } from '../../ui/format.ts';
import { Loading } from '../../ui/Loading.tsx';
import { Page } from '../../ui/Page.tsx';
import { Pagination } from '../../ui/Pagination.tsx';
import { planName } from '../../ui/plans.ts';
import { Badge } from '../../ui/StatusBadge.tsx';
import { type Column, Table } from '../../ui/Table.tsx';
import { TextField } from '../../ui/TextField.tsx';
import { Time } from '../../ui/Time.tsx';
import type { AccountsSearch } from './accounts-search.ts';
import { OpenAccountDialog } from './OpenAccountDialog.tsx';
import { OperatorsOnly } from './OperatorsOnly.tsx';
import styles from './operations.module.css';
import { ACCOUNTS, operatorAnswer } from './operator-api.ts';

type Account = components['schemas']['Account'];

const route = getRouteApi('/signed-in/operations/accounts');
const PAGE_SIZE = 50;

const COLUMNS: readonly Column<Account>[] = [
  {
    header: 'Account',
    isRowHeader: true,
    cell: ({ id, email, operator }) => (
      <span className={styles.account}>
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
  return (
    <OperatorsOnly title="Accounts">
      <Accounts />
    </OperatorsOnly>
  );
}

function Accounts() {
  const { email, page = 1 } = route.useSearch();
  const navigate = route.useNavigate();
  const [isOpening, setOpening] = useState(false);
  const accounts = useQuery({
    queryKey: [...ACCOUNTS, 'list', email, page],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = { page, page_size: PAGE_SIZE, ...(email !== undefined && { email }) };
      const sent = api.GET('/api/v1/operator/accounts/', { params: { query }, signal });
      const { data, response } = await operatorAnswer(sent);
      return { items: data, total: totalOf(response) };
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
      {accounts.isPending && <Loading label="Loading the accounts" lines={8} />}
      {accounts.data === undefined && accounts.isError && (
        <ErrorState error={accounts.error} onRetry={() => void accounts.refetch()} />
      )}
      {accounts.data?.items.length === 0 && (
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
      )}
      {accounts.data !== undefined && accounts.data.items.length > 0 && (
        <>
          <Table
            label="Accounts"
            columns={COLUMNS}
            rows={accounts.data.items}
            rowKey={({ id }) => id}
            isBusy={accounts.isPlaceholderData}
          />
          <Pagination
            of="accounts"
            page={page}
            pageSize={PAGE_SIZE}
            total={accounts.data.total}
            onPage={(next) => show({ ...(email !== undefined && { email }), page: next })}
          />
        </>
      )}
      <OpenAccountDialog isOpen={isOpening} onClose={() => setOpening(false)} />
    </Page>
  );
}

interface SearchFormProps {
  readonly email: string | undefined;
  readonly onSearch: (search: AccountsSearch) => void;
}

function SearchForm({ email, onSearch }: SearchFormProps) {
  const search = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const wanted = formText(new FormData(event.currentTarget), 'email').trim();
    onSearch(wanted === '' ? {} : { email: wanted });
  };
  return (
    <Form role="search" className={styles.search} onSubmit={search}>
      <TextField
        label="Find by the whole address"
        name="email"
        inputMode="email"
        defaultValue={email ?? ''}
        maxLength={320}
        autoComplete="off"
      />
      <Button type="submit" icon="search">
        Find
      </Button>
      {email !== undefined && <Button onPress={() => onSearch({})}>Show all</Button>}
    </Form>
  );
}
