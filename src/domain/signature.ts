/** Signatures of PDFs, and the certificate that an account signs them with. */
import type { Decision } from './decider.ts';
import type { SignatureFacts } from './event-fields.ts';
import type { EventOf } from './events.ts';

/** Texts are sealed. */
export type AccountSignature = Omit<EventOf<'SignatureSet'>['data'], 'accountId' | 'setAt'>;

/** The time in which a certificate is valid, in milliseconds since the epoch. */
export type Certificate = Pick<AccountSignature, 'notBefore' | 'notAfter'>;

export interface SetSignature {
  readonly type: 'SetSignature';
  readonly signature: AccountSignature;
  readonly now: number;
}
export interface RemoveSignature {
  readonly type: 'RemoveSignature';
  readonly now: number;
}
export interface RecordKeyDestroyed {
  readonly type: 'RecordKeyDestroyed';
  readonly certificateId: string;
}

/** The part of an account that is about its certificates. */
export interface AccountSigning {
  readonly signature: AccountSignature | undefined;
  /** Certificates that sign no more, and whose data keys are not destroyed yet. */
  readonly endedCertificates: readonly string[];
}

const day = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The reason why nothing can be signed with a certificate at that time, if any. */
export function invalidAt({ notBefore, notAfter }: Certificate, now: number): string | undefined {
  if (now > notAfter) return `The certificate expired on ${day(notAfter)}.`;
  return now < notBefore ? `The certificate is not valid before ${day(notBefore)}.` : undefined;
}

/** A pair of a distinguished name, in whose values commas and plus signs are escaped (RFC 2253). */
const PAIR = /\s*([^=]+)=((?:\\.|[^\\,+])*)(,|\+|$)/gsuy;
const ESCAPED = /\\(?:([0-9A-Fa-f]{2})|(.))/gsu;

/** The common name in the subject of a certificate; all of the subject where it has none. */
export function signerName(subject: string): string {
  for (const [, type, value = '', end] of subject.matchAll(PAIR)) {
    // Pairs of one part are joined by a plus sign between spaces.
    const escaped = end === '+' ? value.replace(/ $/, '') : value;
    if (type !== 'CN' || escaped === '') continue;
    return escaped.replaceAll(ESCAPED, (_, hex: string | undefined, character: string) =>
      hex === undefined ? character : String.fromCharCode(Number.parseInt(hex, 16)),
    );
  }
  return subject;
}

export type SigningCommand = SetSignature | RemoveSignature | RecordKeyDestroyed;
export type SigningEventType = 'SignatureSet' | 'SignatureRemoved' | 'SignatureKeyDestroyed';
type SigningEvent = EventOf<SigningEventType>;

export const NO_SIGNATURE = 'The account has no certificate for signatures.';

/** The state in which nothing signs any more. */
export const endSigning = ({ signature, endedCertificates }: AccountSigning): AccountSigning => {
  const { certificateId } = signature ?? {};
  const ended = certificateId === undefined ? [] : [certificateId];
  return { signature: undefined, endedCertificates: [...endedCertificates, ...ended] };
};

export function evolveSigning(state: AccountSigning, event: SigningEvent): AccountSigning {
  switch (event.type) {
    case 'SignatureSet': {
      const { accountId: _, setAt: __, ...signature } = event.data;
      return { ...endSigning(state), signature };
    }
    case 'SignatureRemoved':
      return endSigning(state);
    case 'SignatureKeyDestroyed': {
      const { certificateId } = event.data;
      const left = state.endedCertificates.filter((each) => each !== certificateId);
      return { signature: state.signature, endedCertificates: left };
    }
  }
}

export function changeSignature(
  { signature: present, endedCertificates }: AccountSigning,
  command: SigningCommand & { readonly accountId: string },
): Decision<SigningEvent> {
  const { accountId } = command;
  switch (command.type) {
    case 'SetSignature': {
      const { signature, now: setAt } = command;
      return [{ type: 'SignatureSet', data: { accountId, ...signature, setAt } }];
    }
    case 'RemoveSignature':
      if (present === undefined) return { rejected: 'not_found', message: NO_SIGNATURE };
      return [{ type: 'SignatureRemoved', data: { accountId, removedAt: command.now } }];
    case 'RecordKeyDestroyed': {
      const { certificateId } = command;
      if (!endedCertificates.includes(certificateId)) return [];
      return [{ type: 'SignatureKeyDestroyed', data: { accountId, certificateId } }];
    }
  }
}

/** A signature that the service made for a try. */
export type MadeSignature = SignatureFacts & {
  /** The delivery that the try is. */
  readonly delivery: string;
  readonly digest: string;
};

export interface RecordSignature extends MadeSignature {
  readonly type: 'RecordSignature';
}

/** The signatures of a conversion, in order, and the deliveries of its tries that count. */
interface Signing {
  readonly signatures: readonly MadeSignature[];
  readonly tries: readonly string[];
}

export const madeSignature = ({
  delivery,
  digest,
  level,
  certificate,
}: MadeSignature): MadeSignature => ({ delivery, digest, level, certificate });

/** A try under way may have one hash signed, as often as it asks. */
export const maySign = (
  { signatures, tries }: Signing,
  { delivery, digest }: Pick<MadeSignature, 'delivery' | 'digest'>,
): boolean =>
  tries.includes(delivery) &&
  signatures.every((made) => made.delivery !== delivery || made.digest === digest);

export const isSameSignature = (one: SignatureFacts, other: SignatureFacts): boolean =>
  one.level === other.level && one.certificate === other.certificate;

/** The same hash is recorded again where another certificate signs it. */
export function recordSignature(
  command: RecordSignature & {
    readonly accountId: string;
    readonly conversionId: string;
    readonly at: number;
  },
  signing: Signing,
): Decision<EventOf<'SignatureMade'>> {
  const { accountId, conversionId, delivery, at: madeAt } = command;
  if (!maySign(signing, command)) return { rejected: 'forbidden' };
  const isKnown = signing.signatures.some(
    (made) => made.delivery === delivery && isSameSignature(made, command),
  );
  if (isKnown) return [];
  const attempt = signing.tries.indexOf(delivery) + 1;
  const data = { accountId, conversionId, attempt, ...madeSignature(command), madeAt };
  return [{ type: 'SignatureMade', data }];
}
