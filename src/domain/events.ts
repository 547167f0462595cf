/**
 * Every event there is. A stored event is a storage format: it is never edited in place. A new optional
 * field may be added; its comment says what its absence means. For any other change, count
 * `schemaVersion` up and add an upcaster.
 *
 * Fields of type `Sealed` are personal: encrypted with their account's data key before they get here.
 */
import Type, { type Static } from 'typebox';
import { FAILURE_CODES } from './choices.ts';
import {
  AccountId,
  BatchId,
  BlobRef,
  ConversionId,
  Count,
  KeyId,
  KeyRights,
  LinkId,
  maximum,
  PdfDigest,
  PdfFacts,
  PersonId,
  Plan,
  PrintOptions,
  RenderTimings,
  RequestFacts,
  Sealed,
  Sha256,
  Source,
  Time,
} from './event-fields.ts';
import { LOG_EVENT_SCHEMAS } from './log-events.ts';
import { MAIL_EVENT_SCHEMAS } from './mail-events.ts';
import { AddressProof, MEMBER_EVENT_SCHEMAS } from './member-events.ts';
import { OPERATOR_EVENT_SCHEMAS } from './operator-events.ts';
import { PASSKEY_EVENT_SCHEMAS } from './passkey-events.ts';
import { SIGN_IN_EVENT_SCHEMAS } from './sign-in-events.ts';
import { SIGNATURE_EVENT_SCHEMAS } from './signature-events.ts';
import { TEMPLATE_EVENT_SCHEMAS } from './template-events.ts';
import { WEBHOOK_EVENT_SCHEMAS } from './webhook-events.ts';

/** Both or neither: the API key whose monthly limit a debit counts in, and when it was taken. */
const LIMITED_KEY = { keyId: Type.Optional(KeyId), debitedAt: Type.Optional(Time) };

/** Data schema of every event type, by name. */
export const EVENT_SCHEMAS = {
  ...LOG_EVENT_SCHEMAS,

  AccountOpened: Type.Object({
    accountId: AccountId,
    email: Sealed,
    plan: Plan,
    passwordHash: Sealed,
    /** Absent: an operator opened it, as all were before there was anything else. */
    provenBy: Type.Optional(AddressProof),
    /** The first start printed the password: the account acts as an operator only after another was set. */
    mustChangePassword: Type.Optional(Type.Literal(true)),
  }),
  PlanChanged: Type.Object({ accountId: AccountId, plan: Plan }),
  /** Conversions that are requested from then on are kept so long at most; absent: as long as the service keeps them. */
  RetentionChanged: Type.Object({
    accountId: AccountId,
    retentionSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum })),
  }),
  /** The name that the account has itself called by to strangers who check a PDF of it; absent: none any more. */
  PublicNameChanged: Type.Object({ accountId: AccountId, name: Type.Optional(Sealed) }),
  CreditGranted: Type.Object({
    accountId: AccountId,
    amount: Count,
    /** Both or neither: HMAC-SHA-256 of the operator's Idempotency-Key, hex, and when it came. */
    idempotencyKey: Type.Optional(Sha256),
    grantedAt: Type.Optional(Time),
    /** The month in UTC that its plan gave it for; absent: an operator did, or the opening of the account. */
    month: Type.Optional(Type.String({ pattern: '^[0-9]{4}-[0-9]{2}$' })),
  }),
  CreditDebited: Type.Object({
    accountId: AccountId,
    conversionId: ConversionId,
    amount: Count,
    ...LIMITED_KEY,
  }),
  ConversionRequested: Type.Object({
    accountId: AccountId,
    conversionId: ConversionId,
    source: Source,
    request: BlobRef,
    /** HMAC-SHA-256 of the request, hex, with a key of its conversion: no guess can be tested against it. */
    requestHmac: Sha256,
    options: PrintOptions,
    ...RequestFacts.properties,
    requestedAt: Time,
    /** It has no debit before it, and gets no refund: it costs nothing. */
    unpaid: Type.Optional(Type.Literal(true)),
    /** It was asked for with a test key: what is made shows that it is a test. Absent: it is not one. */
    isTest: Type.Optional(Type.Literal(true)),
    /** HMAC-SHA-256 of the client's Idempotency-Key, hex. */
    idempotencyKey: Type.Optional(Sha256),
  }),
  /** The debits, if any, and requests of all its conversions follow it, in one append. */
  BatchRequested: Type.Object({
    accountId: AccountId,
    batchId: BatchId,
    /** The number of its conversions. */
    total: Count,
    reference: RequestFacts.properties.reference,
    tags: RequestFacts.properties.tags,
    webhookUrl: RequestFacts.properties.webhookUrl,
    requestedAt: Time,
    /** All its conversions are. */
    unpaid: Type.Optional(Type.Literal(true)),
    /** HMAC-SHA-256 of the client's Idempotency-Key, hex. */
    idempotencyKey: Type.Optional(Sha256),
  }),
  CreditRefunded: Type.Object({
    accountId: AccountId,
    conversionId: ConversionId,
    amount: Count,
    /** Position of the ConversionFailed event that it answers, in decimal. */
    failedAt: Type.String({ pattern: '^[0-9]{1,20}$' }),
    /** As in its debit. */
    ...LIMITED_KEY,
  }),
  /** It ends all sessions, too. */
  PasswordChanged: Type.Object({
    accountId: AccountId,
    passwordHash: Sealed,
    /** Somebody set it with a link, which was mailed to them or which an operator had made. */
    byLink: Type.Optional(Type.Literal(true)),
  }),
  /** Without a person: those of all who belong to the account. */
  SessionsEnded: Type.Object({ accountId: AccountId, personId: Type.Optional(PersonId) }),
  ...OPERATOR_EVENT_SCHEMAS,
  /** It ends all sessions and keys, too. What is left to do is due from then on. */
  AccountErased: Type.Object({ accountId: AccountId }),
  /** The account's data key is destroyed, its documents are deleted, and nothing of it is under way. */
  ErasureCompleted: Type.Object({ accountId: AccountId }),

  ConversionStarted: Type.Object({
    accountId: AccountId,
    conversionId: ConversionId,
    renderer: Type.String(),
    /** Names the delivery of its job that this try is. */
    delivery: Type.String(),
    attempt: Count,
    startedAt: Time,
  }),
  /** The renderer gave the conversion back, because it stops or cannot read it: that start does not count as a try any more. */
  ConversionRequeued: Type.Object({
    accountId: AccountId,
    conversionId: ConversionId,
    renderer: Type.String(),
    attempt: Count,
    requeuedAt: Time,
  }),
  ConversionCompleted: Type.Object({
    accountId: AccountId,
    conversionId: ConversionId,
    renderer: Type.String(),
    attempt: Count,
    document: BlobRef,
    pdf: PdfDigest,
    pages: Count,
    timings: RenderTimings,
    chrome: Type.String(),
    /** A `RenderManifest`: it goes with the PDF, its hash stays. */
    manifest: BlobRef,
    ...PdfFacts.properties,
    completedAt: Time,
  }),
  ConversionFailed: Type.Object({
    accountId: AccountId,
    conversionId: ConversionId,
    code: Type.Enum([...FAILURE_CODES]),
    /** The text that the client reads. It may quote the request: a selector, a host. */
    message: Sealed,
    /** A picture of the page at that moment, a JPEG; absent where none was taken. */
    picture: Type.Optional(BlobRef),
    /** The node that reported it, or `service` where the service itself gave up. */
    renderer: Type.String(),
    attempt: Count,
    failedAt: Time,
  }),
  /** An outcome that came after the end: it changed nothing. At most ten are recorded. */
  ConversionOutcomeIgnored: Type.Object({
    accountId: AccountId,
    conversionId: ConversionId,
    renderer: Type.String(),
    attempt: Count,
    outcome: Type.Enum(['completed', 'failed']),
  }),
  /** Its account asked for the deletion of its blobs, and it had ended. `ConversionExpired` says that they are deleted. */
  ConversionDeleted: Type.Object({
    accountId: AccountId,
    conversionId: ConversionId,
    deletedAt: Time,
    /** Its request asked for it, once the PDF was downloaded: it has been. */
    afterDownload: Type.Optional(Type.Literal(true)),
  }),
  /** All its blobs were deleted: as was asked for, or at the end of the retention. */
  ConversionExpired: Type.Object({
    accountId: AccountId,
    conversionId: ConversionId,
    expiredAt: Time,
  }),
  /** The PDF was sent. One is recorded for each network and minute, and 100 of a conversion. */
  DocumentDownloaded: Type.Object({
    accountId: AccountId,
    conversionId: ConversionId,
    /** SHA-256 of the secret in the link, hex; absent where a key or a session asked. */
    link: Type.Optional(Sha256),
    /** HMAC of the client's network, hex: an IPv4 address or an IPv6 /64. */
    network: Sha256,
    downloadedAt: Time,
    /** Further downloads are not recorded. */
    isLast: Type.Optional(Type.Literal(true)),
  }),
  /** Anybody with the link can download the file until then. */
  LinkCreated: Type.Object({
    accountId: AccountId,
    conversionId: ConversionId,
    linkId: LinkId,
    /** SHA-256 of the secret in the link, hex: what `DocumentDownloaded` has as `link`. */
    linkHash: Sha256,
    createdAt: Time,
    expiresAt: Time,
  }),
  LinkRevoked: Type.Object({
    accountId: AccountId,
    conversionId: ConversionId,
    linkId: LinkId,
    revokedAt: Time,
  }),

  /** What had not ended is cancelled from then on. */
  BatchCancelled: Type.Object({
    accountId: AccountId,
    batchId: BatchId,
    /** The text that each cancelled conversion fails with. */
    message: Sealed,
    cancelledAt: Time,
  }),
  /** All conversions of the batch have ended. */
  BatchEnded: Type.Object({
    accountId: AccountId,
    batchId: BatchId,
    total: Count,
    completed: Type.Integer({ minimum: 0, maximum }),
    /** It counts those that were cancelled, too. */
    failed: Type.Integer({ minimum: 0, maximum }),
    cancelled: Type.Optional(Type.Literal(true)),
    endedAt: Time,
  }),

  KeyCreated: Type.Object({
    accountId: AccountId,
    keyId: KeyId,
    /** SHA-256 of the full key, hex. */
    keyHash: Sha256,
    prefix: Type.String({ minLength: 12, maxLength: 12 }),
    name: Sealed,
    ...KeyRights.properties,
    createdAt: Time,
    /** The member who made it; absent: the person who the account was opened for. */
    createdBy: Type.Optional(PersonId),
    /** Tells the maker's membership from earlier ones: the account's session epoch when it began; absent: 0. */
    memberSince: Type.Optional(Type.Integer({ minimum: 0, maximum })),
  }),
  KeyUsed: Type.Object({ accountId: AccountId, keyId: KeyId, usedAt: Time }),
  KeyRevoked: Type.Object({ accountId: AccountId, keyId: KeyId }),

  ...SIGN_IN_EVENT_SCHEMAS,
  ...MAIL_EVENT_SCHEMAS,
  ...MEMBER_EVENT_SCHEMAS,
  ...PASSKEY_EVENT_SCHEMAS,
  ...SIGNATURE_EVENT_SCHEMAS,
  ...TEMPLATE_EVENT_SCHEMAS,
  ...WEBHOOK_EVENT_SCHEMAS,
} as const;

export type EventType = keyof typeof EVENT_SCHEMAS;
export const EVENT_TYPES = Object.keys(EVENT_SCHEMAS) as readonly EventType[];

/** An event of the given types, as deciders see it. */
export type EventOf<T extends EventType> = {
  [K in T]: { readonly type: K; readonly data: Readonly<Static<(typeof EVENT_SCHEMAS)[K]>> };
}[T];

export type DomainEvent = EventOf<EventType>;

/**
 * The version that new events are written with. Since version 2, requests lack what `stored-form.ts` leaves out; since
 * version 3, `byMail` of an invitation says that nobody but the addressee got the link. It also stands for the other stored forms: a release that stores keys or documents in a new one counts it up, so that an older
 * release stops at the log (`refuseNewerLog`).
 */
export const SCHEMA_VERSION = 3;

type Upcaster = (data: object) => object;
/**
 * Lifts the data of an older event, one version at a time: `UPCASTERS[type][n]` takes version n to
 * n + 1. `restored` reads requests of all versions.
 */
export const UPCASTERS: Partial<Record<EventType, Readonly<Record<number, Upcaster>>>> = {
  // Whoever invited got the link, too.
  MemberInvited: {
    2: (data) => Object.fromEntries(Object.entries(data).filter(([name]) => name !== 'byMail')),
  },
};
