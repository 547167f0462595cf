/** Events of the certificate that an account signs its PDFs with. They are a storage format, as those in `events.ts`. */
import Type from 'typebox';
import { AccountId, Sealed, Sha256, Time } from './event-fields.ts';

export const SIGNATURE_EVENT_SCHEMAS = {
  /** It takes the place of an earlier one. */
  SignatureSet: Type.Object({
    accountId: AccountId,
    /** The private key and the certificates, as `signing/identity.ts` writes them. */
    secret: Sealed,
    /** Distinguished names of the certificate. */
    subject: Sealed,
    issuer: Sealed,
    notBefore: Time,
    notAfter: Time,
    /** SHA-256 of the certificate, hex. */
    certificate: Sha256,
    setAt: Time,
  }),
  SignatureRemoved: Type.Object({ accountId: AccountId, removedAt: Time }),
} as const;
