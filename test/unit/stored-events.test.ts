/** Events as releases have stored them: each later release reads every one. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import type { EventMetadata } from '../../src/domain/event-metadata.ts';
import { summaryOf } from '../../src/domain/event-summary.ts';
import { EVENT_TYPES, SCHEMA_VERSION, UPCASTERS } from '../../src/domain/events.ts';
import {
  createDecoder,
  decodeEvent,
  encodeEvent,
  type Upcasters,
} from '../../src/event-store/codec.ts';
import type { RecordedEvent } from '../../src/event-store/port.ts';
import { openProjected } from '../support/projected.ts';

const ROOT = join(import.meta.dirname, '../samples/events');

interface Sample {
  /** Its path below the samples' directory: `v1/PlanChanged.json`. */
  readonly file: string;
  readonly sha256: string;
  readonly event: Omit<RecordedEvent, 'position'> & { readonly metadata: EventMetadata };
}

const samples = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.json'))
  .map((file): Sample => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const sha256 = createHash('sha256').update(text).digest('hex');
    return { file, sha256, event: JSON.parse(text) as Sample['event'] };
  })
  .toSorted((a, b) => a.event.metadata.time - b.event.metadata.time);

const recorded = ({ event }: Sample, at = 0): RecordedEvent => ({
  ...event,
  position: BigInt(at + 1),
});

/** The files that lack: one of each type, and one before and one after each change of its form. */
function lacking(types: readonly string[], version: number, upcasters: Upcasters): string[] {
  return types.flatMap((type) => {
    const versions = new Set(
      samples.flatMap(({ event }) => (event.type === type ? event.metadata.schemaVersion : [])),
    );
    const changes = Object.keys(upcasters[type] ?? {}).map(Number);
    const needed = changes.flatMap((change) => [change, change + 1]);
    const lacked = needed.length > 0 ? needed.filter((each) => !versions.has(each)) : [];
    if (versions.size === 0 && needed.length === 0) lacked.push(version);
    return [...new Set(lacked)].map((each) => `v${each}/${type}.json`);
  });
}

void test('there is a sample of every event, in every form that it has had', (t) => {
  for (const file of lacking(EVENT_TYPES, SCHEMA_VERSION, UPCASTERS)) {
    t.fail(
      `test/samples/events/${file} is missing: add an event as a store holds it, an object of ` +
        'id, stream, revision, type, data and metadata, with all its optional fields',
    );
  }
  for (const { file, event } of samples) {
    const [folder = '', name = ''] = file.split('/');
    t.equal(folder, `v${event.metadata.schemaVersion}`, file);
    t.match(name, new RegExp(`^${event.type}(-[a-z-]+)?\\.json$`), file);
  }
  const step = { 1: (data: object) => data };
  t.strictSame(lacking(['PlanChanged', 'New'], 2, { PlanChanged: step }), [
    'v2/PlanChanged.json',
    'v2/New.json',
  ]);
  t.end();
});

void test('no stored sample was changed or removed', (t) => {
  const lines = readFileSync(join(ROOT, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
  const sums = new Map(lines.map((line) => [line.slice(66), line.slice(0, 64)]));
  for (const { file, sha256 } of samples) {
    const sum = sums.get(file);
    if (sum === undefined) {
      t.fail(`add this line to test/samples/events/SHA256SUMS: ${sha256}  ${file}`);
    } else {
      t.equal(
        sha256,
        sum,
        `test/samples/events/${file} was changed: logs hold it as it was, so put it back`,
      );
    }
  }
  for (const file of sums.keys()) t.ok(existsSync(join(ROOT, file)), `${file} was removed`);
  t.end();
});

void test('each is read as an event that could be written today', (t) => {
  for (const sample of samples) {
    const { id, metadata } = sample.event;
    const event = decodeEvent(recorded(sample));
    const { data } = encodeEvent(id, event, metadata);
    t.strictSame(decodeEvent({ ...recorded(sample), data }).data, event.data, sample.file);
    t.match(summaryOf(event), /^\S.*\.$/, sample.file);
  }
  t.end();
});

void test('every projection takes each', (t) => {
  const { readModel } = openProjected(t);
  const events = samples.map(recorded);
  t.equal(readModel.writer().apply(0n, events), 'applied');
  t.equal(readModel.reached(), BigInt(samples.length));
  t.end();
});

void test('a later release that changes the form of an event still reads each', (t) => {
  const decode = createDecoder(SCHEMA_VERSION + 1, {
    ...UPCASTERS,
    PlanChanged: {
      ...UPCASTERS.PlanChanged,
      [SCHEMA_VERSION]: ({ plan, ...data }: { plan?: string }) => ({ ...data, to: { plan } }),
    },
  });
  for (const sample of samples) {
    const today = decodeEvent(recorded(sample));
    const { plan, ...rest } = today.data as { plan?: string };
    const isLifted = today.type === 'PlanChanged';
    const expected = isLifted ? { ...rest, to: { plan } } : today.data;
    t.strictSame(decode(recorded(sample)).data, expected, sample.file);
  }
  t.end();
});
