/** Templates of an account: created, saved as another version, renamed, deleted, and what a version holds. */
import { createHmac } from 'node:crypto';
import {
  type TemplateRow,
  type TemplateVersionRow,
  templateQueries,
} from '../../projections/templates.ts';
import { orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import { hmacKey } from '../documents/encryption.ts';
import { unlessErased, type Vault } from '../documents/keys/vault.ts';
import {
  MAX_CONTENT_BYTES,
  MAX_VERSIONS,
  NO_TEMPLATE,
  type TemplateContent,
  type TemplatesCommand,
  templatesAggregate,
  templatesStream,
} from '../domain/templates.ts';
import { ServiceError } from '../errors/errors.ts';
import { decodeEvent } from '../event-store/codec.ts';
import type { EventStore } from '../event-store/port.ts';
import { consistentQuery, type ReadDependencies } from '../read-model/consistent-query.ts';
import { isoTime } from '../time/clock.ts';
import { newTemplateId } from '../time/ids.ts';
import { personName } from './logins.ts';
import type { Opener } from './records.ts';

export interface TemplateReaders extends ReadDependencies {
  readonly streams: Pick<EventStore, 'readStream'>;
  readonly vault: Pick<Vault, 'unsealExactly'>;
}

export interface TemplateDependencies extends ReadDependencies {
  readonly actors: ActorSystem;
  readonly vault: Vault;
}

type Owned<C> = C extends unknown ? Omit<C, 'accountId' | 'now'> : never;

/** @throws {ServiceError} what the account's templates refuse */
async function sendTo(
  { actors }: Pick<TemplateDependencies, 'actors'>,
  accountId: string,
  command: Owned<TemplatesCommand>,
  context: CommandContext,
): Promise<void> {
  const whole = { ...command, accountId, now: context.metadata.time } as TemplatesCommand;
  orThrow(await actors.send(templatesAggregate, accountId, whole, context));
}

/** @throws {ServiceError} `not_found`, for those of others too */
export async function templateOf(
  deps: ReadDependencies,
  accountId: string,
  templateId: string,
  asOf?: bigint,
): Promise<TemplateRow> {
  const row = (await consistentQuery(deps, templateQueries, asOf)).byId(templateId);
  if (row?.accountId !== accountId) throw new ServiceError('not_found', NO_TEMPLATE);
  return row;
}

/** Reads from the log what a version holds. @throws {KeyErased} */
export async function contentOf(
  { streams, vault }: Pick<TemplateReaders, 'streams' | 'vault'>,
  accountId: string,
  { revision: from }: Pick<TemplateVersionRow, 'revision'>,
): Promise<TemplateContent> {
  const stream = templatesStream(accountId);
  const [recorded] = await streams.readStream(stream, { from, limit: 1 });
  const event = recorded && decodeEvent(recorded);
  if (event?.type !== 'TemplateVersionSaved') {
    throw new Error(`Revision ${from} of ${stream} is not a version of a template.`);
  }
  return JSON.parse(await vault.unsealExactly(accountId, event.data.content)) as TemplateContent;
}

/** @throws {ServiceError} `payload_too_large` */
async function sealedContent(
  { vault }: Pick<TemplateDependencies, 'vault'>,
  accountId: string,
  templateId: string,
  content: TemplateContent,
) {
  const text = JSON.stringify(content);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_CONTENT_BYTES) {
    throw new ServiceError(
      'payload_too_large',
      `The template takes ${bytes} bytes with its files, schema and sample. It may take ${MAX_CONTENT_BYTES}: give large files with each request.`,
    );
  }
  const key = hmacKey(await vault.contentKey(accountId, templateId));
  return {
    content: await vault.seal(accountId, text),
    contentHmac: createHmac('sha256', key).update(text).digest('hex'),
    bytes,
  };
}

/** @throws {ServiceError} `validation_error` where the account has or saves as many as it may; `payload_too_large` */
export async function createTemplate(
  deps: TemplateDependencies,
  accountId: string,
  { name, content }: { readonly name: string; readonly content: TemplateContent },
  context: CommandContext,
): Promise<TemplateRow> {
  const templateId = newTemplateId(context.metadata.time);
  const sealed = await sealedContent(deps, accountId, templateId, content);
  const named = { name: await deps.vault.seal(accountId, name) };
  const command = { type: 'CreateTemplate', templateId, ...named, ...sealed } as const;
  await sendTo(deps, accountId, command, context);
  return await templateOf(deps, accountId, templateId);
}

/**
 * Saves another version, unless the newest one has this content.
 * @throws {ServiceError} `not_found`, `validation_error`, `payload_too_large`
 */
export async function saveVersion(
  deps: TemplateDependencies,
  accountId: string,
  templateId: string,
  content: TemplateContent,
  context: CommandContext,
): Promise<TemplateRow> {
  const sealed = await sealedContent(deps, accountId, templateId, content);
  await sendTo(deps, accountId, { type: 'SaveVersion', templateId, ...sealed }, context);
  return await templateOf(deps, accountId, templateId);
}

/** @throws {ServiceError} `not_found` */
export async function renameTemplate(
  deps: TemplateDependencies,
  accountId: string,
  templateId: string,
  name: string,
  context: CommandContext,
): Promise<TemplateRow> {
  const sealed = await deps.vault.seal(accountId, name);
  await sendTo(deps, accountId, { type: 'RenameTemplate', templateId, name: sealed }, context);
  return await templateOf(deps, accountId, templateId);
}

/** @throws {ServiceError} `not_found` */
export const deleteTemplate = (
  deps: Pick<TemplateDependencies, 'actors'>,
  accountId: string,
  templateId: string,
  context: CommandContext,
): Promise<void> => sendTo(deps, accountId, { type: 'DeleteTemplate', templateId }, context);

/** The record of a template, as the API and exports shape it. */
export const templateRecord = async <T extends string | undefined>(
  opener: Opener<T>,
  { id, accountId, name, version, createdAt, changedAt }: TemplateRow,
) => ({
  id,
  name: await opener.unseal(accountId, name),
  version,
  created_at: isoTime(createdAt),
  updated_at: isoTime(changedAt),
});

export async function versionRecord(
  deps: Parameters<typeof personName>[0],
  { version, bytes, savedAt, savedBy }: TemplateVersionRow,
) {
  const name = savedBy === undefined ? undefined : await unlessErased(personName(deps, savedBy));
  return {
    version,
    bytes,
    saved_at: isoTime(savedAt),
    ...(name !== undefined && { saved_by: name }),
  };
}

/** Every version of every template, with the names of their files. */
export async function* exportedTemplates(
  deps: TemplateReaders & { readonly vault: Pick<Vault, 'unseal' | 'unsealExactly'> },
  accountId: string,
): AsyncGenerator<readonly [file: string, version: object]> {
  const { rows } = (await consistentQuery(deps, templateQueries)).page(accountId, ALL);
  for (const row of rows) {
    const { id, name } = await templateRecord(deps.vault, row);
    for (const each of deps.readModel.query(templateQueries).versions(id, ALL).rows.toReversed()) {
      const content = await contentOf(deps, accountId, each);
      const version = { id, name, ...(await versionRecord(deps, each)), ...content };
      yield [`templates/${id}/${each.version}.json`, version];
    }
  }
}

const ALL = { offset: 0, limit: MAX_VERSIONS };
