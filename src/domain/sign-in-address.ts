/**
 * Another address to sign in with: it is offered first, and holds once the link is used that was sent there. As with
 * passwords, the account's stream decides for its founder, and the person's own stream for others.
 */
import type { AddressProof } from './choices.ts';
import type { EmailState } from './email.ts';
import type { Rejection } from './decider.ts';
import { isoDate } from './iso-date.ts';

/** The time that the link is valid. */
export const ADDRESS_LINK_MS = 60 * 60 * 1000;
/** An address that was reserved for a change is kept so long after its link: clocks differ, and requests take time. */
const MARGIN_MS = 10 * 60 * 1000;

export interface AddressOffer {
  /** Sealed. */
  readonly email: string;
  /** HMAC of it, hex. */
  readonly addressHash: string;
  /** SHA-256 of the token in the link, hex. */
  readonly tokenHash: string;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

export interface SignInAddress {
  /** HMAC of the address, hex; undefined: it is the first one. */
  readonly addressHash: string | undefined;
  readonly addressOffer: AddressOffer | undefined;
}

export const firstAddress: SignInAddress = { addressHash: undefined, addressOffer: undefined };

export interface OfferedAddress extends AddressOffer {
  /** The service sends the link to the address; else an operator vouches for it. */
  readonly byMail: boolean;
  /** The session epoch from before the person proved who they are. Sessions that end meanwhile, or a new password, change it. */
  readonly epoch: number;
}

/** What the event of an offered address says. */
export const offerAddress = ({
  email,
  addressHash,
  tokenHash,
  expiresAt,
  byMail,
}: OfferedAddress) => ({
  email,
  addressHash,
  tokenHash,
  expiresAt,
  ...(byMail && { byMail: true as const }),
});

export const offeredAddress = ({ email, addressHash, tokenHash, expiresAt }: AddressOffer) => ({
  addressOffer: { email, addressHash, tokenHash, expiresAt },
});

/** The link, as it is used. */
export interface UsedLink {
  readonly tokenHash: string;
  /** The address until then, sealed with the key of the person. */
  readonly formerEmail: string;
  readonly provenBy: AddressProof;
  readonly now: number;
}

export const isAddressOffered = (
  { addressOffer }: SignInAddress,
  tokenHash: string,
  now: number,
): boolean => addressOffer?.tokenHash === tokenHash && now < addressOffer.expiresAt;

/** What the event of a changed address says, or why the link changes nothing. */
export function changeAddress(
  state: SignInAddress,
  { tokenHash, formerEmail, provenBy, now }: UsedLink,
):
  | Rejection
  | (Pick<AddressOffer, 'email' | 'addressHash'> & Pick<UsedLink, 'formerEmail' | 'provenBy'>) {
  const { addressOffer } = state;
  if (addressOffer === undefined || !isAddressOffered(state, tokenHash, now)) {
    return { rejected: 'gone', message: ADDRESS_LINK_GONE };
  }
  const { email, addressHash } = addressOffer;
  return { email, addressHash, formerEmail, provenBy };
}

/** The same for a link that was never made, and for an address that somebody else has: nobody learns which there are. */
export const ADDRESS_LINK_GONE =
  'The link does not change the address any more: it was used, another one was made, its time is over, or the address cannot be used. Ask for another.';

export const SESSION_ENDED: Rejection = {
  rejected: 'unauthorized',
  message: 'The session has ended. Sign in again.',
};

/**
 * True if the holder of the address signs in with it. What was reserved for a change is held once the change has
 * happened, and the first address until then.
 */
export const signsInWith = (
  { addressHash: own }: Pick<SignInAddress, 'addressHash'>,
  { isForChange }: Pick<EmailState, 'isForChange'>,
  addressHash: string,
): boolean => (own === undefined ? !isForChange : own === addressHash);

/** True if the holder signs in with the address, or has reserved it for a change by a link that may be used yet. */
export const keepsAddress = (
  holder: SignInAddress,
  reserved: Pick<EmailState, 'isForChange'>,
  addressHash: string,
  now: number,
): boolean => {
  const { addressOffer: offer } = holder;
  if (signsInWith(holder, reserved, addressHash)) return true;
  if (!reserved.isForChange || offer?.addressHash !== addressHash) return false;
  return now < offer.expiresAt + MARGIN_MS;
};

export const addressOfferText = ({ byMail, expiresAt }: { byMail?: true; expiresAt: number }) =>
  byMail
    ? `A person asked to sign in with another address. A link is sent there, which is valid until ${isoDate(expiresAt)}.`
    : 'A person asked to sign in with another address.';

export const addressChangeText = (): string =>
  'A person signs in with another address from now on, and all their sessions have ended.';
