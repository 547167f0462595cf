/** The certificate that an account signs its PDFs with. */
import type { Decision } from './decider.ts';
import type { EventOf } from './events.ts';

/** Texts are sealed. */
export type AccountSignature = Omit<EventOf<'SignatureSet'>['data'], 'accountId' | 'setAt'>;

export interface SetSignature {
  readonly type: 'SetSignature';
  readonly signature: AccountSignature;
  readonly now: number;
}
export interface RemoveSignature {
  readonly type: 'RemoveSignature';
  readonly now: number;
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
