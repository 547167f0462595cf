import type { EventOf } from '../../domain/events.ts';
import { isSameSignature } from '../../domain/signature.ts';
import { Broken } from './difference.ts';
import type { Account, Conversion } from './states.ts';

/** The key of a certificate is destroyed when that signs no more, and once. @throws {Broken} */
export function checkDestroyed(
  { state }: Account,
  { certificateId }: EventOf<'SignatureKeyDestroyed'>['data'],
): void {
  if (state.endedCertificates.includes(certificateId)) return;
  const found = state.signature?.certificateId === certificateId ? 'the one that signs' : 'another';
  throw new Broken('a certificate that signs no more, and whose key was there', found);
}

/**
 * Each try has one hash signed, if its request asks for that.
 * @param tries that count until then
 * @throws {Broken}
 */
export function checkMade(
  known: Conversion,
  made: EventOf<'SignatureMade'>['data'],
  tries: number,
): void {
  const { end, isToBeSigned, signatures = [] } = known;
  if (end !== undefined) throw new Broken(`nothing after ${end.type}`, 'SignatureMade');
  if (!isToBeSigned) throw new Broken('a request that asks for a signature', 'one that does not');
  if (made.attempt > tries) {
    throw new Broken(`a signature for one of ${tries} tries`, `one for attempt ${made.attempt}`);
  }
  const isSecond = signatures.some(
    ({ delivery, digest }) => delivery === made.delivery && digest !== made.digest,
  );
  if (isSecond) throw new Broken('one hash that was signed for each try', 'another one');
  known.signatures = [...signatures, made];
}

/**
 * A PDF has a signature exactly where its request asks for one, and it is one that was made for its try.
 * @throws {Broken}
 */
export function checkSigned(
  known: Conversion,
  { attempt, signature }: EventOf<'ConversionCompleted'>['data'],
): void {
  const { isToBeSigned, signatures = [] } = known;
  if (!isToBeSigned && signature === undefined) return;
  if (!isToBeSigned) throw new Broken('no signature: its request asks for none', 'one');
  if (signature === undefined) throw new Broken('the signature that its request asks for', 'none');
  const isMade = signatures.some(
    (made) => made.attempt === attempt && isSameSignature(made, signature),
  );
  if (!isMade) throw new Broken(`the signature made for attempt ${attempt}`, 'another one');
  delete known.signatures;
}
