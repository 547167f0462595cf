/** How the pages group events. */
import { test } from 'tap';
import type { components } from '../../../dashboard/src/api/schema.d.ts';
import { groupsOf, leadOf, lookOf, wayOf } from '../../../dashboard/src/pages/history/groups.ts';

type ConversionEvent = components['schemas']['HistoryEntry'];

const KEY = { kind: 'key', id: 'key_1', name: 'Ada' } as const;
let count = 0;

/** An event; each is newer than the one before. */
function event(
  type: ConversionEvent['type'],
  data: ConversionEvent['data'] = {},
  actor: ConversionEvent['actor'] = KEY,
): ConversionEvent {
  count += 1;
  return {
    id: `event-${count}`,
    type,
    summary: type,
    time: new Date(count * 1000).toISOString(),
    position: String(count),
    stream: 'a',
    revision: count,
    actor,
    correlation_id: 'a',
    causation_id: 'a',
    data,
  };
}

const renderer = { kind: 'renderer', id: 'renderer-1' } as const;
const service = { kind: 'service' } as const;
const ofOne = { conversionId: 'conv_1' };
const ofTwo = { conversionId: 'conv_2' };

/** Two conversions whose events lie between each other, oldest first. */
const two = () => [
  event('KeyUsed'),
  event('CreditDebited', ofOne),
  event('ConversionRequested', ofOne),
  event('CreditDebited', ofTwo),
  event('ConversionRequested', ofTwo),
  event('ConversionStarted', ofOne, renderer),
  event('ConversionCompleted', ofOne, renderer),
  event('DeliveryAttempted', { ...ofOne, outcome: 'delivered' }, service),
  event('ConversionFailed', { ...ofTwo, code: 'timeout' }, renderer),
  event('CreditRefunded', ofTwo, service),
  event('DocumentDownloaded', ofOne),
  event('DocumentDownloaded', ofOne),
];

void test('the steps of a conversion are one line, in either order of the list', async (t) => {
  const events = two();
  for (const list of [events, events.toReversed()]) {
    const { items, hidden } = groupsOf(list, false);
    t.equal(hidden, 4, 'what machines did is left out, and counted');
    const ways = Object.fromEntries(items.map((group) => [group.key, wayOf(group)]));
    t.strictSame(ways, {
      conv_1: 'Requested, made, delivered, downloaded 2 times',
      conv_2: 'Requested, failed, refunded',
    });
  }
  const [newest] = groupsOf(events.toReversed(), false).items;
  t.equal(newest?.key, 'conv_1', 'the newest event decides where its group is');
  t.equal(newest?.entries[0].type, 'DocumentDownloaded');
});

void test('with the steps of machines no event is missing', async (t) => {
  const { items, hidden } = groupsOf(two().toReversed(), true);
  t.equal(hidden, 0);
  t.equal(items.flatMap(({ entries }) => entries).length, 12);
  t.match(items.map(wayOf).join(), /Paid, requested, begun, made/);
});

void test('a group shows how it stands, and who began it', async (t) => {
  const [done, failed] = groupsOf(two().toReversed(), false).items.map(leadOf);
  t.equal(done?.shown.type, 'ConversionCompleted');
  t.equal(failed?.shown.type, 'ConversionFailed');
  for (const lead of [done, failed]) t.same(lead?.by.actor, KEY, 'a person, and no renderer');
  t.match(lookOf(event('ConversionFailed', { code: 'timeout' })), { tone: 'danger' });
  t.match(lookOf(event('ConversionFailed', { code: 'cancelled' })), { tone: 'neutral' });
  const [cancelled] = groupsOf([event('ConversionFailed', { code: 'cancelled' })], false).items;
  t.equal(cancelled && wayOf(cancelled), 'Cancelled');
});

void test('neighbours of one type are one line, others are not', async (t) => {
  const list = [
    event('SessionOpened'),
    event('SessionOpened'),
    event('KeyCreated'),
    event('SessionOpened'),
    event('ConversionExpired', ofOne, service),
    event('SessionOpened'),
  ].toReversed();
  const sizes = groupsOf(list, false).items.map(({ entries }) => entries.length);
  t.strictSame(sizes, [1, 1, 1, 1, 2]);
  t.strictSame(groupsOf([], false), { items: [], hidden: 0 });
});
