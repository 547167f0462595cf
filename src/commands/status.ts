/** `status`, and a service's status as lines for people, as `top` shows them too. */
import { isoDate } from '../domain/iso-date.ts';
import type { ServiceStatus } from '../observe/service-status.ts';
import { plainText } from '../text/plain-text.ts';
import { type Run } from './command.ts';
import { counted } from '../domain/counted.ts';

const MINUTE_MS = 60_000;
const SHOWN_ACCOUNTS = 8;
const SHOWN_RENDERERS = 5;
const SHOWN_FAILURES = 5;

/** `12 s`, `3 min`, `2 h`, `4 days`. */
function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 72 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

const listed = (lines: readonly string[], most: number): readonly string[] =>
  lines.length <= most ? lines : [...lines.slice(0, most), `  and ${lines.length - most} more`];

function nodes({ api, isLed, slots }: ServiceStatus): readonly string[] {
  const state = api.missing === '' ? 'ready' : (api.missing ?? 'none answers');
  const led = isLed === undefined ? 'not known' : isLed ? 'yes' : 'NO: nothing is rendered';
  const { total, busy, nodes: count } = slots;
  const renderers = `${counted(count, 'node')}, ${counted(total, 'slot')}`;
  const used = busy === undefined ? '' : `: ${busy} busy, ${Math.max(0, total - busy)} free`;
  return [
    `API node    ${api.address}  ${state}`,
    `Leader      ${led}`,
    `Renderers   ${isLed === undefined ? 'not known' : renderers + used}`,
  ];
}

function queueLines({ queue, at }: ServiceStatus): readonly string[] {
  if (queue === undefined) return ['Queue       ?'];
  const sum = (of: 'waiting' | 'rendering'): number =>
    queue.reduce((total, each) => total + each[of], 0);
  const oldest = Math.min(...queue.map(({ oldestAt }) => oldestAt));
  const age = queue.length === 0 ? '' : `, the oldest for ${duration(at - oldest)}`;
  const lines = queue.map(
    (each) =>
      `  ${each.accountId}  ${each.waiting} waiting, ${each.rendering} rendering, oldest ${duration(at - each.oldestAt)}`,
  );
  return [
    `Queue       ${sum('waiting')} waiting, ${sum('rendering')} rendering${age}`,
    ...listed(lines, SHOWN_ACCOUNTS),
  ];
}

function recentLines({ recent, at }: ServiceStatus): readonly string[] {
  const { requested, completed, failed, requeued } = recent.perMinute;
  const minutes = Math.round((recent.windowMs / MINUTE_MS) * 10) / 10;
  const failures = recent.failures.map(({ code, count }) => `  ${code}  ${count}`);
  const renderers = recent.renderers.map(
    (each) =>
      `  ${each.name}  ${each.completed} completed, ${each.failed} failed, last report ${duration(at - each.lastSeen)} ago`,
  );
  return [
    `Per minute  ${requested} requested, ${completed} completed, ${failed} failed, ${requeued} requeued (of ${minutes} min)`,
    failures.length === 0 ? 'Failures    none' : 'Failures',
    ...listed(failures, SHOWN_FAILURES),
    renderers.length === 0 ? 'Reports     none' : 'Reports',
    ...listed(renderers, SHOWN_RENDERERS),
  ];
}

function backupLine({ backups, at }: ServiceStatus): string {
  const age = (of: number | undefined): string =>
    of === undefined ? 'none known here' : `${duration(at - of)} old`;
  const { keyringCopiedAt: keyring, verifiedBackupOf: verified } = backups;
  return `Backups     last copy of the keyring ${age(keyring)}, last verified backup ${age(verified)}`;
}

function mailLines({ mail, at }: ServiceStatus): readonly string[] {
  if (mail === undefined) return [];
  const { waiting, oldestAt, failed, lastSentAt } = mail;
  const oldest = oldestAt === undefined ? '' : `, the oldest for ${duration(at - oldestAt)}`;
  const last =
    lastSentAt === undefined ? 'none sent yet' : `last sent ${duration(at - lastSentAt)} ago`;
  return [`Mail        ${waiting} waiting${oldest}, ${last}, ${failed} not sent in all`];
}

/** @returns the lines, the most important first */
export function statusLines(status: ServiceStatus): readonly string[] {
  const { position, readModel } = status.log;
  const lag =
    readModel === undefined
      ? '?'
      : `${counted(readModel.lagEvents, 'event')}, ${duration(readModel.lagMs)}`;
  return [
    ...nodes(status),
    `Log         position ${position}, read models behind by ${lag}`,
    ...queueLines(status),
    ...recentLines(status),
    backupLine(status),
    ...mailLines(status),
    ...(status.limitsOff === '' ? [] : [`Limits      ${status.limitsOff}`]),
    ...status.notKnown.map((line) => `Not known   ${line}`),
  ].map(plainText);
}

/** The names of lines are as wide. */
const INDENT = ' '.repeat(12);

/** Breaks lines at spaces for a terminal; the rest of one stands below its text, beside its name. */
export function wrapped(lines: readonly string[]): readonly string[] {
  if (!process.stdout.isTTY) return lines;
  // Some terminals say that they have no size.
  const columns = Math.max(process.stdout.columns || 80, INDENT.length + 1);
  return lines.flatMap((line) => brokenAt(columns, line));
}

function brokenAt(columns: number, line: string): string[] {
  const characters = Array.from(line);
  if (characters.length <= columns) return [line];
  const space = characters.lastIndexOf(' ', columns);
  const end = space > INDENT.length ? space : columns;
  const rest = INDENT + characters.slice(end).join('').trimStart();
  return [characters.slice(0, end).join(''), ...brokenAt(columns, rest)];
}

const timeOrNull = (ms: number | undefined): string | null =>
  ms === undefined ? null : isoDate(ms);
const seconds = (ms: number): number => Math.round(ms / 100) / 10;

function statusJson({
  log,
  api,
  isLed,
  slots,
  queue,
  recent,
  mail,
  backups,
  limitsOff,
  at,
  notKnown,
}: ServiceStatus): object {
  const { readModel } = log;
  return {
    time: isoDate(at),
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
        oldest: isoDate(oldestAt),
      })) ?? null,
    window_seconds: seconds(recent.windowMs),
    per_minute: recent.perMinute,
    failures: recent.failures,
    renderers: recent.renderers.map(({ lastSeen, ...each }) => ({
      ...each,
      last_report: isoDate(lastSeen),
    })),
    backups: {
      keyring_copied_at: timeOrNull(backups.keyringCopiedAt),
      verified_backup_of: timeOrNull(backups.verifiedBackupOf),
    },
    mail: mail
      ? {
          waiting: mail.waiting,
          oldest_at: timeOrNull(mail.oldestAt),
          last_sent_at: timeOrNull(mail.lastSentAt),
          failed: mail.failed,
          last_failed_at: timeOrNull(mail.lastFailedAt),
        }
      : null,
    limits_off: limitsOff || null,
    not_known: notKnown,
  };
}

export const status: Run = async (_, { open, output }) => {
  await open.withStatus(async (look) => {
    const found = await look();
    output.json(statusJson(found));
    for (const line of wrapped(statusLines(found))) output.line(line);
  });
};
