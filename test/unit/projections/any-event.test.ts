/** An event that cannot be projected stops every node for good: none that can be written may be such. */
import fc from 'fast-check';
import { test } from 'tap';
import type { EventOf } from '../../../src/domain/events.ts';
import { encodeEvent } from '../../../src/event-store/codec.ts';
import type { RecordedEvent } from '../../../src/event-store/port.ts';
import { nastyText } from '../../support/arbitraries.ts';
import { openProjected } from '../../support/projected.ts';
import {
  accountId,
  blobRef,
  conversionId,
  NOW,
  OPTIONS,
  PDF,
  REQUEST_HMAC,
  TIMINGS,
  sha256,
} from '../../support/samples.ts';

/** A life, in an order that deciders may give it, with the outcomes that exclude each other apart. */
const LIVES = [
  ['ConversionRequested', 'ConversionStarted', 'ConversionCompleted', 'ConversionExpired'],
  ['ConversionRequested', 'ConversionCompleted', 'ConversionDeleted', 'ConversionExpired'],
  ['ConversionRequested', 'ConversionStarted', 'ConversionFailed', 'ConversionOutcomeIgnored'],
  ['ConversionRequested', 'ConversionStarted', 'ConversionRequeued', 'ConversionFailed'],
  ['ConversionRequested', 'ConversionStarted', 'SignatureMade', 'ConversionCompleted'],
] as const;

type LifeEvent = EventOf<(typeof LIVES)[number][number]>;

/** Where numbers stop being what they look like, to some part of the way into the read model. */
const NUMBERS = [
  -1,
  0,
  0.5,
  1,
  2 ** 31,
  2 ** 32,
  8.64e15,
  8.64e15 + 2,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 63,
  2 ** 64,
  1e21,
  1e300,
  1.7976931348623157e308,
] as const;
const METADATA = {
  correlationId: 'c',
  causationId: 'c',
  actor: { kind: 'service' },
  time: NOW,
} as const;

type Change = readonly [pick: number, number: number | null, text: string | null];

/** The value with one of its numbers and one of its texts changed, wherever they are. */
function changed(value: object, [pick, number, text]: Change): object {
  const copy = structuredClone(value);
  for (const [type, put] of [
    ['number', number],
    ['string', text],
  ] as const) {
    if (put === null) continue;
    const places: (() => void)[] = [];
    const look = (within: object): void => {
      for (const [name, each] of Object.entries(within)) {
        if (typeof each === type) places.push(() => void Object.assign(within, { [name]: put }));
        else if (typeof each === 'object' && each !== null) look(each as object);
      }
    };
    look(copy);
    places[pick % Math.max(places.length, 1)]?.();
  }
  return copy;
}

const about = { accountId: accountId(), conversionId: conversionId() };
const tried = { ...about, renderer: 'r', attempt: 1 };
const SAMPLES: { readonly [T in LifeEvent['type']]: EventOf<T>['data'] } = {
  ConversionRequested: {
    ...about,
    source: 'html',
    request: blobRef('request'),
    requestHmac: REQUEST_HMAC,
    options: OPTIONS,
    requestedAt: NOW,
  },
  ConversionStarted: { ...tried, delivery: 'd', startedAt: NOW },
  ConversionRequeued: { ...tried, requeuedAt: NOW },
  SignatureMade: {
    ...about,
    attempt: 1,
    delivery: 'd',
    digest: sha256(),
    level: 'B-B',
    certificate: sha256(),
    madeAt: NOW,
  },
  ConversionCompleted: {
    ...tried,
    document: blobRef('document'),
    pdf: PDF,
    pages: 1,
    timings: TIMINGS,
    chrome: 'Chrome/156.0',
    manifest: blobRef('manifest'),
    completedAt: NOW,
  },
  ConversionFailed: { ...tried, code: 'timeout', message: 'sealed', failedAt: NOW },
  ConversionOutcomeIgnored: { ...tried, outcome: 'failed' },
  ConversionDeleted: { ...about, deletedAt: NOW },
  ConversionExpired: { ...about, expiredAt: NOW },
};

/** An event's data with a number or a text or both that are anything: what is too much the codec finds. */
const dataOf = (type: LifeEvent['type']): fc.Arbitrary<object> =>
  fc
    .tuple(fc.nat(999), fc.option(fc.constantFrom(...NUMBERS)), fc.option(nastyText))
    .map((change) => changed(SAMPLES[type], change));

void test('whatever of a conversion may be written, every projection takes', async (t) => {
  const { readModel } = openProjected(t);
  let position = 0n;
  let lives = 0;
  let written = 0;
  let refused = 0;

  /** Nothing where the codec refuses it, as it then does before an append. */
  function recorded(type: LifeEvent['type'], data: object): RecordedEvent | undefined {
    const event = { type, data: { ...data, conversionId: conversionId(lives) } } as LifeEvent;
    try {
      // As it comes back from a store.
      const encoded = encodeEvent(`e${position}`, event, METADATA);
      const stored = JSON.parse(JSON.stringify(encoded)) as typeof encoded;
      position += 1n;
      return { ...stored, stream: `conversion-${lives}`, revision: 0, position };
    } catch {
      refused += 1;
      return undefined;
    }
  }

  const life = fc
    .constantFrom(...LIVES)
    .chain((types) =>
      fc.tuple(...types.map((type) => dataOf(type).map((data) => [type, data] as const))),
    );
  fc.assert(
    fc.property(life, (events) => {
      lives += 1;
      // What a run that failed would have applied is not there.
      const after = readModel.writer().checkpoint();
      position = after;
      const batch = events.flatMap(([type, data]) => recorded(type, data) ?? []);
      written += batch.length;
      if (readModel.writer().apply(after, batch) !== 'applied') throw new Error('not applied');
    }),
    { numRuns: 500 },
  );
  t.ok(written > 500 && refused > 100, `${written} written, ${refused} refused`);
});
