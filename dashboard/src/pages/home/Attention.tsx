import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { Account, ApiKey } from '../../api/people.ts';
import { type Conversion, conversionsQuery } from '../../api/conversions.ts';
import { recentUsageQuery, type UsageDay } from '../../api/usage.ts';
import { type Webhook, webhooksQuery } from '../../api/webhooks.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { counted, formatCredits, formatNumber } from '../../ui/format.ts';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { Calm, Section } from '../../ui/Page.tsx';
import { Time } from '../../ui/records.tsx';
import { failureTitle } from '../conversions/words.ts';
import { webhookName, WebhookTrouble } from '../webhooks/words.tsx';
import styles from './home.module.css';
import { USAGE_DAYS } from './RecentUsage.tsx';
import { rich } from '../../words/rich.ts';
import { t } from '../../words/words.ts';

const DAY_MS = 86_400_000;
const FAILURE_DAYS = 7;
/** The reasons that are shown, each with its last failure. */
const SHOWN_REASONS = 3;
/** What was cancelled is among them, and not shown. */
const ASKED_FAILURES = 100;
/** The days after which a key should be replaced, and one that nobody uses be revoked. */
const KEY_DAYS = 90;
/** A key that is younger may not have been put in its place yet. */
const NEW_KEY_DAYS = 7;
/** The least days of an average: the first tries are not the use of each day. */
const LEAST_DAYS = 7;
/** Credits that last no longer than this are worth saying. */
const SHORT_DAYS = 14;

type KeyConcern = 'never used' | 'unused' | 'old';

function concernOf(key: ApiKey, now: number): KeyConcern | undefined {
  const days = (iso: string): number => (now - Date.parse(iso)) / DAY_MS;
  const age = days(key.created_at);
  if (key.last_used_at === null) return age >= NEW_KEY_DAYS ? 'never used' : undefined;
  if (days(key.last_used_at) >= KEY_DAYS) return 'unused';
  return age >= KEY_DAYS ? 'old' : undefined;
}

/** Credits that are taken on an average day since the first use: those of conversions that completed. 0 before a week of use. */
function creditsPerDay(days: readonly UsageDay[]): number {
  const first = days.findIndex(({ accepted }) => accepted > 0);
  if (first === -1 || days.length - first < LEAST_DAYS) return 0;
  const taken = days.reduce((sum, day) => sum + day.accepted - day.failed - day.cancelled, 0);
  return Math.max(0, taken) / (days.length - first);
}

/**
 * @returns the days that the credits last as the account used them lately; undefined where they last long
 *   enough, nothing tells, or there are no credits (null)
 */
function daysOfCreditsLeft(credits: number | null, days: readonly UsageDay[]): number | undefined {
  if (credits === 0) return 0;
  if (credits === null) return undefined;
  const perDay = creditsPerDay(days);
  if (perDay === 0) return undefined;
  const left = Math.floor(credits / perDay);
  return left <= SHORT_DAYS ? left : undefined;
}

interface AttentionProps {
  readonly keys: readonly ApiKey[];
  readonly account: Account | undefined;
  /** The account has asked for nothing yet. */
  readonly isNew: boolean;
}

/** Failures, credits that run out, endpoints that do not answer, and keys that nobody uses or that are old. */
export function Attention({ keys, account, isNew }: AttentionProps) {
  // The time of the visit: the query would change with each drawing otherwise.
  const [now] = useState(Date.now);
  const from = new Date(now - FAILURE_DAYS * DAY_MS);
  from.setHours(0, 0, 0, 0);
  const failures = useQuery(
    conversionsQuery({ status: 'failed', from: from.toISOString() }, { size: ASKED_FAILURES }),
  );
  const usage = useQuery(recentUsageQuery(USAGE_DAYS, now));
  const daysLeft = account && daysOfCreditsLeft(account.credits, usage.data ?? []);
  const concerns = keys.flatMap((key) => {
    const concern = concernOf(key, now);
    return concern === undefined ? [] : [{ key, concern }];
  });
  const newest = (failures.data?.items ?? []).filter(
    ({ failure_code: code }) => code !== 'cancelled',
  );
  // The total of a longer list counts what was cancelled, too. The usage does not, but has days in UTC.
  const isWhole = (failures.data?.total ?? 0) <= ASKED_FAILURES;
  const ofUsage = (usage.data ?? []).slice(-FAILURE_DAYS - 1);
  const failed = isWhole ? newest.length : ofUsage.reduce((sum, day) => sum + day.failed, 0);
  const troubled = (useQuery(webhooksQuery).data ?? []).filter(isTroubled);
  const isCalm =
    daysLeft === undefined && concerns.length === 0 && failed === 0 && troubled.length === 0;
  if (isCalm && (isNew || failures.data === undefined)) return null;
  return (
    <Section title={t('Needs attention')}>
      {isCalm && (
        <Calm>
          {rich(
            'Nothing. No conversion failed in the last {FAILURE_DAYS} days, and no key is old or long unused.',
            { FAILURE_DAYS },
          )}
        </Calm>
      )}
      <ul>
        {account && daysLeft !== undefined && <CreditsItem daysLeft={daysLeft} account={account} />}
        {failed > 0 && <FailuresItem failed={failed} newest={newest} from={localDay(from)} />}
        {troubled.map((webhook) => (
          <WebhookItem key={webhook.id} webhook={webhook} />
        ))}
        {concerns.map(({ key, concern }) => (
          <KeyItem key={key.id} apiKey={key} concern={concern} />
        ))}
      </ul>
    </Section>
  );
}

/** The day in the zone of the person, as the list of conversions takes it. Swedes write 2026-11-24. */
const localDay = (date: Date): string => date.toLocaleDateString('sv-SE');

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

type CreditsItemProps = { readonly daysLeft: number; readonly account: Account };

function CreditsItem({ daysLeft, account: { id, credits, operator } }: CreditsItemProps) {
  const days = daysLeft === 1 ? t('a day') : t('{daysLeft} days', { daysLeft });
  return (
    <Item
      tone={credits === 0 ? 'danger' : 'warning'}
      icon="chart"
      title={
        credits === 0
          ? t('No credits are left')
          : daysLeft === 0
            ? t('The credits last less than a day')
            : t('The credits last about {days}', { days })
      }
      action={
        <ButtonLink to="/usage" small>
          {t('See the credits')}
        </ButtonLink>
      }
    >
      <p>
        {credits === 0
          ? t('New conversions are refused.')
          : t('{credits} are left, by the use of the last {USAGE_DAYS} days.', {
              credits: formatCredits(credits),
              USAGE_DAYS,
            })}{' '}
        {operator ? (
          <Link to="/operations/accounts/$id" params={{ id }}>
            {t('Add credits')}
          </Link>
        ) : (
          t('Ask the operator of the service for more.')
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
  const reasons = new Map<string, [Conversion, ...Conversion[]]>();
  for (const each of newest) {
    const code = each.failure_code ?? '';
    const others = reasons.get(code);
    if (others === undefined) reasons.set(code, [each]);
    else others.push(each);
  }
  return (
    <Item
      tone="danger"
      icon="cross"
      title={t('{failed} failed in the last {FAILURE_DAYS} days', {
        failed: counted(failed, 'conversion'),
        FAILURE_DAYS,
      })}
      action={
        <ButtonLink to="/conversions" search={{ status: 'failed', from }} small>
          {t('See the failures')}
        </ButtonLink>
      }
    >
      <ul className={styles.failures}>
        {[...reasons].slice(0, SHOWN_REASONS).map(([code, [last, ...others]]) => (
          <li key={code}>
            <span>
              <Link to="/conversions/$id" params={{ id: last.id }}>
                {failureTitle(code)}
              </Link>
              {others.length > 0 &&
                t(', {formatNumber} times, last ', {
                  formatNumber: formatNumber(others.length + 1),
                })}
            </span>
            <Time iso={last.created_at} />
            <span className={styles.reason}>
              <bdi>{last.name ?? last.id}</bdi>: {last.error_message}
            </span>
          </li>
        ))}
      </ul>
    </Item>
  );
}

/** One that its owner switched off is as it should be. */
const isTroubled = ({
  enabled,
  disabled_reason: reason,
  failing_since: since,
}: Webhook): boolean => (enabled ? since !== null : reason !== 'owner');

function WebhookItem({ webhook }: { readonly webhook: Webhook }) {
  return (
    <Item
      tone={webhook.enabled ? 'warning' : 'danger'}
      icon="send"
      title={t('The endpoint {webhook} {value}', {
        webhook: webhookName(webhook),
        value: webhook.enabled ? t('does not answer') : t('is switched off'),
      })}
      action={
        <ButtonLink to="/webhooks/$id" params={{ id: webhook.id }} search={{}} small>
          {t('See the endpoint')}
        </ButtonLink>
      }
    >
      <WebhookTrouble webhook={webhook} />
    </Item>
  );
}

const KEY_TEXTS: Readonly<Record<KeyConcern, { readonly title: string; readonly text: string }>> = {
  'never used': {
    title: t('was never used'),
    text: t('Revoke it unless a program is about to use it.'),
  },
  unused: {
    title: t('was not used for {KEY_DAYS} days', { KEY_DAYS }),
    text: t('Revoke it if no program needs it any more.'),
  },
  old: {
    title: t('is older than {KEY_DAYS} days', { KEY_DAYS }),
    text: t('Create another key, give it to the program, then revoke this one.'),
  },
};

type KeyItemProps = { readonly apiKey: ApiKey; readonly concern: KeyConcern };

function KeyItem({ apiKey: { name, prefix, created_at: at }, concern }: KeyItemProps) {
  const { title, text } = KEY_TEXTS[concern];
  return (
    <Item
      tone="warning"
      icon="key"
      title={t('The key {name} {title}', { name, title })}
      action={
        <ButtonLink to="/keys" small>
          {t('See the keys')}
        </ButtonLink>
      }
    >
      <p>
        {rich('{text} It begins with {code} and was made on {time}.', {
          text,
          code: <code>{prefix}</code>,
          time: <Time iso={at} />,
        })}
      </p>
    </Item>
  );
}
