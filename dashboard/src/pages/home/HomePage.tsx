import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { accountQuery, keysQuery, useAccount } from '../../api/account.ts';
import { type Conversion, conversionsQuery, isEnded, LISTS } from '../../api/conversions.ts';
import { useConversionChanges } from '../../api/live-conversions.ts';
import { usePerson, useRights } from '../../api/people.ts';
import { queryClient } from '../../api/queries.ts';
import { USAGE } from '../../api/usage.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { counted } from '../../ui/format.ts';
import { Notice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { planName } from '../../ui/plans.ts';
import { EmptyState, ErrorState, Loading } from '../../ui/states.tsx';
import { Table } from '../../ui/Table.tsx';
import { CONVERSIONS_TABLE } from '../conversions/ConversionTable.tsx';
import { Attention } from './Attention.tsx';
import { FirstSteps } from './FirstSteps.tsx';
import styles from './home.module.css';
import { RecentUsage } from './RecentUsage.tsx';
import { rich, t } from '../../words/rich.ts';

const RECENT = 5;
/** Many conversions may end in a short time, and every question counts in the rate limit. */
const ASK_AGAIN_MS = 2000;

/** Asks again after conversions have ended: new ones are in no list yet, a key may be used now, and credits were taken. */
function useLatest(): void {
  const [isStale, setStale] = useState(false);
  const take = useCallback((changed: readonly Conversion[]) => {
    if (changed.some(isEnded)) setStale(true);
  }, []);
  useConversionChanges(take);
  useEffect(() => {
    if (!isStale) return;
    const timer = setTimeout(() => {
      setStale(false);
      for (const queryKey of [LISTS, USAGE, keysQuery.queryKey, accountQuery.queryKey]) {
        void queryClient.invalidateQueries({ queryKey });
      }
    }, ASK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [isStale]);
}

export default function HomePage() {
  useLatest();
  const { data: account } = useAccount();
  const { data: person } = usePerson();
  const { mayWork } = useRights();
  const keys = useQuery(keysQuery);
  const recent = useQuery(conversionsQuery({}, { size: RECENT }));
  const completed = useQuery(conversionsQuery({ status: 'completed' }, { size: 1 }));
  const error = keys.error ?? recent.error ?? completed.error;
  if (error !== null) {
    const retry = () => {
      for (const query of [keys, recent, completed]) void query.refetch();
    };
    return (
      <Page title={t('Home')}>
        <ErrorState error={error} onRetry={retry} />
      </Page>
    );
  }
  if (keys.data === undefined || recent.data === undefined || completed.data === undefined) {
    return (
      <Page title={t('Home')}>
        <Loading label={t('Loading the state of the account')} lines={10} />
      </Page>
    );
  }
  const steps = {
    hasKey: keys.data.length > 0,
    hasUsedKey: keys.data.some(({ last_used_at: at }) => at !== null),
    hasPdf: completed.data.total > 0,
  };
  const hasAllSteps = Object.values(steps).every(Boolean);
  const isNew = recent.data.total === 0;
  return (
    <Page
      title={t('Home')}
      lead={
        account && (
          <>
            {rich('{plan} plan{value}.', {
              plan: planName(account.plan),
              value: account.credits !== null && (
                <>
                  ,{' '}
                  <Link to="/usage">
                    {rich('{credits} left', { credits: counted(account.credits, 'credit') })}
                  </Link>
                </>
              ),
            })}
          </>
        )
      }
      actions={
        mayWork && (
          <ButtonLink to="/playground" icon="plus" look={isNew ? 'secondary' : 'primary'}>
            {t('New conversion')}
          </ButtonLink>
        )
      }
    >
      {person?.operator === true && (
        <OperatorsNext actsAlready={person.acts_as_operator} hasAllSteps={hasAllSteps} />
      )}
      {mayWork && !hasAllSteps && <FirstSteps {...steps} />}
      <Attention keys={keys.data} account={account} isNew={isNew} />
      {!isNew && (
        <>
          <section className={styles.recent}>
            <header className={styles.recentHeader}>
              <h2>{t('Recent conversions')}</h2>
              <ButtonLink to="/conversions" small>
                {t('All conversions')}
              </ButtonLink>
            </header>
            <Table {...CONVERSIONS_TABLE} rows={recent.data.items} />
          </section>
          <RecentUsage />
        </>
      )}
      {isNew && (
        <div className={styles.nothing}>
          <EmptyState icon="chart" title={t('No conversions yet')}>
            {t('Conversions, what needs attention and the usage of the last days appear here.')}
          </EmptyState>
        </div>
      )}
    </Page>
  );
}

interface OperatorsNextProps {
  /** The first password was changed. */
  readonly actsAlready: boolean;
  readonly hasAllSteps: boolean;
}

/** Leads an operator from the first password to the pages for operators. */
function OperatorsNext({ actsAlready, hasAllSteps }: OperatorsNextProps) {
  if (!actsAlready) {
    return (
      <Notice kind="warning">
        {rich(
          '<link>Change the first password</link> to open the pages for operators. There you add credits, and open an account for each customer.',
          { link: <Link to="/account" /> },
        )}
      </Notice>
    );
  }
  if (hasAllSteps) return null;
  return (
    <Notice kind="info">
      {rich(
        'You are an operator of this service. Under <link>Accounts</link> you add credits, and open an account for each customer.',
        { link: <Link to="/operations/accounts" search={{}} /> },
      )}
    </Notice>
  );
}
