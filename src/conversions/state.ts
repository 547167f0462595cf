/** Folds the whole log up to a moment, and writes the state of all accounts then as one JSON document. */
import type { Database } from 'better-sqlite3';
import { type AccountRow, accountQueries, accounts } from '../../projections/accounts.ts';
import { apiKeyQueries, apiKeys } from '../../projections/api-keys.ts';
import { conversionQueries, conversions } from '../../projections/conversions.ts';
import { ledger, ledgerQueries } from '../../projections/ledger.ts';
import { people, peopleQueries } from '../../projections/people.ts';
import { memberRecord, namedKeyRecord } from '../accounts/members.ts';
import { accountRecord, conversionRecord, ledgerRecord, type Opener } from '../accounts/records.ts';
import { unlessErased, type Vault } from '../documents/keys/vault.ts';
import type { EventMetadata } from '../domain/event-metadata.ts';
import type { EventStore, RecordedEvent } from '../event-store/port.ts';
import { Fold } from '../read-model/fold.ts';
import type { Projection } from '../read-model/projection.ts';
import type { Page, Slice } from '../read-model/rows.ts';
import type { Moment } from './moment.ts';

const PAGE = 500;

type AllEvents = Pick<EventStore, 'readAll' | 'head'>;

/** Opens texts, and leaves out those that nobody can read any more because their account was erased since. */
export const openerUnlessErased = (vault: Pick<Vault, 'unseal'>): Opener<string | undefined> => ({
  unseal: (accountId, sealed) => unlessErased(vault.unseal(accountId, sealed)),
});

/**
 * Tells, for events in log order, which of them belong to the time (milliseconds since the Unix epoch). Clocks differ:
 * an account's first event that is later than the time ends it for that account, as in its history.
 */
function belongsTo(until: number): (event: RecordedEvent) => boolean {
  const ended = new Set<string>();
  return ({ data, metadata }) => {
    const { accountId = '' } = data as { readonly accountId?: string };
    if (ended.has(accountId)) return false;
    if ((metadata as EventMetadata).time <= until) return true;
    if (accountId !== '') ended.add(accountId);
    return false;
  };
}

/** Hands what was folded to `use`, and deletes it afterwards. */
export async function withFoldedLog<T>(
  store: AllEvents,
  projections: readonly Projection[],
  moment: Moment,
  use: (fold: Fold) => Promise<T>,
  onProgress: (events: number) => unknown = () => {},
): Promise<T> {
  const fold = Fold.temporary(projections, 'disk');
  try {
    const onRead = (_: bigint, events: number): unknown => onProgress(events);
    await fold.readOn(
      store,
      'position' in moment
        ? { upTo: moment.position, onProgress: onRead }
        : { upTo: await store.head(), belongs: belongsTo(moment.time), onProgress: onRead },
    );
    return await use(fold);
  } finally {
    fold.close();
  }
}

/** All rows of a list that is read by pages. */
export function* everyRow<Row>(page: (page: Slice) => readonly Row[]): Generator<Row> {
  for (let offset = 0; ; offset += PAGE) {
    const rows = page({ offset, limit: PAGE });
    yield* rows;
    if (rows.length < PAGE) return;
  }
}

async function* list<Row>(
  name: string,
  rows: Iterable<Row>,
  record: (row: Row) => object | Promise<object>,
): AsyncGenerator<string> {
  let separator = `, ${JSON.stringify(name)}: [\n`;
  for (const row of rows) {
    yield separator + JSON.stringify(await record(row));
    separator = ',\n';
  }
  yield separator === ',\n' ? ']' : `, ${JSON.stringify(name)}: []`;
}

async function* accountDocument(
  fold: Fold,
  vault: Pick<Vault, 'unseal'>,
  account: AccountRow,
): AsyncGenerator<string> {
  const opener = openerUnlessErased(vault);
  const { id } = account;
  const query = <Q>(factory: (db: Database) => Q) => fold.query(factory);
  const [keys, all, entries] = [
    query(apiKeyQueries),
    query(conversionQueries),
    query(ledgerQueries),
  ];
  yield JSON.stringify(await accountRecord(opener, account)).slice(0, -1);
  const rowsOf = <Row>(queries: { page(accountId: string, page: Slice): Page<Row> }) =>
    everyRow((page) => queries.page(id, page).rows);
  const deps = { readModel: fold, vault };
  yield* list('members', query(peopleQueries).all(id), (row) => memberRecord(deps, row, true));
  yield* list('api_keys', rowsOf(keys), (row) => namedKeyRecord(deps, row, opener));
  yield* list('conversions', rowsOf(all), (row) => conversionRecord(opener, row, 'listed'));
  yield* list('ledger', rowsOf(entries), (row) => ledgerRecord(row));
  yield '}';
}

export const STATE_PROJECTIONS = [accounts, people, apiKeys, conversions, ledger];

/** The document in pieces. It is made as it is read, so that it may be larger than the memory. */
export async function* stateDocument(
  fold: Fold,
  vault: Pick<Vault, 'unseal'>,
  asOf: string,
): AsyncGenerator<string> {
  yield `{"as_of": ${JSON.stringify(asOf)}, "accounts": [`;
  let separator = '\n';
  for (const account of everyRow((page) => fold.query(accountQueries).all(page))) {
    yield separator;
    yield* accountDocument(fold, vault, account);
    separator = ',\n';
  }
  yield '\n]}\n';
}
