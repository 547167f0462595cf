/** The state of the service, as one of its API nodes sees it. */
import { accountQueries } from '../../projections/accounts.ts';
import { logTreeQueries } from '../../projections/log-tree.ts';
import { type MailTotals, mailQueries } from '../../projections/mail-queries.ts';
import {
  type QueuedAccount,
  queueQueries,
  unfinishedQueries,
} from '../../projections/unfinished-conversions.ts';
import { openerUnlessErased } from '../conversions/state.ts';
import type { Vault } from '../documents/keys/vault.ts';
import type { EventStore } from '../event-store/port.ts';
import type { ReadModel } from '../read-model/database.ts';
import { type Lag, lagBehind } from '../read-model/log-lag.ts';
import type { RendererWatch } from '../render-queue/port.ts';
import { type Clock, isoTime } from '../time/clock.ts';
import { type Activity, type LogPlaces, RecentActivity } from './recent-activity.ts';

/** A service as it is seen from one machine. What is not known there is undefined, and said in `notKnown`. */
export interface ServiceStatus {
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
  readonly log: {
    readonly position: bigint;
    /** How far the read models of this machine are behind the log. */
    readonly readModel: Lag | undefined;
  };
  /** The API node that answered, or the one at HOST and PORT; `missing` says what it lacks to be ready, and is empty where it is. */
  readonly api: { readonly address: string; readonly missing: string | undefined };
  /** True while a process feeds the queue; undefined while nobody can be asked. */
  readonly isLed: boolean | undefined;
  /** `nodes` and `total` are those of all renderers, `busy` the documents being rendered. */
  readonly slots: {
    readonly nodes: number;
    readonly total: number;
    readonly busy: number | undefined;
  };
  /** The accounts that have unfinished conversions, those with most first. */
  readonly queue: readonly QueuedAccount[] | undefined;
  readonly recent: Activity;
  /** Undefined where the service has no mail server, or its read model is not here. */
  readonly mail: Omit<MailTotals, 'sent'> | undefined;
  readonly backups: BackupTimes;
  /** The limits of accounts that the settings turn off, in one line; empty: none. */
  readonly limitsOff: string;
  /** One line each. */
  readonly notKnown: readonly string[];
}

/** Times in milliseconds since the Unix epoch, as far as a DATA_DIR knows. */
export interface BackupTimes {
  /** The time of the keyring that was copied last. */
  readonly keyringCopiedAt?: number;
  /** The time of the newest backup that was verified: of its log, not of the verification. */
  readonly verifiedBackupOf?: number;
}

/** Accounts that are listed, those that wait for most first. */
const MOST_ACCOUNTS = 100;

export interface StatusDependencies {
  readonly streams: Pick<EventStore, 'readAll' | 'head'>;
  readonly readModel: ReadModel;
  readonly vault: Pick<Vault, 'unseal'>;
  readonly clock: Clock;
  readonly renderers: RendererWatch;
}

const seconds = (ms: number): number => Math.round(ms / 100) / 10;

/** Looks at the service; those who ask while a look is under way share it. */
export function createStatus(deps: StatusDependencies) {
  const activity = new RecentActivity(deps.streams);
  let underWay: ReturnType<typeof look> | undefined;

  async function look() {
    const { readModel, streams, clock } = deps;
    const now = clock.now();
    const reached = readModel.reached();
    const [recent, lag, position, seen] = await Promise.all([
      activity.look(now, placesIn(readModel)),
      lagBehind(streams, reached, now),
      streams.head(),
      deps.renderers.look(),
    ]);
    const backlog = readModel.query(unfinishedQueries).backlog();
    const total = seen.renderers.reduce((sum, { slots }) => sum + slots, 0);
    return {
      time: isoTime(now),
      led: seen.isLed ?? null,
      nodes: seen.renderers,
      slots: { total, busy: backlog.started },
      queue: {
        depth: backlog.waiting,
        oldest_at: backlog.oldestAt === undefined ? null : isoTime(backlog.oldestAt),
        by_account: await queuedAccounts(deps),
      },
      position: String(position),
      lag: { events: lag.lagEvents, seconds: seconds(lag.lagMs) },
      recent: recentRecord(recent),
      mail: mailRecord(readModel.query(mailQueries).totals(now)),
    };
  }

  return () => {
    underWay ??= look().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
}

/** Asks for the queries each time: the generation may be replaced meanwhile. */
const placesIn = (readModel: ReadModel): LogPlaces => ({
  get hashes() {
    return readModel.query(logTreeQueries).hashes;
  },
  positionOf: (number) => readModel.query(logTreeQueries).positionOf(number),
});

async function queuedAccounts({ readModel, vault }: StatusDependencies) {
  const opener = openerUnlessErased(vault);
  const queued = readModel.query(queueQueries).byAccount(MOST_ACCOUNTS);
  const accounts = readModel.query(accountQueries);
  const rows = queued.map((each) => ({ ...each, sealed: accounts.byId(each.accountId)?.email }));
  return await Promise.all(
    rows.map(async ({ accountId, sealed, waiting, rendering, oldestAt }) => ({
      account_id: accountId,
      // Gone where the account is being erased.
      email: (sealed && (await opener.unseal(accountId, sealed))) ?? null,
      pending: waiting,
      processing: rendering,
      oldest_at: isoTime(oldestAt),
    })),
  );
}

const timeOrNull = (at: number | undefined) => (at === undefined ? null : isoTime(at));

function mailRecord({ waiting, oldestAt, lastSentAt, failed, lastFailedAt }: MailTotals) {
  return {
    waiting,
    oldest_at: timeOrNull(oldestAt),
    last_sent_at: timeOrNull(lastSentAt),
    failed,
    last_failed_at: timeOrNull(lastFailedAt),
  };
}

function recentRecord({ windowMs, perMinute, failures, renderers }: Activity) {
  const { requested, completed, failed, requeued } = perMinute;
  return {
    window_seconds: seconds(windowMs),
    per_minute: { accepted: requested, completed, failed, requeued },
    failures,
    renderers: renderers.map(({ lastSeen, ...each }) => ({
      ...each,
      last_report_at: isoTime(lastSeen),
    })),
  };
}
