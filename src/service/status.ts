/** The state of a service, as its operator sees it from the machine of its settings. Nothing is changed. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { logTreeQueries } from '../../projections/log-tree.ts';
import { mailQueries } from '../../projections/mail-queries.ts';
import { queueQueries } from '../../projections/unfinished-conversions.ts';
import type { Config } from '../config/config.ts';
import type { EventStore } from '../event-store/port.ts';
import type { Logger } from '../observe/log.ts';
import { RecentActivity } from '../observe/recent-activity.ts';
import type { ServiceStatus } from '../observe/service-status.ts';
import { lagBehind } from '../read-model/log-lag.ts';
import { checkpointsOf, FORMAT, formatOf } from '../read-model/schema.ts';
import type { ReadOnlyDatabase } from '../sqlite/read-only.ts';
import { systemClock } from '../time/clock.ts';
import { askStatus } from './asked-status.ts';
import { backupTimes } from './backup-times.ts';
import { limitsOff } from './checks.ts';
import { readinessAt } from './doctor.ts';
import { openEventStore } from './event-store.ts';
import { openReadModelOf } from './log.ts';
import { watchHere, watchOverNats } from './nats.ts';
import { open } from './open.ts';

/** Renderers announce their slots each second. */
const ANNOUNCED_MS = 1_200;
/** Accounts that are listed, those that wait for most first. */
const MOST_ACCOUNTS = 100;

export interface Watch {
  look(): Promise<ServiceStatus>;
  close(): Promise<void>;
}

/**
 * Asks the service by its socket, which knows more than the settings here say. Where none answers, looks at its store.
 * @throws {Error} one line: there is no store, or it or NATS cannot be reached
 */
export async function watchService(config: Config, logger: Logger): Promise<Watch> {
  let opened: Promise<Watch> | undefined;
  const watchOpened = (): Promise<Watch> => (opened ??= watchStore(config, logger));
  if ((await askStatus(config)) === undefined) await watchOpened();
  return {
    look: async () => (await askStatus(config)) ?? (await (await watchOpened()).look()),
    close: async () => await (await opened)?.close(),
  };
}

function watchStore(config: Config, logger: Logger): Promise<Watch> {
  return open(config, logger, 'api', async (around) => {
    const { nats, openings } = around;
    const { store } = await openEventStore(around, {});
    const activity = new RecentActivity(store);
    const renderers = nats ? await watchOverNats(nats) : watchHere(config);
    openings.add({ close: async () => renderers.close() });
    if (nats) await delay(ANNOUNCED_MS);
    return {
      look: async () => {
        const now = systemClock.now();
        const opened = openReadModel(config, logger);
        const seen = async () => {
          try {
            const recent = await activity.look(now, opened && logTreeQueries(opened.db));
            return { recent, log: await logAt(store, opened?.db, now) };
          } finally {
            opened?.close();
          }
        };
        const [{ recent, log }, ready, { isLed: isHeld, renderers: listed }] = await Promise.all([
          seen(),
          readinessAt(config.host, config.port),
          renderers.look(),
        ]);
        // A deployment over NATS has its lease there: without its NATS_URL, nothing is known of it.
        const isLed = nats ? isHeld : isHeld || undefined;
        const { queue, mail, ...position } = log;
        const busy = queue?.reduce((sum, { rendering }) => sum + rendering, 0);
        const total = listed.reduce((sum, { slots }) => sum + slots, 0);
        const status = {
          at: now,
          log: position,
          api: { address: `${config.host}:${config.port}`, missing: ready },
          isLed,
          slots: { nodes: listed.length, total, busy },
          queue,
          recent,
          mail: config.smtpUrl === undefined ? undefined : mail,
          backups: backupTimes(config.dataDir),
          limitsOff: limitsOff(config),
        };
        return { ...status, notKnown: notKnown(config, status) };
      },
    };
  });
}

type Log = ServiceStatus['log'] & Pick<ServiceStatus, 'queue' | 'mail'>;

/** The read model of this machine, which its own service keeps; each look opens the generation in use. */
function openReadModel(config: Config, logger: Logger): ReadOnlyDatabase | undefined {
  const opened = openReadModelOf(config, logger);
  if (opened === undefined || formatOf(opened.db) === FORMAT) return opened;
  // The next start rebuilds it.
  opened.close();
  return undefined;
}

async function logAt(store: EventStore, db: Database | undefined, now: number): Promise<Log> {
  const head = await store.head();
  if (db === undefined) {
    return { position: head, readModel: undefined, queue: undefined, mail: undefined };
  }
  const positions = checkpointsOf(db)().map(({ position }) => position);
  const after = positions.reduce((least, each) => (each < least ? each : least), head);
  const queue = queueQueries(db).byAccount(MOST_ACCOUNTS);
  const mail = mailQueries(db).totals(now);
  return { position: head, readModel: await lagBehind(store, after, now), queue, mail };
}

/** One line for each thing that cannot be found out from here: what it is, and what to do. */
function notKnown(
  { natsUrl, dataDir }: Config,
  { api, isLed, slots, queue }: Pick<ServiceStatus, 'api' | 'isLed' | 'slots' | 'queue'>,
): readonly string[] {
  const lines: readonly (readonly [boolean, string])[] = [
    [
      api.missing === undefined,
      `API node: none answers at ${api.address}. If the service runs, set HOST and PORT as it has them`,
    ],
    [
      isLed === undefined,
      `leader, renderers: no service answers at the socket in ${dataDir}. If one runs, set DATA_DIR and NATS_URL as it has them`,
    ],
    [natsUrl !== undefined, 'other API nodes: ask each at its /readyz whether it is ready'],
    [
      natsUrl === undefined && isLed === true,
      `slots of the service: ${slots.total} is the RENDER_CONCURRENCY of this command. The service may have been started with another`,
    ],
    [
      queue === undefined,
      `queue, lag, rates: there is no read model in ${dataDir}. Run this command on the machine of an API node`,
    ],
  ];
  return lines.flatMap(([isMissing, line]) => (isMissing ? line : []));
}
