/** The statement of an account for one month: what it holds, read from the read models, which the log is behind. */
import { accountQueries } from '../../projections/accounts.ts';
import { apiKeyQueries } from '../../projections/api-keys.ts';
import { historyQueries } from '../../projections/history.ts';
import { ledgerQueries } from '../../projections/ledger.ts';
import { logTreeQueries } from '../../projections/log-tree.ts';
import { DAY_MS, usageQueries } from '../../projections/usage.ts';
import { personName } from '../accounts/logins.ts';
import type { Vault } from '../documents/keys/vault.ts';
import type { EventOf } from '../domain/events.ts';
import { founderOf } from '../domain/members.ts';
import { fieldError, ServiceError } from '../errors/errors.ts';
import { decodeEvent } from '../event-store/codec.ts';
import { checkpointCovering, type TransparencyLogDependencies } from '../log/transparency-log.ts';
import { consistentQuery } from '../read-model/consistent-query.ts';
import { isoTime } from '../time/clock.ts';
import { parseCheckpoint } from '../transparency-log/checkpoint.ts';
import { openNote } from '../transparency-log/signed-note.ts';
import { readEvents } from './history.ts';
import type { Statement } from './statement-page.ts';

interface Dependencies extends TransparencyLogDependencies {
  readonly vault: Pick<Vault, 'unseal'>;
}

const MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/;

/** The time of a month in UTC that is over. @throws {ServiceError} `validation_error` */
function timeOf(month: string, now: number): { readonly from: number; readonly to: number } {
  const [, year, number] = MONTH.exec(month) ?? [];
  if (year === undefined) throw fieldError('month', 'Must be a month such as 2026-10.');
  const [from, to] = [0, 1].map((more) => Date.UTC(Number(year), Number(number) - 1 + more));
  if (from === undefined || to === undefined || to > now) {
    throw fieldError('month', 'The month is not over yet. Ask for an earlier one.');
  }
  return { from, to };
}

/** The conversion of the statement of the month that was asked for last. */
async function earlierStatement(
  deps: Dependencies,
  accountId: string,
  month: string,
): Promise<string | undefined> {
  const all = { order: 'newest first', offset: 0, limit: 1_000 } as const;
  const queries = deps.readModel.query(historyQueries);
  const { places } = queries.page(accountId, { type: 'StatementRequested' }, all);
  const events = (await readEvents(deps.streams, places)).map(
    (event) => decodeEvent(event) as EventOf<'StatementRequested'>,
  );
  return events.find(({ data }) => data.month === month)?.data.conversionId;
}

/**
 * Reads all that the statement says, under a checkpoint that covers the last event of the month.
 * @param month such as `2026-10`
 * @throws {ServiceError} `validation_error` for a month that is not over, or in which there was no account; `service_unavailable`
 */
export async function readStatement(
  deps: Dependencies,
  accountId: string,
  month: string,
  now: number,
): Promise<Statement> {
  const { from, to } = timeOf(month, now);
  const account = (await consistentQuery(deps, accountQueries)).byId(accountId);
  // Erased since its credential was read.
  if (account === undefined) throw new ServiceError('unauthorized');
  if (account.createdAt >= to) {
    throw fieldError('month', 'The account was opened after this month. Ask for a later one.');
  }
  const { readModel, vault } = deps;
  const history = readModel.query(historyQueries).inTime(accountId, from, to);
  const { first, last } = history;
  const checkpoint = await checkpointCovering(deps, last ?? 0n);
  const { indexAt } = readModel.query(logTreeQueries);
  const placeOf = (position: bigint | undefined) =>
    position === undefined ? undefined : { position, index: indexAt(position) ?? 0 };
  const days = readModel.query(usageQueries).days(accountId, from / DAY_MS, to / DAY_MS - 1);
  const keys = readModel.query(apiKeyQueries);
  const requests = history.requests.map(async ({ actor, person, count }) => {
    const [kind = '', id] = actor.split(':');
    const key = id === undefined ? undefined : keys.byId(id);
    return {
      by: key === undefined ? kind : `${await vault.unseal(accountId, key.name)} (${key.prefix}…)`,
      person: person === null ? undefined : await personName(deps, person),
      count,
    };
  });
  return {
    month,
    account: {
      id: accountId,
      name: await personName(deps, founderOf(accountId)),
      plan: account.plan,
    },
    madeAt: isoTime(now),
    replaces: await earlierStatement(deps, accountId, month),
    credits: readModel.query(ledgerQueries).inTime(accountId, from, to),
    days: days.map((day) => ({ ...day, day: isoTime(day.day * DAY_MS).slice(0, 10) })),
    requests: await Promise.all(requests),
    log: {
      events: history.events,
      first: placeOf(first),
      last: placeOf(last),
      origin: parseCheckpoint(openNote(checkpoint.note).text).origin,
      size: checkpoint.size,
      root: checkpoint.root.toString('base64'),
    },
  };
}
