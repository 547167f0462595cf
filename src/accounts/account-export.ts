/** Everything that is kept about an account, as files that people and programs read, one after the other. */
import { accountQueries } from '../../projections/accounts.ts';
import { apiKeyQueries } from '../../projections/api-keys.ts';
import { batchQueries } from '../../projections/batches.ts';
import { type ConversionRow, conversionQueries } from '../../projections/conversions.ts';
import { ledgerQueries } from '../../projections/ledger.ts';
import { sessionQueries } from '../../projections/sessions.ts';
import { webhookQueries } from '../../projections/webhook-queries.ts';
import type { ActorSystem } from '../actors/system.ts';
import {
  type HistoryDependencies,
  type HistoryEntry,
  OPERATOR,
  readHistory,
} from '../conversions/history.ts';
import { openContent } from '../documents/decryption.ts';
import type { Vault } from '../documents/keys/vault.ts';
import { BlobNotFound, type BlobStore } from '../documents/port.ts';
import { accountAggregate } from '../domain/account.ts';
import type { BlobRef } from '../domain/event-fields.ts';
import { holdInForce } from '../domain/hold.ts';
import { MAX_WEBHOOKS } from '../domain/webhooks.ts';
import { ServiceError } from '../errors/errors.ts';
import { consistentQuery } from '../read-model/consistent-query.ts';
import { htmlText } from '../text/plain-text.ts';
import { isoTime } from '../time/clock.ts';
import { nameOf, namesOf, namingOf } from './conversion-names.ts';
import { membersOf, namedKeyRecord } from './members.ts';
import {
  accountRecord,
  batchRecord,
  holdRecord,
  ledgerRecord,
  sessionRecord,
  warningsOf,
} from './records.ts';
import { exportedTemplates } from './templates.ts';
import { publicNameOf } from './public-name.ts';
import { webhookRecord } from './webhook-records.ts';
import { wholeList } from './whole-list.ts';

export interface ExportDependencies extends HistoryDependencies {
  readonly actors: ActorSystem;
  readonly blobs: BlobStore;
  readonly vault: Pick<Vault, 'contentKey' | 'unseal' | 'unsealExactly'>;
}

/** One file. Its content is read before the next file is asked for. */
export interface ExportedFile {
  /** The path in the archive: ASCII, with `/` between folders. */
  readonly name: string;
  readonly content: AsyncIterable<Buffer | string>;
}

const PAGE = 500;
/** A file of events has at most so many: editors open it. */
const EVENTS_IN_A_FILE = 100_000;

const README = (email: string, time: string): string => `Everything kept about ${email}
as of ${time}.

index.html            the conversions, with links to what is stored of them: begin here
account.json          the account
members.json          the people of the account, with their names, addresses and roles, and open invitations
keys.json             the API keys that are valid; the keys themselves are not stored
webhooks.json         the webhook endpoints, without their secrets
templates/<id>/       the versions of a template, with the data that it is looked at with
sessions.json         the sessions that are open: when each began, and from where
ledger.jsonl          credits that were granted, taken and refunded, newest first
conversions.jsonl     the records of the conversions, newest first
batches.jsonl         the batches, with the ids of their conversions, newest first
events/*.jsonl        the history: one event a line, oldest first, with who, when and from where
documents/<id>/       what is stored of a conversion
  request.json        the HTML or URL that was sent, with its options
  document.pdf        the PDF; a picture ends in its format, such as document.png
  manifest.json       how the PDF was made: browser, fonts, resources, times
  picture.jpg         the page of a conversion that failed, if there is a picture of it

A .jsonl file has one JSON document a line. Documents are deleted when their retention ends: of older
conversions there are records and events alone. Passwords are stored as hashes, which are not in here.
Where there are several archives, unpack them into one folder.
`;

/** @throws {ServiceError} `not_found` */
export async function* exportAccount(
  deps: ExportDependencies,
  accountId: string,
  now: number,
): AsyncGenerator<ExportedFile, undefined> {
  const { vault } = deps;
  const row = (await consistentQuery(deps, accountQueries)).byId(accountId);
  if (row === undefined) throw new ServiceError('not_found', 'There is no such account.');
  const { state } = await deps.actors.read(accountAggregate, accountId);
  const account = await accountRecord(vault, row);
  const { email } = account;
  const hold = holdRecord(holdInForce(state, now));
  yield { name: 'README.txt', content: whole(README(email, isoTime(now))) };
  yield {
    name: 'account.json',
    content: whole(json({ ...account, public_name: await publicNameOf(deps, accountId), hold })),
  };
  yield { name: 'members.json', content: whole(json(await membersOf(deps, accountId))) };
  yield { name: 'keys.json', content: whole(json(await keysOf(deps, accountId))) };
  yield { name: 'webhooks.json', content: whole(json(await webhooksOf(deps, accountId))) };
  for await (const [name, template] of exportedTemplates(deps, accountId)) {
    yield { name, content: whole(json(template)) };
  }
  yield { name: 'sessions.json', content: whole(json(await sessionsOf(deps, accountId, now))) };
  yield { name: 'ledger.jsonl', content: ledgerLines(deps, accountId) };
  yield { name: 'conversions.jsonl', content: conversionLines(deps, accountId) };
  yield { name: 'batches.jsonl', content: batchLines(deps, accountId) };
  yield { name: 'index.html', content: indexPage(deps, accountId, email, isoTime(now)) };
  const total = await eventCount(deps, accountId);
  for (let from = 0; from < total; from += EVENTS_IN_A_FILE) {
    const name = `events/${String(from + 1).padStart(9, '0')}.jsonl`;
    yield { name, content: eventLines(deps, accountId, from) };
  }
  yield* documents(deps, accountId);
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
const line = (value: unknown): string => `${JSON.stringify(value)}\n`;

async function* whole(text: string): AsyncGenerator<string> {
  yield text;
}

async function keysOf(deps: ExportDependencies, accountId: string): Promise<readonly object[]> {
  const keys = await consistentQuery(deps, apiKeyQueries);
  const { rows } = keys.page(accountId, { offset: 0, limit: Number.MAX_SAFE_INTEGER });
  return await Promise.all(rows.map((row) => namedKeyRecord(deps, row, deps.vault)));
}

async function webhooksOf(deps: ExportDependencies, accountId: string): Promise<readonly object[]> {
  const webhooks = await consistentQuery(deps, webhookQueries);
  const { rows } = webhooks.page(accountId, { offset: 0, limit: MAX_WEBHOOKS });
  return await Promise.all(rows.map((row) => webhookRecord(deps.vault, row)));
}

async function sessionsOf(
  deps: ExportDependencies,
  accountId: string,
  now: number,
): Promise<readonly object[]> {
  const sessions = await consistentQuery(deps, sessionQueries);
  const { length } = sessions.open({ accountId }, now);
  const { rows } = sessions.page({ accountId }, now, { offset: 0, limit: length });
  return await Promise.all(rows.map((row) => sessionRecord(deps.vault, row)));
}

const limit = PAGE;

async function* ledgerLines(deps: ExportDependencies, accountId: string): AsyncGenerator<string> {
  const pages = wholeList(async (offset) =>
    (await consistentQuery(deps, ledgerQueries)).page(accountId, { offset, limit }),
  );
  for await (const rows of pages) {
    const names = await namesOf(
      deps,
      rows.map(({ conversionId }) => conversionId),
    );
    yield* rows.map((row) => line(ledgerRecord(row, names.get(row.conversionId))));
  }
}

async function* conversionsOf(
  deps: ExportDependencies,
  accountId: string,
): AsyncGenerator<ConversionRow> {
  const pages = wholeList(async (offset) =>
    (await consistentQuery(deps, conversionQueries)).page(accountId, { offset, limit }),
  );
  for await (const rows of pages) yield* rows;
}

async function* conversionLines(
  deps: ExportDependencies,
  accountId: string,
): AsyncGenerator<string> {
  for await (const row of conversionsOf(deps, accountId)) {
    const { id, status, createdAt, completedAt, failedAt, pages, pdf, expired } = row;
    yield line({
      id,
      status,
      created_at: isoTime(createdAt),
      completed_at: completedAt && isoTime(completedAt),
      failed_at: failedAt && isoTime(failedAt),
      failure_code: row.failureCode,
      source: row.source,
      key_id: row.keyId,
      batch_id: row.batchId,
      ...(await textsOf(deps, row)),
      pages,
      pdf,
      documents_deleted: expired,
    });
  }
}

async function* batchLines(deps: ExportDependencies, accountId: string): AsyncGenerator<string> {
  const pages = wholeList(async (offset) =>
    (await consistentQuery(deps, batchQueries)).page(accountId, { offset, limit }),
  );
  for await (const rows of pages) {
    for (const row of rows) {
      const ids = deps.readModel.query(batchQueries).conversionsOf(row.id);
      yield line(await batchRecord(deps.vault, row, ids));
    }
  }
}

/** The texts of a conversion's record, decrypted. */
async function textsOf({ vault }: ExportDependencies, row: ConversionRow) {
  const { accountId, errorMessage } = row;
  return {
    name: await nameOf(vault, row),
    ...(await namingOf(vault, row)),
    error_message: errorMessage && (await vault.unseal(accountId, errorMessage)),
    warnings: await warningsOf(vault, row),
  };
}

async function eventCount(deps: ExportDependencies, accountId: string): Promise<number> {
  const page = { order: 'oldest first', offset: 0, limit: 1 } as const;
  return (await readHistory(deps, accountId, {}, page, OPERATOR)).total;
}

async function* eventLines(
  deps: ExportDependencies,
  accountId: string,
  from: number,
): AsyncGenerator<string> {
  for (let offset = from; offset < from + EVENTS_IN_A_FILE; offset += PAGE) {
    const page = { order: 'oldest first', offset, limit } as const;
    const { entries } = await readHistory(deps, accountId, {}, page, OPERATOR);
    for (const entry of entries) yield line(entry);
    if (entries.length < PAGE) return;
  }
}

async function* indexPage(
  deps: ExportDependencies,
  accountId: string,
  email: string,
  time: string,
): AsyncGenerator<string> {
  yield `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${htmlText(email)}</title>
<style>body{font:16px system-ui;margin:2rem}td,th{text-align:left;padding:.2rem 1rem .2rem 0}</style></head>
<body><h1>${htmlText(email)}</h1><p>Everything kept about this account as of ${time}. README.txt names the other files.</p>
<table><tr><th>Requested</th><th>Status</th><th>Pages</th><th>Name</th><th>Conversion</th><th>Stored</th></tr>
`;
  for await (const row of conversionsOf(deps, accountId)) {
    const { id, status, createdAt, pages, picture, expired } = row;
    const { name, error_message: message } = await textsOf(deps, row);
    const link = (file: string): string => `<a href="documents/${id}/${file}">${file}</a>`;
    const ofFailed = picture === undefined ? [FILES[0]] : [FILES[0], PICTURE];
    const ofCompleted = FILES.map((file) => (file === FILES[1] ? documentName(row) : file));
    const files = status === 'completed' ? ofCompleted : ofFailed;
    const stored = expired ? 'deleted' : files.map(link).join(' ');
    const cells = [
      isoTime(createdAt),
      status,
      pages ?? '',
      `<bdi>${htmlText(name)}</bdi>`,
      `${id} ${htmlText(message ?? '')}`.trim(),
    ];
    yield `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}<td>${stored}</td></tr>\n`;
  }
  yield '</table></body></html>\n';
}

const FILES = ['request.json', 'document.pdf', 'manifest.json'] as const;
const PICTURE = 'picture.jpg';
const NAMING = ['ConversionRequested', 'ConversionCompleted', 'ConversionFailed'] as const;

const documentName = ({ format }: Pick<ConversionRow, 'format'>): string =>
  format === undefined ? FILES[1] : `document.${format}`;

/** The blobs that an event names, by the names of their files. */
function blobsOf(
  { type, data }: HistoryEntry,
  row: Pick<ConversionRow, 'format'>,
): readonly [string, BlobRef][] {
  const { request, document, manifest, picture } = data as Readonly<Record<string, BlobRef>>;
  if (type === 'ConversionRequested' && request) return [[FILES[0], request]];
  if (type === 'ConversionFailed' && picture) return [[PICTURE, picture]];
  if (type !== 'ConversionCompleted' || !document || !manifest) return [];
  return [
    [documentName(row), document],
    [FILES[2], manifest],
  ];
}

/** Oldest first, so that those that are added meanwhile are read, too. */
async function* entriesOf(
  deps: ExportDependencies,
  accountId: string,
  type: (typeof NAMING)[number],
): AsyncGenerator<HistoryEntry> {
  for (let offset = 0, length = 1; offset < length; offset += PAGE) {
    const page = { order: 'oldest first', offset, limit } as const;
    const { entries, total } = await readHistory(deps, accountId, { type }, page, OPERATOR);
    length = total;
    yield* entries;
  }
}

async function* documents(
  deps: ExportDependencies,
  accountId: string,
): AsyncGenerator<ExportedFile> {
  for (const type of NAMING) {
    for await (const entry of entriesOf(deps, accountId, type)) {
      const { conversionId } = entry.data as { readonly conversionId: string };
      const row = (await consistentQuery(deps, conversionQueries)).byId(conversionId);
      if (row?.expired !== false) continue;
      const contentKey = await deps.vault.contentKey(accountId, conversionId);
      for (const [file, ref] of blobsOf(entry, row)) {
        const content = await openContent(deps.blobs, contentKey, ref).catch((error: unknown) => {
          // Its retention ended meanwhile, or a restored copy lacks it.
          if (error instanceof BlobNotFound) return undefined;
          throw error;
        });
        if (content) yield { name: `documents/${conversionId}/${file}`, content };
      }
    }
  }
}
