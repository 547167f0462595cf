/**
 * Signs for renderers, which have no keys. A renderer may be taken over: it has one hash signed for each try of a conversion
 * whose request asked for that. The log has each signature before the renderer gets it.
 */
import { unfinishedQueries } from '../../projections/unfinished-conversions.ts';
import { UNREADABLE, unlessErased } from '../documents/keys/vault.ts';
import { accountAggregate } from '../domain/account.ts';
import { conversionAggregate, isOpen } from '../domain/conversion.ts';
import type { SignatureFacts } from '../domain/event-fields.ts';
import { invalidAt, maySign, signerName } from '../domain/signature.ts';
import { errorMessage } from '../errors/error-message.ts';
import type { TimestampAuthority } from '../log/attestation/port.ts';
import type { Documents, Log } from '../log/log-origin.ts';
import type { Logger } from '../observe/log.ts';
import type { SigningAnswer, SigningRequest } from '../render-queue/messages.ts';
import type { Identity } from '../signing/identity.ts';

type Dependencies = Log &
  Pick<Documents, 'vault'> & {
    readonly logger: Logger;
    /** The certificate of the service, if it has one. */
    readonly seal: Identity | undefined;
    readonly timestampAuthority?: TimestampAuthority;
    /** Ends what is under way. */
    readonly stopping: AbortSignal;
  };

const unsigned = (message: string, retryable = false): SigningAnswer => ({
  kind: 'unsigned',
  message,
  retryable,
});

const REFUSED = unsigned('The PDF could not be signed.');
const CHANGED = unsigned(
  'The certificate for signatures was changed after the request: the PDF shows the name of another signer. Convert again.',
);
const REMOVED =
  'The certificate for signatures was removed after the request. Set one, and convert again.';

const ERASED = unsigned(UNREADABLE);
const DESTROYED = unsigned(REMOVED, true);

/** The handler rejects where the same request may be answered later. */
export function createSigner(deps: Dependencies) {
  const { actors, clock, logger, readModel, runner, seal, stopping, store, vault } = deps;
  const { timestampAuthority } = deps;

  const identityFor = async (
    accountId: string,
    signedBy: 'account' | 'service',
  ): Promise<Identity | SigningAnswer> => {
    if (signedBy === 'service') {
      return seal ?? unsigned('The service has no certificate for signatures any more.');
    }
    const { state } = await actors.read(accountAggregate, accountId);
    if (state.signature === undefined)
      return state.status === 'erased' ? ERASED : unsigned(REMOVED);
    const { certificateId, secret: sealed } = state.signature;
    const secret = await unlessErased(vault.unsealExactly(certificateId ?? accountId, sealed));
    // Ended since: another may have taken its place, which the next try finds.
    if (secret === undefined) return certificateId === undefined ? ERASED : DESTROYED;
    const { identityOfText } = await import('../signing/identity.ts');
    return identityOfText(secret);
  };

  const mayAsk = async (request: SigningRequest): Promise<boolean> => {
    const { state } = await actors.read(conversionAggregate, request.conversionId);
    return isOpen(state) && maySign(state, request);
  };

  /** @returns false where the try may not have it any more */
  const record = async (
    { conversionId, renderer, delivery, digest }: SigningRequest,
    accountId: string,
    facts: SignatureFacts,
  ): Promise<boolean> => {
    const at = clock.now();
    const about = { accountId, conversionId, delivery, digest, ...facts, at };
    const command = { type: 'RecordSignature', ...about } as const;
    const parts = [conversionId, renderer, delivery, 'signature', digest, ...Object.values(facts)];
    const commandId = parts.join('/');
    const actor = { kind: 'renderer', id: renderer } as const;
    const metadata = { correlationId: conversionId, causationId: commandId, actor, time: at };
    const context = { commandId, metadata };
    return (await actors.send(conversionAggregate, conversionId, command, context)).accepted;
  };

  return async (request: SigningRequest): Promise<SigningAnswer> => {
    const { conversionId, renderer, digest } = request;
    const find = () => readModel.query(unfinishedQueries).byId(conversionId);
    let row = find();
    if (row === undefined) {
      await runner.waitFor(await store.head());
      row = find();
    }
    const refuse = (): SigningAnswer => {
      const message = 'a renderer asked for a signature that it may not have';
      logger.info({ conversionId, renderer }, message);
      return REFUSED;
    };
    if (row?.signedBy === undefined || !(await mayAsk(request))) return refuse();
    const identity = await identityFor(row.accountId, row.signedBy);
    if ('kind' in identity) return identity;
    const { signer } = request;
    if (signer !== undefined && signer !== signerName(identity.subject)) return CHANGED;
    const invalid = invalidAt(identity, clock.now());
    if (invalid !== undefined) return unsigned(`The PDF could not be signed. ${invalid}`);
    const { signDigest } = await import('../signing/cms.ts');
    const timestamp =
      timestampAuthority && ((bytes: Buffer) => timestampAuthority.timestamp(bytes, stopping));
    let cms: Buffer;
    try {
      cms = await signDigest(identity, Buffer.from(digest, 'hex'), timestamp);
    } catch (error) {
      // The authority is not to blame: the renderer asks another node, or this one after its start.
      if (stopping.aborted) throw error;
      const reason = errorMessage(error);
      logger.warn({ conversionId, reason }, 'a PDF could not be signed');
      const message = timestampAuthority
        ? `The PDF could not be signed, because the timestamp authority ${timestampAuthority.name} gave no timestamp.`
        : 'The PDF could not be signed.';
      return unsigned(message, true);
    }
    const level = timestamp === undefined ? 'B-B' : 'B-T';
    const facts = { level, certificate: identity.sha256 } as const;
    if (!(await record(request, row.accountId, facts))) return refuse();
    return { kind: 'signed', cms: cms.toString('base64'), facts };
  };
}
