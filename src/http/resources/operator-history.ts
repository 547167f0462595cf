/** What the log holds about anybody's conversions, batches and accounts, for the command line. */
import { Readable } from 'node:stream';
import { batchQueries } from '../../../projections/batches.ts';
import { conversionQueries } from '../../../projections/conversions.ts';
import type { HistoryFilter } from '../../../projections/history.ts';
import { findAccount, recordLook } from '../../accounts/accounts.ts';
import { operatorContext } from '../../actors/command-context.ts';
import { gatherEvidence } from '../../conversions/evidence/gather.ts';
import { OPERATOR, readHistory } from '../../conversions/history.ts';
import { accountAggregate } from '../../domain/account.ts';
import { ACCOUNT_ID } from '../../domain/ids.ts';
import { ServiceError } from '../../errors/errors.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { ValidationIssues } from '../../requests/validation.ts';
import { type HttpMiddleware, pathParameter } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import { pageOf, sendPage } from '../pagination.ts';
import { filterOf } from './history.ts';

const WHOLE_ACCOUNT_ID = new RegExp(`^${ACCOUNT_ID}$`);

const missing = (what: string): ServiceError =>
  new ServiceError('not_found', `There is no ${what}.`);

/**
 * Finds the account, also one that was erased, and the filter for a conversion or a batch if the name is that of one.
 * @throws {ServiceError} `not_found`
 */
async function subjectOf(deps: RouteDependencies, name: string): Promise<[string, HistoryFilter]> {
  if (WHOLE_ACCOUNT_ID.test(name)) {
    const { state } = await deps.actors.read(accountAggregate, name);
    if (state.status === 'none') throw missing(`account ${name}`);
    return [name, {}];
  }
  if (name.includes('@')) {
    const account = await findAccount(deps, name);
    if (account === undefined) throw missing(`account for ${name}`);
    return [account.id, {}];
  }
  if (name.startsWith('batch_')) {
    const batch = (await consistentQuery(deps, batchQueries)).byId(name);
    if (batch === undefined) throw missing(`batch ${name}`);
    return [batch.accountId, { batchId: name }];
  }
  return [(await conversionNamed(deps, name)).accountId, { conversionId: name }];
}

async function conversionNamed(deps: RouteDependencies, id: string) {
  const row = (await consistentQuery(deps, conversionQueries)).byId(id);
  if (row === undefined) throw missing(`conversion ${id}`);
  return row;
}

/** Sends one page of a history, oldest first. */
export function getHistory(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const issues = new ValidationIssues();
    const page = pageOf(ctx, issues, ['type', 'person']);
    const filter = filterOf(ctx, issues);
    issues.throwIfAny();
    const [accountId, of] = await subjectOf(deps, pathParameter(ctx, 'subject'));
    await recordLook(deps, accountId, operatorContext(deps.clock), 'account');
    const { entries, total } = await readHistory(
      deps,
      accountId,
      { ...filter, ...of },
      { ...page, order: 'oldest first' },
      OPERATOR,
    );
    sendPage(ctx, deps.publicUrl, page, total, entries);
  };
}

/** What the header `Pressledger-Evidence` says about a bundle, as JSON in an encoded URI component. */
export interface EvidenceFacts {
  readonly size: number;
  readonly absent: Readonly<Record<string, string>>;
}

/** Sends the bundle of evidence of any conversion, with all that is stored. */
export function getEvidence(deps: RouteDependencies): HttpMiddleware {
  return async (ctx) => {
    const { id, accountId } = await conversionNamed(deps, pathParameter(ctx, 'id'));
    await recordLook(deps, accountId, operatorContext(deps.clock), 'account');
    const { bytes, open, size, absent } = await gatherEvidence(deps, id);
    const facts: EvidenceFacts = { size, absent: Object.fromEntries(absent) };
    ctx.set('Pressledger-Evidence', encodeURIComponent(JSON.stringify(facts)));
    ctx.body = Readable.from(open(), { objectMode: false });
    ctx.type = 'application/zip';
    ctx.length = bytes;
  };
}
