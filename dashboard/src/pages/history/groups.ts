/** Events as people look at them: the steps of one conversion or batch are one line, and machines' steps are left out. */
import type { components } from '../../api/schema.d.ts';
import { counted } from '../../ui/format.ts';
import { typeText } from './words.ts';
import { t } from '../../words/words.ts';

type ConversionEvent = components['schemas']['HistoryEntry'];
type Type = ConversionEvent['type'];

export interface EventGroup {
  readonly key: string;
  /** Newest first, without those that are hidden. */
  readonly entries: readonly [ConversionEvent, ...ConversionEvent[]];
}

export interface Grouped {
  readonly items: readonly EventGroup[];
  /** Events that are left out. */
  readonly hidden: number;
}

/** Automatic steps and of their accounts: they say nothing of what anybody did. */
const OF_MACHINES: ReadonlySet<Type> = new Set([
  'CreditDebited',
  'ConversionStarted',
  'ConversionRequeued',
  'ConversionOutcomeIgnored',
  'KeyUsed',
]);

export const isOfMachines = ({ type }: ConversionEvent): boolean => OF_MACHINES.has(type);

/** The conversion or batch that an event is about. */
export function subjectOf({ data }: ConversionEvent): string | undefined {
  const id = data['conversionId'] ?? data['batchId'];
  return typeof id === 'string' ? id : undefined;
}

/** Lists of an account begin with the newest event, those of a batch with the oldest. */
function newestFirst(entries: EventGroup['entries']): EventGroup['entries'] {
  const [first] = entries;
  const last = entries.at(-1) ?? first;
  return BigInt(first.position) >= BigInt(last.position)
    ? entries
    : [last, ...entries.slice(0, -1).toReversed()];
}

/**
 * Groups a page of events, in which each group has the place of its first event. What is about no conversion
 * or batch is grouped with its neighbour of the same type.
 */
export function groupsOf(events: readonly ConversionEvent[], showsAll: boolean): Grouped {
  const shown = showsAll ? events : events.filter((each) => !isOfMachines(each));
  const groups = new Map<string, [ConversionEvent, ...ConversionEvent[]]>();
  let last: { readonly key: string; readonly type: Type } | undefined;
  for (const event of shown) {
    const subject = subjectOf(event);
    const isAlike = subject === undefined && last?.type === event.type;
    const key = subject ?? (isAlike && last ? last.key : event.id);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [event]);
    else group.push(event);
    last = subject === undefined ? { key, type: event.type } : undefined;
  }
  return {
    items: [...groups].map(([key, entries]) => ({ key, entries: newestFirst(entries) })),
    hidden: events.length - shown.length,
  };
}

/** What happened to a conversion, in one word. Of a delivery its outcome says that. */
const DONE: Partial<Record<Type, string>> = {
  ConversionRequested: t('requested'),
  ConversionStarted: t('begun'),
  SignatureMade: t('signed'),
  ConversionCompleted: t('made'),
  ConversionFailed: t('failed'),
  CreditDebited: t('paid'),
  CreditRefunded: t('refunded'),
  DocumentDownloaded: t('downloaded'),
  LinkCreated: t('shared'),
  LinkRevoked: t('link revoked'),
  ConversionDeleted: t('taken back'),
  ConversionExpired: t('deleted'),
  BatchRequested: t('requested'),
  BatchCancelled: t('cancelled'),
  BatchEnded: t('ended'),
};

function doneText({ type, data }: ConversionEvent): string {
  if (type === 'ConversionFailed' && data['code'] === 'cancelled') return t('cancelled');
  if (type === 'DeliveryAttempted') {
    return data['outcome'] === 'delivered' ? t('delivered') : t('not delivered');
  }
  return DONE[type] ?? typeText(type).toLowerCase();
}

/** Requested, made, downloaded 2 times: in the order of what happened. */
export function wayOf({ entries }: EventGroup): string {
  const counts = new Map<string, number>();
  for (const each of entries.toReversed()) {
    const done = doneText(each);
    counts.set(done, (counts.get(done) ?? 0) + 1);
  }
  const text = [...counts]
    .map(([done, count]) => (count === 1 ? done : `${done} ${counted(count, 'time')}`))
    .join(', ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** By kind of event; the first that fits. */
const LOOKS = [
  [/^ConversionFailed$/, 'cross', 'danger'],
  [/Refused$|LeftOut$|Suspended$|WebhookDisabled|MailFailed/, 'warning', 'danger'],
  [/^Conversion(Deleted|Expired)$/, 'trash', 'warning'],
  [/^ConversionCompleted$/, 'check', 'ok'],
  [/^DocumentDownloaded$/, 'download', 'accent'],
  [/^Link/, 'send', 'accent'],
  [/^Conversion/, 'document', 'neutral'],
  [/^(Credit|Plan)/, 'chart', 'neutral'],
  [/^Batch/, 'stack', 'neutral'],
  [/^Key/, 'key', 'accent'],
  [/^(Webhook|Deliver|Redeliver|Mail)/, 'send', 'neutral'],
  [/^(Member|Invitation)/, 'people', 'accent'],
  [/^(Session|SignIn|Password|Person|Email)/, 'person', 'neutral'],
  [/^(Account|Hold|Operator|Retention|PublicName|Signature)/, 'shield', 'accent'],
  [/^/, 'history', 'neutral'],
] as const;

type Look = (typeof LOOKS)[number];

export function lookOf({ type, data }: ConversionEvent): {
  readonly icon: Look[1];
  readonly tone: Look[2];
} {
  if (data['code'] === 'cancelled') return { icon: 'cross', tone: 'neutral' };
  if (data['outcome'] === 'failed') return { icon: 'send', tone: 'danger' };
  const [, icon, tone] = LOOKS.find(([pattern]) => pattern.test(type)) ?? LOOKS[0];
  return { icon, tone };
}

/** Those that say how a conversion stands, the weightiest first. */
const WEIGHTY: readonly Type[] = [
  'ConversionFailed',
  'ConversionExpired',
  'ConversionDeleted',
  'ConversionCompleted',
  'BatchEnded',
];

/** The event of a group that its icon and its person are of. */
export function leadOf({ entries }: EventGroup): {
  readonly shown: ConversionEvent;
  readonly by: ConversionEvent;
} {
  const weighty = WEIGHTY.map((type) => entries.find((each) => each.type === type));
  const people = entries.toReversed().find(({ actor: { kind } }) => !IS_MACHINE.has(kind));
  return {
    shown: weighty.find((each) => each !== undefined) ?? entries[0],
    by: people ?? entries[0],
  };
}

const IS_MACHINE: ReadonlySet<ConversionEvent['actor']['kind']> = new Set(['renderer', 'service']);
