/** Reads from the log what happened to an account and its conversions. */
import { apiKeyQueries } from '../../projections/api-keys.ts';
import { type EventPlace, type HistoryFilter, historyQueries } from '../../projections/history.ts';
import { personName } from '../accounts/logins.ts';
import { namesOf } from '../accounts/conversion-names.ts';
import { unlessErased, type Vault } from '../documents/keys/vault.ts';
import type { Actor, EventMetadata } from '../domain/event-metadata.ts';
import { summaryOf } from '../domain/event-summary.ts';
import { EVENT_SCHEMAS, type EventType } from '../domain/events.ts';
import { decodeEvent } from '../event-store/codec.ts';
import type { EventStore, RecordedEvent } from '../event-store/port.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import { isoTime } from '../time/clock.ts';

/** An event as its account and the operator read it. */
export interface HistoryEntry {
  readonly id: string;
  readonly type: string;
  /** One sentence. */
  readonly summary: string;
  /** ISO 8601. */
  readonly time: string;
  /** The place in the log: opaque but for its order among positions of the same store. */
  readonly position: string;
  readonly stream: string;
  readonly revision: number;
  /** With what the person who acted is called, and what tells their key from others. */
  readonly actor: Actor & ActorNames;
  readonly client_address?: string;
  readonly request_id?: string;
  /** Why an operator did it. */
  readonly reason?: string;
  readonly correlation_id: string;
  readonly causation_id: string;
  /** The name of the conversion that it is about, as lists have it. */
  readonly name?: string;
  /** The event's own fields, decrypted; without hashes of secrets, and without what was erased. */
  readonly data: Readonly<Record<string, unknown>>;
}

interface ActorNames {
  readonly name?: string;
  readonly key_name?: string;
  readonly key_prefix?: string;
}

export interface HistoryDependencies extends ReadDependencies {
  readonly streams: Pick<EventStore, 'readStream'>;
  readonly vault: Pick<Vault, 'unseal'>;
}

/** What of an account is for the eyes of who reads it. */
export interface Reader {
  /** What a receiver answered may repeat what it was sent, with a link to the PDF. */
  readonly mayReadDocuments: boolean;
  /**
   * A person who may not change endpoints: only this person's requests show the query of their webhook_url, which may hold a
   * secret, and no endpoint shows that of its address. Absent: all do.
   */
  readonly queriesOf?: string;
}

export const OPERATOR: Reader = { mayReadDocuments: true };

export const withoutQuery = (url: string): string => url.replace(/[?#].*$/su, '');

/** Nobody needs them to understand what happened, and they help to guess the secret. */
const HIDDEN: ReadonlySet<string> = new Set([
  'passwordHash',
  'keyHash',
  'tokenHash',
  'addressHash',
  'identity',
  'secret',
  'credential',
  'publicKey',
  'challenge',
  // A template: who may read it reads its version.
  'content',
]);

export interface HistoryPage {
  readonly order: 'newest first' | 'oldest first';
  readonly offset: number;
  readonly limit: number;
  /** The log's head as of which to answer; the present one unless given. */
  readonly asOf?: bigint | undefined;
}

/** @throws {ServiceError} `service_unavailable` where the read model does not catch up */
export async function readHistory(
  deps: HistoryDependencies,
  accountId: string,
  filter: HistoryFilter,
  { asOf, ...page }: HistoryPage,
  reader: Reader,
): Promise<{ readonly entries: readonly HistoryEntry[]; readonly total: number }> {
  const queries = await consistentQuery(deps, historyQueries, asOf);
  const { places, total } = queries.page(accountId, filter, page);
  const events = await readEvents(deps.streams, places);
  const names = await namesOf(erasable(deps), events.map(idOf));
  const persons = await personNames(deps, events);
  const keys = await keyNames(erasable(deps), events);
  const entries = events.map((event) =>
    entryOf(event, accountId, deps.vault, {
      conversion: names.get(idOf(event)),
      persons,
      key: keys.get(keyOf(event)),
    }),
  );
  const whole = await Promise.all(entries);
  return { entries: whole.map((entry) => entryFor(entry, reader)), total };
}

/** Leaves out what the reader may not see. */
function entryFor(entry: HistoryEntry, { mayReadDocuments, queriesOf }: Reader): HistoryEntry {
  const { answer, webhookUrl, url, ...data } = entry.data;
  // Who asks once more has not written the request.
  const isRepeat = (data['retryOf'] ?? data['rerenderOf']) !== undefined;
  const maker = 'person' in entry.actor && !isRepeat ? entry.actor.person : undefined;
  const seesQuery = queriesOf === undefined || queriesOf === maker;
  return {
    ...entry,
    data: {
      ...data,
      ...(answer !== undefined && mayReadDocuments && { answer }),
      ...(typeof webhookUrl === 'string' && {
        webhookUrl: seesQuery ? webhookUrl : withoutQuery(webhookUrl),
      }),
      // That of an endpoint.
      ...(typeof url === 'string' && { url: queriesOf === undefined ? url : withoutQuery(url) }),
    },
  };
}

/** The history of an erased account is still read. */
const erasable = ({ readModel, vault }: HistoryDependencies) => ({
  readModel,
  vault: {
    unseal: (accountId: string, sealed: string) => unlessErased(vault.unseal(accountId, sealed)),
  },
});

const idOf = ({ data }: RecordedEvent) => (data as { readonly conversionId?: string }).conversionId;

/** Sources that a sentence names. */
const MOST_SOURCES = 5;
/** Hex digits of a hash, by which people tell files apart. */
const SHOWN_DIGITS = 12;

/** Names the PDFs that a conversion is made from. Their names are sealed in the event: who reads its data may see them. */
function sourcesText({ sources }: HistoryEntry['data']): string {
  if (typeof sources !== 'string') return '';
  const all = JSON.parse(sources) as readonly { sha256: string; conversion?: string }[];
  const named = all.slice(0, MOST_SOURCES).map(({ sha256, conversion }) => {
    return conversion ?? `a file with the SHA-256 ${sha256.slice(0, SHOWN_DIGITS)}…`;
  });
  const more = all.length > named.length ? ` and ${all.length - named.length} more` : '';
  return ` Its ${all.length === 1 ? 'source is' : 'sources are'} ${named.join(', ')}${more}.`;
}

const placeName = ({ stream, revision }: EventPlace): string => `${revision} ${stream}`;

/** Events between two that are wanted: to read up to so many costs less than another read. */
const MAX_GAP = 4;

/** Events in the order of their places, with one read for each run of near ones in a stream. */
export async function readEvents(
  streams: Pick<EventStore, 'readStream'>,
  places: readonly EventPlace[],
): Promise<readonly RecordedEvent[]> {
  const runs: { stream: string; from: number; to: number }[] = [];
  const inOrder = places.toSorted(
    (a, b) => a.stream.localeCompare(b.stream) || a.revision - b.revision,
  );
  for (const { stream, revision } of inOrder) {
    const run = runs.at(-1);
    if (run?.stream === stream && revision - run.to <= MAX_GAP + 1) run.to = revision;
    else runs.push({ stream, from: revision, to: revision });
  }
  const read = await Promise.all(
    runs.map(({ stream, from, to }) => streams.readStream(stream, { from, limit: to - from + 1 })),
  );
  const found = new Map(read.flat().map((event) => [placeName(event), event]));
  return places.map((place) => {
    const event = found.get(placeName(place));
    if (event === undefined) {
      throw new Error(`The log lacks revision ${place.revision} of ${place.stream}.`);
    }
    return event;
  });
}

/** The member who acted, if the event names one: Ada Lovelace (owner). */
export function memberText({ name, ...actor }: HistoryEntry['actor']): string | undefined {
  if (name === undefined) return undefined;
  return 'role' in actor && actor.role !== undefined ? `${name} (${actor.role})` : name;
}

/** Names the party that caused an event as people know it: a key by its name and prefix, a session by its person. */
export function actorText(actor: HistoryEntry['actor']): string {
  const { kind, key_name: name, key_prefix: prefix } = actor;
  if (prefix !== undefined) return `key ${name === undefined ? '' : `"${name}" `}${prefix}…`;
  const isNamed = !('id' in actor) || actor.id === undefined || actor.name !== undefined;
  // A renderer that was given no name has one that begins with its kind.
  return isNamed ? kind : `${kind} ${actor.id.replace(/^renderer-/, '')}`;
}

/** The person who acted, and the one whom the event is about. An invitation is not yet a person. */
function personsOf({ type, data, metadata }: RecordedEvent) {
  const { actor } = metadata as EventMetadata;
  const { personId, kind } = data as { readonly personId?: string; readonly kind?: string };
  const isInvitation =
    type === 'MemberInvited' || type === 'InvitationRevoked' || kind === 'invitation';
  return {
    actor: 'person' in actor ? actor.person : undefined,
    subject: isInvitation ? undefined : personId,
  };
}

/** What the persons of the events are called, by their ids. */
async function personNames(
  deps: HistoryDependencies,
  events: readonly RecordedEvent[],
): Promise<ReadonlyMap<string | undefined, string>> {
  const persons = events.map(personsOf).flatMap(({ actor, subject }) => [actor, subject]);
  const ids = [...new Set(persons.filter((id) => id !== undefined))];
  const names = ids.map(async (id) => [id, await personName(deps, id)] as const);
  return new Map(await Promise.all(names));
}

function keyOf({ metadata }: RecordedEvent): string | undefined {
  const { actor } = metadata as EventMetadata;
  return actor.kind === 'key' ? actor.id : undefined;
}

/** What tells the keys that acted from others, by their ids. */
async function keyNames(
  { readModel, vault }: ReturnType<typeof erasable>,
  events: readonly RecordedEvent[],
): Promise<ReadonlyMap<string | undefined, ActorNames>> {
  const queries = readModel.query(apiKeyQueries);
  const rows = [...new Set(events.map(keyOf))].map((id) => id && queries.byId(id));
  const names = rows
    .filter((row) => row !== undefined && row !== '')
    .map(async (row) => {
      const name = await vault.unseal(row.accountId, row.name);
      return [row.id, { ...(name && { key_name: name }), key_prefix: row.prefix }] as const;
    });
  return new Map(await Promise.all(names));
}

const subjectText = (name: string | undefined): string =>
  name === undefined ? '' : ` The person: ${name}.`;

interface EntryNames {
  readonly conversion: string | undefined;
  readonly persons: ReadonlyMap<string | undefined, string>;
  readonly key: ActorNames | undefined;
}

async function entryOf(
  recorded: RecordedEvent,
  accountId: string,
  vault: Pick<Vault, 'unseal'>,
  { conversion: name, persons, key }: EntryNames,
): Promise<HistoryEntry> {
  const { actor: person, subject } = personsOf(recorded);
  const acted = persons.get(person);
  const event = decodeEvent(recorded);
  const { actor, client, requestId, reason, correlationId, causationId, time } =
    recorded.metadata as EventMetadata;
  const open = async (sealed: string | undefined): Promise<string | undefined> =>
    sealed && (await unlessErased(vault.unseal(accountId, sealed)));
  const data = await openedData(event.type, event.data, accountId, vault);
  const [clientAddress, openedRequestId] = [await open(client), await open(requestId)];
  const openedReason = await open(reason);
  return {
    id: recorded.id,
    type: event.type,
    summary: summaryOf(event) + sourcesText(data) + subjectText(persons.get(subject)),
    time: isoTime(time),
    position: String(recorded.position),
    stream: recorded.stream,
    revision: recorded.revision,
    actor: { ...actor, ...(acted !== undefined && { name: acted }), ...key },
    ...(clientAddress === undefined ? {} : { client_address: clientAddress }),
    ...(openedRequestId === undefined ? {} : { request_id: openedRequestId }),
    ...(openedReason === undefined ? {} : { reason: openedReason }),
    correlation_id: correlationId,
    causation_id: causationId,
    ...(name === undefined ? {} : { name }),
    data,
  };
}

async function openedData(
  type: EventType,
  data: object,
  accountId: string,
  vault: Pick<Vault, 'unseal'>,
): Promise<Readonly<Record<string, unknown>>> {
  const properties: Readonly<Record<string, object>> = EVENT_SCHEMAS[type].properties;
  const fields = Object.entries(data)
    .filter(([name]) => !HIDDEN.has(name))
    .map(async ([name, value]: [string, unknown]): Promise<[string, unknown]> => {
      if (!('isSealed' in (properties[name] ?? {})) || typeof value !== 'string')
        return [name, value];
      return [name, await unlessErased(vault.unseal(accountId, value))];
    });
  return Object.fromEntries((await Promise.all(fields)).filter(([, value]) => value !== undefined));
}
