import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { answerQuery } from '../../api/client.ts';
import { useAccount } from '../../api/people.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { useSecret } from '../../ui/Dialog.tsx';
import { formatBytes, formatCredits, formatNumber, planName } from '../../ui/format.ts';
import { Page, RecordPage, Section } from '../../ui/Page.tsx';
import { Badge, Facts } from '../../ui/records.tsx';
import { Time } from '../../ui/time.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';
import { PARTS } from './account-parts.tsx';
import { retentionText } from './account-terms.tsx';
import { PartSection } from '../../ui/acts.tsx';
import styles from './operations.module.css';
import { ACCOUNTS, type AccountDetails, type Activity, forgetAccounts } from './operator-api.ts';

const route = getRouteApi('/signed-in/operations/accounts/$id');

export default function OperatorAccountPage() {
  const { id } = route.useParams();
  return <OneAccount key={id} id={id} />;
}

function OneAccount({ id }: { readonly id: string }) {
  const [erasedEmail, setErasedEmail] = useState<string>();
  const [activity, setActivity] = useState<Activity>();
  const [showSecret, secret] = useSecret();
  const isOwn = useAccount().data?.id === id;
  const account = useQuery({
    ...answerQuery([...ACCOUNTS, 'one', id], '/api/v1/operator/accounts/{id}/', { path: { id } }),
    enabled: erasedEmail === undefined,
  });
  if (erasedEmail !== undefined) return <Erased id={id} email={erasedEmail} />;
  return (
    <RecordPage
      query={account}
      kind={t('Account')}
      what={t('the account')}
      name={({ email }) => email}
      lead={() => (
        <Link to="/operations/accounts" search={{}}>
          {t('All accounts')}
        </Link>
      )}
      missing={{
        title: t('There is no such account'),
        text: t('It may have been erased, or the address of this page is misspelt.'),
        action: <AllAccounts />,
      }}
    >
      {(details) => (
        <>
          <AccountFacts account={details} />
          {PARTS.map((partOf) =>
            partOf({
              account: details,
              isOwn,
              activity,
              onActivity: setActivity,
              showSecret,
              onErased: () => setErasedEmail(details.email),
            }),
          ).map((part) => (
            <PartSection key={part.title} {...part} after={forgetAccounts} />
          ))}
          {secret}
        </>
      )}
    </RecordPage>
  );
}

function AccountFacts({ account }: { readonly account: AccountDetails }) {
  const { id, plan, credits, created_at: openedAt, operator, hold } = account;
  return (
    <Section title={t('This account')}>
      <Facts
        wide
        facts={{
          [t('Plan')]: planName(plan),
          [t('Credits')]: formatCredits(credits),
          [t('Stored')]: formatBytes(account.stored_bytes),
          [t('Valid API keys')]: formatNumber(account.api_keys),
          [t('Open sessions')]: formatNumber(account.sessions),
          [t('Retention')]: retentionText(account.retention_seconds),
          [t('Hold')]: hold === null ? t('None') : t('In force'),
          [t('Suspension')]: account.suspended ? t('In force') : t('None'),
          [t('Opened')]: <Time iso={openedAt} />,
          [t('Id')]: <code>{id}</code>,
          [t('Role')]: operator ? (
            <Badge tone="accent" icon="server" text={t('Operator')} />
          ) : (
            t('Customer')
          ),
        }}
      />
    </Section>
  );
}

type ErasedProps = { readonly id: string; readonly email: string };

/** Takes the focus, which the dialog cannot give back to a button that is gone. */
function Erased({ id, email }: ErasedProps) {
  const text = useRef<HTMLDivElement>(null);
  useEffect(() => text.current?.focus(), []);
  return (
    <Page title={t('The account is erased')}>
      <div ref={text} tabIndex={-1}>
        <Section title={email}>
          <p>
            {t(
              'Its API keys and sessions have ended. The service is destroying its data key and deleting its documents. After that nothing personal of it can be read any more.',
            )}
          </p>
          <p className="muted">
            {rich(
              'The log keeps its id, {code}, with the times and types of its events. The address is free for a new account.',
              { code: <code className={styles.id}>{id}</code> },
            )}
          </p>
          <div>
            <AllAccounts />
          </div>
        </Section>
      </div>
    </Page>
  );
}

function AllAccounts() {
  return (
    <ButtonLink to="/operations/accounts" search={{}}>
      {t('Show all accounts')}
    </ButtonLink>
  );
}
