/** The certificate that an account signs its PDFs with. */
import type { Decision } from './decider.ts';
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

const day = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The reason why nothing can be signed with a certificate at that time, if any. */
export function invalidAt({ notBefore, notAfter }: Certificate, now: number): string | undefined {
  if (now > notAfter) return `The certificate expired on ${day(notAfter)}.`;
  return now < notBefore ? `The certificate is not valid before ${day(notBefore)}.` : undefined;
}

type Of<Command> = Command & { readonly accountId: string };

export const NO_SIGNATURE = 'The account has no certificate for signatures.';

export const signatureIn = ({ data }: EventOf<'SignatureSet'>): AccountSignature => {
  const { accountId: _, setAt: __, ...signature } = data;
  return signature;
};

export function changeSignature(
  present: AccountSignature | undefined,
  command: Of<SetSignature> | Of<RemoveSignature>,
): Decision<EventOf<'SignatureSet' | 'SignatureRemoved'>> {
  const { accountId, now } = command;
  if (command.type === 'SetSignature') {
    return [{ type: 'SignatureSet', data: { accountId, ...command.signature, setAt: now } }];
  }
  if (present === undefined) return { rejected: 'not_found', message: NO_SIGNATURE };
  return [{ type: 'SignatureRemoved', data: { accountId, removedAt: now } }];
}
