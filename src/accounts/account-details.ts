/** The accounts as their operator sees them. */
import { type AccountRow, accountQueries } from '../../projections/accounts.ts';
import { apiKeyQueries } from '../../projections/api-keys.ts';
import { sessionQueries } from '../../projections/sessions.ts';
import { storedBlobQueries } from '../../projections/stored-blobs.ts';
import { openerUnlessErased } from '../conversions/state.ts';
import type { Vault } from '../documents/keys/vault.ts';
import { accountAggregate } from '../domain/account.ts';
import { holdInForce } from '../domain/hold.ts';
import type { Suspension } from '../domain/standing.ts';
import { ServiceError } from '../errors/errors.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import { type Clock, isoTime } from '../time/clock.ts';
import { type AccountDependencies, findAccount } from './accounts.ts';
import { type AccountSettings, accountRecordWithLimit, holdRecord } from './records.ts';

type Dependencies = Pick<AccountDependencies, 'actors' | 'addressKey'> &
  ReadDependencies & {
    readonly vault: Pick<Vault, 'unseal'>;
    readonly clock: Clock;
    readonly config: AccountSettings;
  };

const noSuchAccount = () => new ServiceError('not_found', 'There is no such account.');

/** Undefined where the account was erased since its row was read. */
async function recordOf(
  { vault, config }: Pick<Dependencies, 'vault' | 'config'>,
  row: AccountRow,
) {
  const opener = openerUnlessErased(vault);
  const { email, ...record } = await accountRecordWithLimit(opener, config, row);
  return email === undefined ? undefined : { ...record, email };
}

async function suspensionRecord(
  vault: Pick<Vault, 'unseal'>,
  accountId: string,
  suspension: Suspension | undefined,
) {
  if (suspension === undefined) return null;
  const { reason, suspendedAt } = suspension;
  return { reason: await vault.unseal(accountId, reason), suspended_at: isoTime(suspendedAt) };
}

/** @throws {ServiceError} `not_found` if there is none, or it was erased */
export async function accountDetails(deps: Dependencies, accountId: string) {
  const now = deps.clock.now();
  const row = (await consistentQuery(deps, accountQueries)).byId(accountId);
  const { readModel } = deps;
  const counts = {
    stored_bytes: readModel.query(storedBlobQueries).bytesOf(accountId),
    api_keys: readModel.query(apiKeyQueries).inForce(accountId, now),
    sessions: readModel.query(sessionQueries).open({ accountId }, now).length,
  };
  const record = row && (await recordOf(deps, row));
  if (record === undefined) throw noSuchAccount();
  const { state } = await deps.actors.read(accountAggregate, accountId);
  const hold = holdRecord(holdInForce(state, now));
  const suspension = await suspensionRecord(deps.vault, accountId, state.suspension);
  return {
    ...record,
    hold,
    suspension,
    retention_seconds: state.retentionSeconds ?? null,
    ...counts,
  };
}

/** The account of a sign-in address, if there is one. */
export async function accountsByEmail(deps: Dependencies, email: string) {
  const found = await findAccount(deps, email);
  if (found === undefined) return [];
  const row = (await consistentQuery(deps, accountQueries)).byId(found.id);
  return [row && (await recordOf(deps, row))].flatMap((record) => record ?? []);
}

/** One page of the open accounts, newest first. */
export async function accountPage(
  deps: Dependencies,
  page: { readonly offset: number; readonly limit: number },
) {
  const queries = await consistentQuery(deps, accountQueries);
  const [rows, total] = [queries.newest(page), queries.count()];
  const records = await Promise.all(rows.map((row) => recordOf(deps, row)));
  return { records: records.flatMap((record) => record ?? []), total };
}

/** @throws {ServiceError} `not_found` if there is none, or it was erased */
export async function assertOpen(
  { actors }: Pick<Dependencies, 'actors'>,
  accountId: string,
): Promise<string> {
  const { state } = await actors.read(accountAggregate, accountId);
  if (state.status !== 'open') throw noSuchAccount();
  return state.email;
}
