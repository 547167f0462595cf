/** The state of a service as it says it itself, by the socket in DATA_DIR. */
import type { Static } from 'typebox';
import type { Config } from '../config/config.ts';
import type { ServiceStatus as Answer } from '../http/resources/operator-service.ts';
import type { ServiceStatus } from '../observe/service-status.ts';
import { backupTimes } from './backup-times.ts';
import { limitsOff } from './checks.ts';
import { fetchOver } from './operator-access.ts';
import { connectToService } from './operator-socket.ts';

const URL = 'http://localhost/api/v1/operator/status/';
const ANSWER_MS = 5_000;

/** @returns undefined where no service answers there */
export async function askStatus({ dataDir }: Config): Promise<ServiceStatus | undefined> {
  const connection = await connectToService(dataDir);
  if (connection === undefined) return undefined;
  const signal = AbortSignal.timeout(ANSWER_MS);
  try {
    const answer = await fetchOver(async () => connection)(URL, { signal });
    if (!answer.ok) return undefined;
    return statusOf((await answer.json()) as Static<typeof Answer>, dataDir);
  } catch {
    return undefined;
  } finally {
    connection.destroy();
  }
}

const orUndefined = (time: string | null): number | undefined =>
  time === null ? undefined : Date.parse(time);

/** The renderer of a service on one machine. */
const HERE = 'here';
const OTHER_NODES = 'other API nodes: ask each at its /readyz whether it is ready';

function statusOf(said: Static<typeof Answer>, dataDir: string): ServiceStatus {
  const { lag, slots, recent, mail } = said;
  const { accepted, ...rates } = recent.per_minute;
  return {
    at: Date.parse(said.time),
    log: {
      position: BigInt(said.position),
      readModel: { lagEvents: lag.events, lagMs: lag.seconds * 1000 },
    },
    api: { address: HERE, missing: said.missing.join('; ') },
    isLed: said.led ?? undefined,
    slots: { nodes: said.nodes.length, ...slots },
    queue: said.queue.by_account.map((each) => ({
      accountId: each.account_id,
      waiting: each.pending,
      rendering: each.processing,
      oldestAt: Date.parse(each.oldest_at),
    })),
    recent: {
      windowMs: recent.window_seconds * 1000,
      perMinute: { requested: accepted, ...rates },
      failures: recent.failures,
      renderers: recent.renderers.map(({ last_report_at: lastReport, ...each }) => ({
        ...each,
        lastSeen: Date.parse(lastReport),
      })),
    },
    mail: mail
      ? {
          waiting: mail.waiting,
          oldestAt: orUndefined(mail.oldest_at),
          lastSentAt: orUndefined(mail.last_sent_at),
          failed: mail.failed,
          lastFailedAt: orUndefined(mail.last_failed_at),
        }
      : undefined,
    backups: backupTimes(dataDir),
    limitsOff: limitsOff({ credits: said.credits, rateLimit: said.rate_limit }),
    notKnown: said.nodes.some(({ id }) => id !== HERE) ? [OTHER_NODES] : [],
  };
}
