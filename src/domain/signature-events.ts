/** Events of signatures, and of the certificate that an account signs its PDFs with. They are a storage format, as those in `events.ts`. */
import Type from 'typebox';
import {
  AccountId,
  CertificateId,
  ConversionId,
  Count,
  Sealed,
  Sha256,
  SignatureFacts,
  Time,
} from './event-fields.ts';

export const SIGNATURE_EVENT_SCHEMAS = {
  /** It takes the place of an earlier one. */
  SignatureSet: Type.Object({
    accountId: AccountId,
    /** Has the data key that `secret` is sealed with; absent: the account's key seals it, as all else. */
    certificateId: Type.Optional(CertificateId),
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
  /** The certificate signs no more: another took its place, or it or its account ended. Its data key is destroyed. */
  SignatureKeyDestroyed: Type.Object({ accountId: AccountId, certificateId: CertificateId }),
  /** The service signed for a try of a conversion. It is stored before the renderer gets the signature. */
  SignatureMade: Type.Object({
    accountId: AccountId,
    conversionId: ConversionId,
    attempt: Count,
    /** Names the delivery of its job that the try is. */
    delivery: Type.String(),
    /** SHA-256 of what was signed, hex. */
    digest: Sha256,
    ...SignatureFacts.properties,
    madeAt: Time,
  }),
} as const;
