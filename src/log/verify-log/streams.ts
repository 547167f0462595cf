/** The rules of single streams: their names, their revisions, and the types that they hold. */
import type { AccountEvent } from '../../domain/account.ts';
import type { ConversionEvent } from '../../domain/conversion.ts';
import type { EventMetadata } from '../../domain/event-metadata.ts';
import type { DomainEvent, EventType } from '../../domain/events.ts';
import { errorMessage } from '../../errors/error-message.ts';
import { decodeEvent, shapeIssue } from '../../event-store/codec.ts';
import type { RecordedEvent } from '../../event-store/port.ts';
import { Broken } from './difference.ts';

/** The streams that a type's events lie in: what their names begin with, and the field that they end with. */
const STREAMS = {
  log: ['pressledger-log', undefined],
  account: ['account-', 'accountId'],
  conversion: ['conversion-', 'conversionId'],
  batch: ['batch-', 'batchId'],
  apikey: ['apikey-', 'keyId'],
  session: ['session-', 'sessionId'],
  email: ['email-', undefined],
  resetask: ['resetask-', 'address'],
  person: ['person-', 'personId'],
  signins: ['signins-', undefined],
  operators: ['operators', undefined],
  webhooks: ['webhooks-', 'accountId'],
  delivery: ['delivery-', 'deliveryId'],
  mail: ['mail-', 'mailId'],
  templates: ['templates-', 'accountId'],
  signup: ['signup-', 'accountId'],
} as const;
type Kind = keyof typeof STREAMS;

export const KIND_OF: Readonly<Record<EventType, Kind>> = {
  LogOpened: 'log',
  LogRenamed: 'log',
  LogContinued: 'log',
  SigningKeyAdded: 'log',
  CheckpointSigned: 'log',
  CheckpointCosigned: 'log',
  CheckpointTimestamped: 'log',
  MailSwitched: 'log',
  AccountOpened: 'account',
  PlanChanged: 'account',
  RetentionChanged: 'account',
  LowCreditsChanged: 'account',
  PublicNameChanged: 'account',
  CreditGranted: 'account',
  CreditDebited: 'account',
  ConversionRequested: 'account',
  StatementRequested: 'account',
  BatchRequested: 'account',
  CreditRefunded: 'account',
  PasswordChanged: 'account',
  EmailChangeOffered: 'account',
  EmailChanged: 'account',
  SessionsEnded: 'account',
  OperatorGranted: 'account',
  OperatorRevoked: 'account',
  SignatureSet: 'account',
  SignatureRemoved: 'account',
  MemberInvited: 'account',
  InvitationRevoked: 'account',
  MemberJoined: 'account',
  MemberChanged: 'account',
  MemberRemoved: 'account',
  MemberPasswordReset: 'account',
  SignInPolicyChanged: 'account',
  MemberSecondFactorRemoved: 'account',
  PersonRegistered: 'person',
  PersonAddressProven: 'person',
  PersonNamed: 'person',
  PersonResetOffered: 'person',
  IdentityLinked: 'person',
  PersonPasswordChanged: 'person',
  PersonEmailOffered: 'person',
  PersonEmailChanged: 'person',
  PersonMailsChanged: 'person',
  SecondFactorAdded: 'person',
  SecondFactorUsed: 'person',
  SecondFactorRefused: 'person',
  RecoveryCodeUsed: 'person',
  RecoveryCodesRenewed: 'person',
  SecondFactorRemoved: 'person',
  PersonErased: 'person',
  PasskeyAdded: 'person',
  PasskeyRenamed: 'person',
  PasskeyUsed: 'person',
  PasskeyRefused: 'person',
  PasskeyRemoved: 'person',
  SignatureKeyDestroyed: 'account',
  HoldPlaced: 'account',
  HoldReleased: 'account',
  AccountSuspended: 'account',
  AccountResumed: 'account',
  OperatorSetAside: 'operators',
  OperatorRestored: 'operators',
  PasswordResetOffered: 'account',
  AccountInspected: 'account',
  AccountErased: 'account',
  ErasureCompleted: 'account',
  ConversionStarted: 'conversion',
  ConversionRequeued: 'conversion',
  SignatureMade: 'conversion',
  ConversionCompleted: 'conversion',
  ConversionFailed: 'conversion',
  ConversionOutcomeIgnored: 'conversion',
  ConversionDeleted: 'conversion',
  ConversionExpired: 'conversion',
  DocumentDownloaded: 'conversion',
  LinkCreated: 'conversion',
  LinkRevoked: 'conversion',
  BatchCancelled: 'batch',
  BatchEnded: 'batch',
  KeyCreated: 'apikey',
  KeyUsed: 'apikey',
  KeyRevoked: 'apikey',
  SessionOpened: 'session',
  SessionConfirmed: 'session',
  SessionRevoked: 'session',
  EmailReserved: 'email',
  PasswordResetAsked: 'resetask',
  PasswordResetAnswered: 'resetask',
  SignInRefused: 'signins',
  UnknownSignInRefused: 'signins',
  SignInsLeftOut: 'signins',
  WebhookCreated: 'webhooks',
  WebhookChanged: 'webhooks',
  WebhookSecretRotated: 'webhooks',
  WebhookDisabled: 'webhooks',
  WebhookDeleted: 'webhooks',
  WebhookTested: 'webhooks',
  RedeliveriesRequested: 'webhooks',
  DeliveryAttempted: 'delivery',
  RedeliveryRequested: 'delivery',
  SignUpOffered: 'signup',
  SignUpEnded: 'signup',
  MailSent: 'mail',
  MailFailed: 'mail',
  TemplateCreated: 'templates',
  TemplateVersionSaved: 'templates',
  TemplateRenamed: 'templates',
  TemplateDeleted: 'templates',
};

/** The only type that a stream may begin with. A conversion begins in its account's stream. */
const FIRST: Readonly<Partial<Record<Kind, EventType>>> = {
  log: 'LogOpened',
  account: 'AccountOpened',
  apikey: 'KeyCreated',
  session: 'SessionOpened',
};
/** Types that nothing may follow in their stream. */
const LAST: ReadonlySet<EventType> = new Set(['KeyRevoked', 'SessionRevoked', 'PersonErased']);

export const isOfAccount = (event: DomainEvent): event is AccountEvent =>
  KIND_OF[event.type] === 'account';
export const isOfConversion = (event: DomainEvent): event is ConversionEvent =>
  KIND_OF[event.type] === 'conversion';

/** The place that a stream has reached. */
export interface StreamEnd {
  /** The revision of its last event; -1 before the first. */
  revision: number;
  /** Nothing may follow. */
  isOver?: true;
}

/**
 * The event as this release reads it.
 * @throws {Broken} it is not one
 */
export function decoded(event: RecordedEvent): DomainEvent {
  const { schemaVersion, time } = { ...event.metadata } as Partial<EventMetadata>;
  if (!isCount(schemaVersion) || schemaVersion < 1 || !isCount(time)) {
    throw new Broken('metadata with a time and a schema version', JSON.stringify(event.metadata));
  }
  try {
    const domainEvent = decodeEvent(event);
    const issue = shapeIssue(domainEvent);
    if (issue === undefined) return domainEvent;
    throw new Broken(`the data of a ${event.type}`, `other data: ${issue}`);
  } catch (error) {
    if (error instanceof Broken) throw error;
    throw new Broken('an event that this release knows', errorMessage(error));
  }
}

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;

/**
 * Checks that the event is the next one of its stream, and belongs there.
 * @param end of the stream before it; after it when this returns
 * @throws {Broken}
 */
export function checkStream(
  { stream, revision }: RecordedEvent,
  { type, data }: DomainEvent,
  end: StreamEnd,
): void {
  if (revision !== end.revision + 1) {
    throw new Broken(`revision ${end.revision + 1} of ${stream}`, `revision ${revision}`);
  }
  const kind = KIND_OF[type];
  const [prefix, field] = STREAMS[kind];
  const id = field === undefined ? '' : (data as Readonly<Record<string, unknown>>)[field];
  const isThere =
    field === undefined && kind !== 'log'
      ? stream.startsWith(prefix)
      : stream === `${prefix}${String(id)}`;
  if (!isThere)
    throw new Broken(`a ${type} of the stream ${prefix}${String(id)}`, `one in ${stream}`);
  const first = FIRST[kind];
  if (first !== undefined && (end.revision === -1) !== (type === first)) {
    throw new Broken(`${first} first in ${stream}, and once`, type);
  }
  if (end.isOver) throw new Broken(`nothing more in ${stream}`, type);
  end.revision = revision;
  if (LAST.has(type)) end.isOver = true;
}
