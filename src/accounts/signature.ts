/** The certificate that an account signs its PDFs with: checked and sealed when it comes, never shown again. */
import type { CommandContext } from '../actors/system.ts';
import { Semaphore } from '../async/semaphore.ts';
import type { Vault } from '../documents/keys/vault.ts';
import { accountAggregate } from '../domain/account.ts';
import {
  type AccountSignature,
  type Certificate,
  invalidAt,
  NO_SIGNATURE,
} from '../domain/signature.ts';
import { fieldError, ServiceError } from '../errors/errors.ts';
import { BudgetExceeded } from '../limits/budgets.ts';
import { isoTime } from '../time/clock.ts';
import { newCertificateId } from '../time/ids.ts';
import { type AccountDependencies, sendToAccount } from './accounts.ts';

type Dependencies = Pick<AccountDependencies, 'actors'> & {
  readonly vault: Pick<Vault, 'makeKey' | 'seal' | 'unseal'>;
};

export interface SignatureRecord {
  readonly subject: string;
  readonly issuer: string;
  readonly not_after: string;
}

const OWN = 'PUT /account/signature/';

/** Says which certificate signs what is requested now, or why none does. The account's own comes first. */
export function signingRule(
  own: Certificate | undefined,
  seal: Certificate | undefined,
  now: number,
): { readonly by: 'account' | 'service' } | { readonly refusal: string } {
  const certificate = own ?? seal;
  if (certificate === undefined) {
    return { refusal: `The account has no certificate for signatures. Set one with ${OWN}.` };
  }
  const invalid = invalidAt(certificate, now);
  if (invalid === undefined) return { by: own === undefined ? 'service' : 'account' };
  const whose = own === undefined ? ' It is that of the service.' : '';
  return { refusal: `${invalid}${whose} Set another with ${OWN}.` };
}

/** Old files take seconds of work: two at a time, and one of each account, leave the rest to others. */
const opening = new Semaphore(2);
const accountsOpening = new Set<string>();
const RETRY_SECONDS = 5;

/** @throws {BudgetExceeded} the account has another file opened */
async function openFileOf(accountId: string, file: Buffer, password: string, now: number) {
  if (accountsOpening.has(accountId)) {
    const message = 'Another file of the account is being opened. Send this one when it is done.';
    throw new BudgetExceeded('client', message, RETRY_SECONDS);
  }
  accountsOpening.add(accountId);
  try {
    return await openFile(file, password, now);
  } finally {
    accountsOpening.delete(accountId);
  }
}

async function openFile(file: Buffer, password: string, now: number) {
  // Loading it takes longer than most requests, and few accounts sign.
  const [{ openPkcs12 }, { UnreadableKey, WRONG_PASSWORD }] = await Promise.all([
    import('../signing/identity.ts'),
    import('../signing/pkcs12.ts'),
  ]);
  const release = await opening.acquire();
  try {
    const identity = await openPkcs12(file, password);
    const invalid = invalidAt(identity, now);
    if (invalid !== undefined) throw new UnreadableKey(`${invalid} Give one that is valid.`);
    return identity;
  } catch (error) {
    if (!(error instanceof UnreadableKey)) throw error;
    const field = error.message === WRONG_PASSWORD ? 'password' : 'p12';
    throw fieldError(field, error.message, { cause: error });
  } finally {
    release();
  }
}

async function recordOf(
  { vault }: Pick<Dependencies, 'vault'>,
  accountId: string,
  { subject, issuer, notAfter }: Pick<AccountSignature, 'subject' | 'issuer' | 'notAfter'>,
): Promise<SignatureRecord> {
  const unseal = (sealed: string) => vault.unseal(accountId, sealed);
  const [whose, by] = await Promise.all([unseal(subject), unseal(issuer)]);
  return { subject: whose, issuer: by, not_after: isoTime(notAfter) };
}

/**
 * @param file a PKCS#12 file
 * @throws {ServiceError} `validation_error`: it cannot be read, or nothing can be signed with it
 * @throws {BudgetExceeded} the account has another file opened
 */
export async function setSignature(
  deps: Dependencies,
  accountId: string,
  { file, password }: { readonly file: Buffer; readonly password: string },
  context: CommandContext,
): Promise<SignatureRecord> {
  const now = context.metadata.time;
  const identity = await openFileOf(accountId, file, password, now);
  const { identityText } = await import('../signing/identity.ts');
  const { vault } = deps;
  // Its own, so that the private key ends with the certificate, while the log stays whole.
  const certificateId = newCertificateId(now);
  await vault.makeKey(certificateId);
  const [secret, subject, issuer] = await Promise.all([
    vault.seal(certificateId, identityText(identity)),
    vault.seal(accountId, identity.subject),
    vault.seal(accountId, identity.issuer),
  ]);
  const { notBefore, notAfter, sha256: certificate } = identity;
  const signature = { certificateId, secret, subject, issuer, notBefore, notAfter, certificate };
  await sendToAccount(deps, { type: 'SetSignature', accountId, signature, now }, context);
  return await recordOf(deps, accountId, signature);
}

/** @throws {ServiceError} `not_found` */
export async function signatureOf(
  deps: Dependencies,
  accountId: string,
  asOf?: bigint,
): Promise<SignatureRecord> {
  const { state } = await deps.actors.read(accountAggregate, accountId, asOf);
  if (state.signature !== undefined) return await recordOf(deps, accountId, state.signature);
  throw new ServiceError('not_found', NO_SIGNATURE);
}

/** @throws {ServiceError} `not_found` */
export const removeSignature = async (
  deps: Pick<Dependencies, 'actors'>,
  accountId: string,
  context: CommandContext,
): Promise<void> => {
  const now = context.metadata.time;
  await sendToAccount(deps, { type: 'RemoveSignature', accountId, now }, context);
};
