import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Account } from '../../api/account.ts';
import { type Conversion, conversionsQuery } from '../../api/conversions.ts';
import type { ApiKey } from '../../api/keys.ts';
import { recentUsageQuery } from '../../api/usage.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { counted, formatNumber } from '../../ui/format.ts';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { Section } from '../../ui/Page.tsx';
import { Calm } from '../../ui/states.tsx';
import { Time } from '../../ui/Time.tsx';
import { failureTitle } from '../conversions/failure-advice.ts';
import { concernOf, daysOfCreditsLeft, KEY_DAYS, type KeyConcern } from './attention.ts';
import styles from './home.module.css';
import { USAGE_DAYS } from './RecentUsage.tsx';

const DAY_MS = 86_400_000;
const FAILURE_DAYS = 7;
const SHOWN_FAILURES = 3;

interface AttentionProps {
  readonly keys: readonly ApiKey[];
  readonly account: Account | undefined;
  /** The account has asked for nothing yet. */
  readonly isNew: boolean;
}

/** Failures, credits that run out, and keys that nobody uses or that are old. */
export function Attention({ keys, account, isNew }: AttentionProps) {
  // The time of the visit: the query would change with each drawing otherwise.
  const [now] = useState(Date.now);
  const from = new Date(now - FAILURE_DAYS * DAY_MS);
  from.setHours(0, 0, 0, 0);
  const failures = useQuery(
    conversionsQuery({ status: 'failed', from: from.toISOString() }, { size: SHOWN_FAILURES }),
  );
  const usage = useQuery(recentUsageQuery(USAGE_DAYS, now));
  const daysLeft = account && daysOfCreditsLeft(account.credits, usage.data ?? []);
  const concerns = keys.flatMap((key) => {
    const concern = concernOf(key, now);
    return concern === undefined ? [] : [{ key, concern }];
  });
  const failed = failures.data?.total ?? 0;
  const isCalm = daysLeft === undefined && concerns.length === 0 && failed === 0;
  if (isCalm && (isNew || failures.data === undefined)) return null;
  return (
    <Section title="Needs attention">
      {isCalm && (
        <Calm>
          Nothing. No conversion failed in the last {FAILURE_DAYS} days, and no key is old or long
          unused.
        </Calm>
      )}
      <ul>
        {account && daysLeft !== undefined && <CreditsItem daysLeft={daysLeft} account={account} />}
        {failed > 0 && (
          <FailuresItem failed={failed} newest={failures.data?.items ?? []} from={localDay(from)} />
        )}
        {concerns.map(({ key, concern }) => (
          <KeyItem key={key.id} apiKey={key} concern={concern} />
        ))}
      </ul>
    </Section>
  );
}

const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** The day in the zone of the person, as the list of conversions takes it. */
function localDay(date: Date): string {
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`;
}

interface ItemProps {
  readonly tone: 'danger' | 'warning';
  readonly icon: IconName;
  readonly title: string;
  readonly children: ReactNode;
  readonly action: ReactNode;
}

function Item({ tone, icon, title, children, action }: ItemProps) {
  return (
    <li className={styles.item}>
      <span className={styles.itemIcon} data-tone={tone}>
        <Icon name={icon} />
      </span>
      <div className={styles.itemText}>
        <h3>{title}</h3>
        {children}
      </div>
      <div>{action}</div>
    </li>
  );
}

interface CreditsItemProps {
  readonly daysLeft: number;
  readonly account: Account;
}

function CreditsItem({ daysLeft, account: { id, credits, operator } }: CreditsItemProps) {
  const days = daysLeft === 1 ? 'a day' : `${daysLeft} days`;
  return (
    <Item
      tone={credits === 0 ? 'danger' : 'warning'}
      icon="chart"
      title={
        credits === 0
          ? 'No credits are left'
          : daysLeft === 0
            ? 'The credits last less than a day'
            : `The credits last about ${days}`
      }
      action={
        <ButtonLink to="/usage" small>
          See the credits
        </ButtonLink>
      }
    >
      <p>
        {credits === 0
          ? 'New conversions are refused.'
          : `${formatNumber(credits)} are left, by the use of the last ${USAGE_DAYS} days.`}{' '}
        {operator ? (
          <Link to="/operations/accounts/$id" params={{ id }}>
            Add credits
          </Link>
        ) : (
          'Ask the operator of the service for more.'
        )}
      </p>
    </Item>
  );
}

interface FailuresItemProps {
  readonly failed: number;
  readonly newest: readonly Conversion[];
  readonly from: string;
}

function FailuresItem({ failed, newest, from }: FailuresItemProps) {
  return (
    <Item
      tone="danger"
      icon="cross"
      title={`${counted(failed, 'conversion')} failed in the last ${FAILURE_DAYS} days`}
      action={
        <ButtonLink to="/conversions" search={{ status: 'failed', from }} small>
          See the failures
        </ButtonLink>
      }
    >
      <ul className={styles.failures}>
        {newest.map(({ id, failure_code: code = '', error_message: reason, created_at: at }) => (
          <li key={id}>
            <Link to="/conversions/$id" params={{ id }}>
              {failureTitle(code)}
            </Link>
            <span className={styles.reason}>{reason}</span>
            <Time iso={at} />
          </li>
        ))}
      </ul>
    </Item>
  );
}

const KEY_TEXTS: Readonly<Record<KeyConcern, { readonly title: string; readonly text: string }>> = {
  'never used': {
    title: 'was never used',
    text: 'Revoke it unless a program is about to use it.',
  },
  unused: {
    title: `was not used for ${KEY_DAYS} days`,
    text: 'Revoke it if no program needs it any more.',
  },
  old: {
    title: `is older than ${KEY_DAYS} days`,
    text: 'Create another key, give it to the program, then revoke this one.',
  },
};

interface KeyItemProps {
  readonly apiKey: ApiKey;
  readonly concern: KeyConcern;
}

function KeyItem({ apiKey: { name, prefix, created_at: at }, concern }: KeyItemProps) {
  const { title, text } = KEY_TEXTS[concern];
  return (
    <Item
      tone="warning"
      icon="key"
      title={`The key ${name} ${title}`}
      action={
        <ButtonLink to="/keys" small>
          See the keys
        </ButtonLink>
      }
    >
      <p>
        {text} It begins with <code>{prefix}</code> and was made on <Time iso={at} />.
      </p>
    </Item>
  );
}
