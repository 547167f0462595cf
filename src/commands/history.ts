/** `history`: what the log holds about a conversion, a batch or an account. */
import { type ApiKeyQueries, apiKeyQueries } from '../../projections/api-keys.ts';
import { batchQueries } from '../../projections/batches.ts';
import { conversionQueries } from '../../projections/conversions.ts';
import type { HistoryFilter } from '../../projections/history.ts';
import { type HistoryEntry, memberText, OPERATOR, readHistory } from '../conversions/history.ts';
import { recordLook } from '../accounts/accounts.ts';
import { operatorContext } from '../actors/command-context.ts';
import { unlessErased, type Vault } from '../documents/keys/vault.ts';
import { accountAggregate } from '../domain/account.ts';
import { EVENT_TYPES } from '../domain/events.ts';
import { ACCOUNT_ID, PERSON_ID } from '../domain/ids.ts';
import { ServiceError } from '../errors/errors.ts';
import { consistentQuery } from '../read-model/consistent-query.ts';
import type { Core } from '../service/core.ts';
import { accountByEmail } from './account.ts';
import { choiceOf, type Run, textOption, UsageError } from './command.ts';

const PAGE = 500;
const WHOLE_PERSON_ID = new RegExp(`^${PERSON_ID}$`);
const WHOLE_ACCOUNT_ID = new RegExp(`^${ACCOUNT_ID}$`);

/** The account, and the filter for a conversion or a batch where one is named. */
async function subjectOf(core: Core, name: string): Promise<[string, HistoryFilter]> {
  if (WHOLE_ACCOUNT_ID.test(name)) {
    const { state } = await core.actors.read(accountAggregate, name);
    if (state.status === 'none')
      throw new ServiceError('not_found', `There is no account ${name}.`);
    return [name, {}];
  }
  if (name.includes('@')) return [(await accountByEmail(core, name)).id, {}];
  if (name.startsWith('batch_')) {
    const batch = (await consistentQuery(core, batchQueries)).byId(name);
    if (batch === undefined) throw new ServiceError('not_found', `There is no batch ${name}.`);
    return [batch.accountId, { batchId: name }];
  }
  const row = (await consistentQuery(core, conversionQueries)).byId(name);
  if (row === undefined) throw new ServiceError('not_found', `There is no conversion ${name}.`);
  return [row.accountId, { conversionId: name }];
}

/** The party that caused an event; a key by its name and prefix, as `key list` has them. */
async function actorText(
  actor: HistoryEntry['actor'],
  keys: ApiKeyQueries,
  vault: Pick<Vault, 'unseal'>,
): Promise<string> {
  if (!('id' in actor) || actor.id === undefined) return actor.kind;
  const member = memberText(actor);
  const of = member === undefined ? '' : ` of ${member}`;
  const key = actor.kind === 'key' ? keys.byId(actor.id) : undefined;
  if (key === undefined) return `${actor.kind} ${actor.id}${of}`;
  const name = await unlessErased(vault.unseal(key.accountId, key.name));
  return `key ${name === undefined ? '' : `'${name}' `}${key.prefix}…${of}`;
}

/** @param by the party that caused it, in words */
function describe(
  { time, summary, client_address: address, reason, data, name }: HistoryEntry,
  by: string,
  filter: HistoryFilter,
): string {
  const { conversionId: id } = data;
  // The history of one conversion need not repeat its id.
  const isNews = typeof id === 'string' && filter.conversionId === undefined;
  const from = address === undefined ? '' : `, from ${address}`;
  const named = name === undefined || name === id ? '' : ` ${name}`;
  const why = reason === undefined ? '' : `, reason: ${reason}`;
  return `${time}  ${summary}${isNews ? `  ${id}${named}` : ''}  (${by}${from}${why})`;
}

export const history: Run = async (invocation, { open, output }) => {
  const [subject = ''] = invocation.positionals;
  const text = textOption(invocation, 'type');
  const type = text === undefined ? undefined : choiceOf(text, EVENT_TYPES);
  if (text !== undefined && type === undefined) {
    throw new UsageError(`--type is one of ${EVENT_TYPES.join(', ')}.`);
  }
  const person = textOption(invocation, 'person');
  if (person !== undefined && !WHOLE_PERSON_ID.test(person)) {
    throw new UsageError("--person is the id of a person, as 'members list' shows it.");
  }
  await open.withCore(async (core) => {
    const [accountId, of] = await subjectOf(core, subject);
    await recordLook(core, accountId, operatorContext(core.clock), 'account');
    const deps = { ...core, streams: core.store };
    const filter = { ...of, ...(type && { type }), ...(person && { person }) };
    const all: HistoryEntry[] = [];
    for (let offset = 0, total = 1; offset < total; offset += PAGE) {
      const page = { order: 'oldest first', offset, limit: PAGE } as const;
      const read = await readHistory(deps, accountId, filter, page, OPERATOR);
      ({ total } = read);
      const keys = core.readModel.query(apiKeyQueries);
      for (const entry of read.entries) {
        output.line(describe(entry, await actorText(entry.actor, keys, core.vault), of));
        if (output.wantsJson) all.push(entry);
      }
    }
    output.json(all);
  });
};
