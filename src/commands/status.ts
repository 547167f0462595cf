import type { ServiceStatus } from '../use-cases/service-status.ts';
import type { Command } from './command.ts';
import { statusLines, wrapped } from './status-screen.ts';

const time = (ms: number): string => new Date(ms).toISOString();
const timeOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : time(ms));
const seconds = (ms: number): number => Math.round(ms / 100) / 10;

function statusJson({
  log,
  api,
  isLed,
  slots,
  queue,
  recent,
  backups,
  at,
  notKnown,
}: ServiceStatus): object {
  const { readModel } = log;
  return {
    time: time(at),
    log: {
      position: log.position.toString(),
      lag_events: readModel?.lagEvents ?? null,
      lag_seconds: readModel === undefined ? null : seconds(readModel.lagMs),
    },
    api: {
      address: api.address,
      ready: api.missing === undefined ? null : api.missing === '',
      missing: api.missing || null,
    },
    led: isLed ?? null,
    slots: { ...slots, busy: slots.busy ?? null },
    queue:
      queue?.map(({ accountId, waiting, rendering, oldestAt }) => ({
        account: accountId,
        waiting,
        rendering,
        oldest: time(oldestAt),
      })) ?? null,
    window_seconds: seconds(recent.windowMs),
    per_minute: recent.perMinute,
    failures: recent.failures,
    renderers: recent.renderers.map(({ lastSeen, ...each }) => ({
      ...each,
      last_report: time(lastSeen),
    })),
    backups: {
      keyring_copied_at: timeOrNull(backups.keyringCopiedAt),
      verified_backup_of: timeOrNull(backups.verifiedBackupOf),
    },
    not_known: notKnown,
  };
}

export const status: Command = {
  name: 'status',
  usage: '',
  summary: 'Show nodes, slots, queue, rates, failures and lag, as they are now.',
  examples: ['status', 'status --json'],
  positionals: {},
  options: {},
  run: async (_, { withStatus, output }) => {
    await withStatus(async (look) => {
      const found = await look();
      output.json(statusJson(found));
      for (const line of wrapped(statusLines(found))) output.line(line);
    });
  },
};
