/** Creates and revokes links by which anybody can download the file of a conversion. Only a hash of each secret is kept. */
import type { ConversionRow } from '../../projections/conversions.ts';
import { orThrow } from '../actors/command-context.ts';
import type { ActorSystem, CommandContext } from '../actors/system.ts';
import { conversionAggregate } from '../domain/conversion.ts';
import type { CreateLink, RevokeLink } from '../domain/share-links.ts';
import { newLinkId, randomAlphanumeric, tokenHashOf } from '../time/ids.ts';

/** 131 bits: short enough to be read out, and too many to be found by trying. */
const SECRET_CHARACTERS = 22;

interface LinkDependencies {
  readonly actors: ActorSystem;
}

export interface CreatedLink {
  readonly id: string;
  /** The only time that it is seen. */
  readonly secret: string;
}

type Own<Command> = Omit<Command, 'accountId' | 'conversionId' | 'at'>;

async function send(
  { actors }: LinkDependencies,
  { id: conversionId, accountId }: Pick<ConversionRow, 'id' | 'accountId'>,
  command: Own<CreateLink> | Own<RevokeLink>,
  context: CommandContext,
): Promise<void> {
  const about = { accountId, conversionId, at: context.metadata.time };
  const by = { ...context, metadata: { ...context.metadata, correlationId: conversionId } };
  orThrow(await actors.send(conversionAggregate, conversionId, { ...command, ...about }, by));
}

/** @throws {ServiceError} `gone`, or `validation_error` where the conversion has as many as it may have */
export async function createLink(
  deps: LinkDependencies,
  row: Pick<ConversionRow, 'id' | 'accountId'>,
  expiresAt: number,
  context: CommandContext,
): Promise<CreatedLink> {
  const secret = randomAlphanumeric(SECRET_CHARACTERS);
  const linkHash = tokenHashOf(secret);
  const linkId = newLinkId(context.metadata.time);
  await send(deps, row, { type: 'CreateLink', linkId, linkHash, expiresAt }, context);
  return { id: linkId, secret };
}

/** @throws {ServiceError} `not_found` where the conversion has no such link in force */
export const revokeLink = (
  deps: LinkDependencies,
  row: Pick<ConversionRow, 'id' | 'accountId'>,
  linkId: string,
  context: CommandContext,
): Promise<void> => send(deps, row, { type: 'RevokeLink', linkId }, context);
