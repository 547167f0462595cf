import type { ConversionRow } from '../../projections/conversions.ts';
import { isoTime } from '../clock.ts';
import type { Vault } from '../keyring/vault.ts';
import type { FileTokens } from './file-tokens.ts';

export interface RecordDependencies {
  readonly fileTokens: FileTokens;
  readonly config: { readonly fileUrlTtlSeconds: number };
  readonly publicUrl: string;
  readonly vault: Pick<Vault, 'unseal'>;
}

/**
 * The Conversion resource as the interface shapes it, with a fresh link where there is a file.
 * @throws {KeyErased}
 */
export async function conversionRecord(
  deps: RecordDependencies,
  row: ConversionRow,
): Promise<object> {
  const { id, accountId, status, createdAt, completedAt, errorMessage } = row;
  const record = { id, status, created_at: isoTime(createdAt) };
  if (status === 'failed' && errorMessage !== undefined) {
    return { ...record, error_message: await deps.vault.unseal(accountId, errorMessage) };
  }
  if (status !== 'completed' || completedAt === undefined) return record;
  const token = deps.fileTokens.mint(id, deps.config.fileUrlTtlSeconds);
  return {
    ...record,
    file_url: `${deps.publicUrl}/files/${id}.pdf?token=${token}`,
    completed_at: isoTime(completedAt),
  };
}
