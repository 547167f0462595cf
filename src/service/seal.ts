/** The service's own certificate, which signs the PDFs of accounts that have none. */
import { readFile } from 'node:fs/promises';
import type { Config } from '../config/config.ts';
import { errorMessage } from '../errors/error-message.ts';
import type { Identity } from '../signing/identity.ts';

/** @throws {Error} one line that names the setting and what is wrong with its file */
export async function openSeal({
  sealP12: path,
  sealP12Password: password = '',
}: Pick<Config, 'sealP12' | 'sealP12Password'>): Promise<Identity | undefined> {
  if (path === undefined) return undefined;
  const file = await readFile(path).catch((cause: unknown) => {
    throw new Error(`SEAL_P12: ${path} cannot be read: ${errorMessage(cause)}`, { cause });
  });
  const { openPkcs12 } = await import('../signing/identity.ts');
  try {
    return await openPkcs12(file, password);
  } catch (cause) {
    const message = `SEAL_P12: ${path}: ${errorMessage(cause)} SEAL_P12_PASSWORD is its password.`;
    throw new Error(message, { cause });
  }
}
