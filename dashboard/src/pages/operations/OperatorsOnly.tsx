import type { ReactNode } from 'react';
import { useAccount } from '../../api/account.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { Loading } from '../../ui/Loading.tsx';
import { Page } from '../../ui/Page.tsx';
import { announce } from '../../ui/Toasts.tsx';
import { useOnEnd } from './live.ts';

interface OperatorsOnlyProps {
  /** The title of the page. */
  readonly title: string;
  readonly children: ReactNode;
}

/** A page that operators alone can use; others read that here, also those who are not operators any more. */
export function OperatorsOnly({ title, children }: OperatorsOnlyProps) {
  const account = useAccount();
  useOnEnd(account.data?.operator === true, () =>
    announce('Your account is no longer an operator of this service.', 'danger'),
  );
  if (account.data?.operator === true) {
    return account.data.must_change_password ? <ChangePasswordFirst /> : children;
  }
  if (account.data !== undefined) return <ForOperators email={account.data.email} />;
  return (
    <Page title={title}>
      {account.isError ? (
        <ErrorState error={account.error} onRetry={() => void account.refetch()} />
      ) : (
        <Loading label="Loading your account" />
      )}
    </Page>
  );
}

function ChangePasswordFirst() {
  return (
    <Page title="For operators">
      <EmptyState
        icon="server"
        title="Change the first password to open the pages for operators"
        action={
          <ButtonLink to="/account" look="primary">
            Change the password
          </ButtonLink>
        }
      >
        The first start printed it. The pages for operators show the state of the service. There you
        add credits, and open an account for each customer.
      </EmptyState>
    </Page>
  );
}

function ForOperators({ email }: { readonly email: string }) {
  return (
    <Page title="For operators">
      <EmptyState
        icon="server"
        title={`${email} is not an operator of this service`}
        action={<ButtonLink to="/">Go to the first page</ButtonLink>}
      >
        The pages for operators show the state of the service and all its accounts. If you run the
        service, make your account an operator on its machine:
        <br />
        <code>bin/pressledger account operator {email} --grant</code>
      </EmptyState>
    </Page>
  );
}
