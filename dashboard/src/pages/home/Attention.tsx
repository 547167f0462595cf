import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { RENEWED } from '../../api/live-conversions.ts';
import type { Account, ApiKey } from '../../api/people.ts';
import { type Conversion, conversionsQuery } from '../../api/conversions.ts';
import { recentUsageQuery, type UsageDay } from '../../api/usage.ts';
import { type Webhook, webhooksQuery } from '../../api/webhooks.ts';
import { ButtonLink } from '../../ui/Button.tsx';
import { counted, formatCredits, formatNumber } from '../../ui/format.ts';
import { Icon, type IconName } from '../../ui/icons.tsx';
import { Calm, Section } from '../../ui/Page.tsx';
import { Time } from '../../ui/time.tsx';
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

/** Something that a person should look at. */
interface Concern {
  readonly id: string;
  readonly tone: 'danger' | 'warning';
  readonly icon: IconName;
  readonly title: string;
  readonly text: ReactNode;
  /** Leads to where it is seen or mended. */
  readonly action: ReactNode;
}

/** Credits that are taken on an average day since the first use: those of conversions that completed. 0 before a week of use. */
function creditsPerDay(days: readonly UsageDay[]): number {
  const first = days.findIndex(({ accepted }) => accepted > 0);
  if (first === -1 || days.length - first < LEAST_DAYS) return 0;
  const taken = days.reduce((sum, day) => sum + day.accepted - day.failed - day.cancelled, 0);
  return Math.max(0, taken) / (days.length - first);
}

/** Credits that are gone, or do not last long as the account used them lately. null: it has none to count. */
function ofCredits({ id, credits, operator }: Account, days: readonly UsageDay[]): Concern[] {
  const perDay = creditsPerDay(days);
  if (credits === null || (credits > 0 && perDay === 0)) return [];
  const left = credits === 0 ? 0 : Math.floor(credits / perDay);
  if (left > SHORT_DAYS) return [];
  const lasting = left === 1 ? t('a day') : t('{daysLeft} days', { daysLeft: left });
  return [
    {
      id: 'credits',
      tone: credits === 0 ? 'danger' : 'warning',
      icon: 'chart',
      title:
        credits === 0
          ? t('No credits are left')
          : left === 0
            ? t('The credits last less than a day')
            : t('The credits last about {days}', { days: lasting }),
      text: (
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
      ),
      action: (
        <ButtonLink to="/usage" small>
          {t('See the credits')}
        </ButtonLink>
      ),
    },
  ];
}

/** The failures, by their reasons. @param newest at most a hundred @param from the first day, as the list of conversions takes it */
function ofFailures(count: number, newest: readonly Conversion[], from: string): Concern[] {
  if (count === 0) return [];
  const reasons = [...Map.groupBy(newest, (each) => each.failure_code ?? '')];
  const shown = reasons.slice(0, SHOWN_REASONS).flatMap(([code, failed]) =>
    failed.slice(0, 1).map((last) => (
      <li key={code}>
        <Link to="/conversions/$id" params={{ id: last.id }}>
          {failureTitle(code)}
        </Link>
        {failed.length > 1
          ? t(', {formatNumber} times, last ', { formatNumber: formatNumber(failed.length) })
          : ', '}
        <Time iso={last.created_at} look="short" />
        <p>
          <bdi>{last.name ?? last.id}</bdi>: {last.error_message}
        </p>
      </li>
    )),
  );
  return [
    {
      id: 'failures',
      tone: 'danger',
      icon: 'cross',
      title: t('{failed} failed in the last {FAILURE_DAYS} days', {
        failed: counted(count, 'conversion'),
        FAILURE_DAYS,
      }),
      text: <ul className="stack gap-2">{shown}</ul>,
      action: (
        <ButtonLink to="/conversions" search={{ status: 'failed', from }} small>
          {t('See the failures')}
        </ButtonLink>
      ),
    },
  ];
}

/** An endpoint that does not answer, or was switched off for that. One that its owner switched off is as it should be. */
function ofWebhook(webhook: Webhook): Concern[] {
  const { id, enabled, disabled_reason: reason, failing_since: since } = webhook;
  if (enabled ? since === null : reason === 'owner') return [];
  return [
    {
      id,
      tone: enabled ? 'warning' : 'danger',
      icon: 'send',
      title: t('The endpoint {webhook} {value}', {
        webhook: webhookName(webhook),
        value: enabled ? t('does not answer') : t('is switched off'),
      }),
      text: <WebhookTrouble webhook={webhook} />,
      action: (
        <ButtonLink to="/webhooks/$id" params={{ id }} search={{}} small>
          {t('See the endpoint')}
        </ButtonLink>
      ),
    },
  ];
}

const KEY_CONCERNS = {
  neverUsed: {
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
} as const;

function concernOf({ created_at: created, last_used_at: used }: ApiKey, now: number) {
  const days = (iso: string): number => (now - Date.parse(iso)) / DAY_MS;
  if (used === null) return days(created) >= NEW_KEY_DAYS ? KEY_CONCERNS.neverUsed : undefined;
  if (days(used) >= KEY_DAYS) return KEY_CONCERNS.unused;
  return days(created) >= KEY_DAYS ? KEY_CONCERNS.old : undefined;
}

function ofKey(key: ApiKey, now: number): Concern[] {
  const { id, name, prefix, created_at: at } = key;
  const concern = concernOf(key, now);
  if (concern === undefined) return [];
  const made = { text: concern.text, code: <code>{prefix}</code>, time: <Time iso={at} /> };
  return [
    {
      id,
      tone: 'warning',
      icon: 'key',
      title: t('The key “{name}” {title}', { name, title: concern.title }),
      text: <p>{rich('{text} It begins with {code} and was made on {time}.', made)}</p>,
      action: (
        <ButtonLink to="/keys" small>
          {t('See the keys')}
        </ButtonLink>
      ),
    },
  ];
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
  const filter = { status: 'failed', from: from.toISOString() } as const;
  const failures = useQuery({ ...conversionsQuery(filter, { size: ASKED_FAILURES }), ...RENEWED });
  const usage = useQuery({ ...recentUsageQuery(USAGE_DAYS, now), ...RENEWED }).data ?? [];
  const webhooks = useQuery(webhooksQuery).data ?? [];
  const { items = [], total = 0 } = failures.data ?? {};
  const newest = items.filter(({ failure_code: code }) => code !== 'cancelled');
  // The total of a longer list counts what was cancelled, too. The usage does not, but has days in UTC.
  const failed =
    total <= ASKED_FAILURES
      ? newest.length
      : usage.slice(-FAILURE_DAYS - 1).reduce((sum, day) => sum + day.failed, 0);
  const concerns = [
    ...(account === undefined ? [] : ofCredits(account, usage)),
    // The day in the zone of the person. Swedes write 2026-11-24.
    ...ofFailures(failed, newest, from.toLocaleDateString('sv-SE')),
    ...webhooks.flatMap(ofWebhook),
    ...keys.flatMap((key) => ofKey(key, now)),
  ];
  const isCalm = concerns.length === 0;
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
        {concerns.map(({ id, tone, icon, title, text, action }) => (
          <li key={id} className={styles.item}>
            <span className="disc" data-tone={tone}>
              <Icon name={icon} />
            </span>
            <div className="named anywhere">
              <h3>{title}</h3>
              {text}
            </div>
            <div>{action}</div>
          </li>
        ))}
      </ul>
    </Section>
  );
}
