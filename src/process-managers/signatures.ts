/**
 * Signs for renderers, which have no keys. A renderer may be taken over: it gets one signature for each try of a conversion
 * whose request asked for one, and no other.
 */
import { unfinishedQueries } from '../../projections/unfinished-conversions.ts';
import { UNREADABLE, unlessErased } from '../documents/keys/vault.ts';
import { accountAggregate } from '../domain/account.ts';
import { conversionAggregate, isOpen } from '../domain/conversion.ts';
import { invalidAt } from '../domain/signature.ts';
import { errorMessage } from '../errors/error-message.ts';
import type { TimestampAuthority } from '../log/attestation/port.ts';
import type { Documents, Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import type { SigningAnswer, SigningRequest } from '../render-queue/messages.ts';
import type { Identity } from '../signing/identity.ts';

/** Tries whose digest is remembered. */
const MAX_REMEMBERED = 10_000;

type Dependencies = Log &
  Pick<Documents, 'vault'> & {
    readonly logger: Logger;
    /** The certificate of the service, if it has one. */
    readonly seal: Identity | undefined;
    readonly timestampAuthority?: TimestampAuthority;
  };

const unsigned = (message: string, retryable = false): SigningAnswer => ({
  kind: 'unsigned',
  message,
  retryable,
});

const REFUSED = unsigned('The PDF could not be signed.');
const REMOVED = unsigned(
  'The certificate for signatures was removed after the request. Set one, and convert again.',
);

/** The handler rejects where the same request may be answered later. */
export function createSigner(deps: Dependencies) {
  const { actors, clock, logger, readModel, runner, seal, store, timestampAuthority, vault } = deps;
  /** The digest that each try has had signed. */
  const signed = new Map<string, string>();

  const identityFor = async (
    accountId: string,
    signedBy: 'account' | 'service',
  ): Promise<Identity | SigningAnswer> => {
    if (signedBy === 'service') {
      return seal ?? unsigned('The service has no certificate for signatures any more.');
    }
    const { state } = await actors.read(accountAggregate, accountId);
    if (state.signature === undefined) return REMOVED;
    const secret = await unlessErased(vault.unsealExactly(accountId, state.signature.secret));
    if (secret === undefined) return unsigned(UNREADABLE);
    const { identityOfText } = await import('../signing/identity.ts');
    return identityOfText(secret);
  };

  const mayAsk = async ({ conversionId, delivery, digest }: SigningRequest): Promise<boolean> => {
    const { state } = await actors.read(conversionAggregate, conversionId);
    if (!isOpen(state) || !state.tries.includes(delivery)) return false;
    const name = `${conversionId}/${delivery}`;
    if ((signed.get(name) ?? digest) !== digest) return false;
    signed.set(name, digest);
    const [oldest] = signed.keys();
    if (signed.size > MAX_REMEMBERED && oldest !== undefined) signed.delete(oldest);
    return true;
  };

  return async (request: SigningRequest): Promise<SigningAnswer> => {
    const { conversionId, renderer, digest } = request;
    const find = () => readModel.query(unfinishedQueries).byId(conversionId);
    let row = find();
    if (row === undefined) {
      await runner.waitFor(await store.head());
      row = find();
    }
    if (row?.signedBy === undefined || !(await mayAsk(request))) {
      logger.error(
        { conversionId, renderer },
        'a renderer asks for a signature that it is not due',
      );
      return REFUSED;
    }
    const identity = await identityFor(row.accountId, row.signedBy);
    if ('kind' in identity) return identity;
    const invalid = invalidAt(identity, clock.now());
    if (invalid !== undefined) return unsigned(`The PDF could not be signed. ${invalid}`);
    const { signDigest } = await import('../signing/cms.ts');
    const timestamp =
      timestampAuthority &&
      ((bytes: Buffer) => timestampAuthority.timestamp(bytes, new AbortController().signal));
    try {
      const cms = await signDigest(identity, Buffer.from(digest, 'hex'), timestamp);
      const level = timestamp === undefined ? 'B-B' : 'B-T';
      const facts = { level, certificate: identity.sha256 } as const;
      return { kind: 'signed', cms: cms.toString('base64'), facts };
    } catch (error) {
      const reason = errorMessage(error);
      logger.warn({ conversionId, reason }, 'a PDF could not be signed');
      const message = timestampAuthority
        ? `The PDF could not be signed, because the timestamp authority ${timestampAuthority.name} gave no timestamp.`
        : 'The PDF could not be signed.';
      return unsigned(message, true);
    }
  };
}
