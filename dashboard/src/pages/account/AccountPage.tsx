import { useAccount } from '../../api/account.ts';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Loading } from '../../ui/Loading.tsx';
import { Page, Section } from '../../ui/Page.tsx';
import { planName } from '../../ui/plans.ts';
import { Time } from '../../ui/Time.tsx';
import styles from './AccountPage.module.css';
import { PasswordSection } from './PasswordSection.tsx';
import { SessionsSection } from './SessionsSection.tsx';

export default function AccountPage() {
  const account = useAccount();
  return (
    <Page title="Account" lead="Who you are here, your password, and where you are signed in.">
      <Section title="This account">
        {account.isPending && <Loading label="Loading the account" lines={3} />}
        {account.isError && (
          <ErrorState error={account.error} onRetry={() => void account.refetch()} />
        )}
        {account.data !== undefined && (
          <dl className={styles.facts}>
            <dt>Email</dt>
            <dd>{account.data.email}</dd>
            <dt>Plan</dt>
            <dd>{planName(account.data.plan)}</dd>
            <dt>Credits left</dt>
            <dd>{formatNumber(account.data.credits)}</dd>
            <dt>Opened</dt>
            <dd>
              <Time iso={account.data.created_at} />
            </dd>
            <dt>Account id</dt>
            <dd>
              <code>{account.data.id}</code>
            </dd>
          </dl>
        )}
      </Section>
      <PasswordSection account={account.data} />
      <SessionsSection />
    </Page>
  );
}
