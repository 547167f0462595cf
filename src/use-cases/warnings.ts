import type { ConversionRow } from '../../projections/conversions.ts';
import type { Vault } from '../keyring/vault.ts';

/**
 * The warnings of a completed conversion, for its client; undefined where it has none.
 * @throws {KeyErased}
 */
export async function warningsOf(
  vault: Pick<Vault, 'unseal'>,
  { accountId, warnings }: ConversionRow,
): Promise<readonly string[] | undefined> {
  if (warnings === undefined) return undefined;
  return JSON.parse(await vault.unseal(accountId, warnings)) as readonly string[];
}
