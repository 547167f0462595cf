/** Events and those who caused them, in words. */
import type { components } from '../../api/schema.d.ts';

type Entry = components['schemas']['HistoryEntry'];
type Actor = Entry['actor'];
type EventType = Entry['type'];

/** ConversionRequested → Conversion requested. */
export function typeText(type: string): string {
  if (type === 'SignInsLeftOut') return 'Refused sign-ins, not listed one by one';
  const words = type.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const ACTOR_KINDS = {
  key: 'An API key',
  session: 'A person who is signed in',
  account: 'A person with the password',
  renderer: 'A renderer',
  operator: 'The operator of the service',
  service: 'The service itself',
  anonymous: 'Somebody who is not signed in',
} as const satisfies Record<Actor['kind'], string>;

/** The member who acted, with the role of that time; older events name none. */
export const memberText = ({ name, role }: Actor): string | undefined =>
  name === undefined ? undefined : `${name}${role === undefined ? '' : ` (${role})`}`;

/**
 * Names those who have a name that says something; the ids of others are of no use to a person.
 * @param name that of the key
 */
export function actorText(actor: Actor, name = actor.id): string {
  const { kind, id } = actor;
  const who = memberText(actor);
  if (kind === 'renderer' && id !== undefined) return `Renderer ${id.replace(/^renderer-/, '')}`;
  if (kind === 'key' && id !== undefined) {
    return `The API key ${name}${who === undefined ? '' : ` of ${who}`}`;
  }
  return who ?? ACTOR_KINDS[kind];
}

/** True for events of an account that can sign in, by the order of its life; the others are of the log. */
const IS_OF_ACCOUNT: Readonly<Record<EventType, boolean>> = {
  SignUpOffered: true,
  SignUpEnded: true,
  AccountOpened: true,
  EmailReserved: true,
  PlanChanged: true,
  RetentionChanged: true,
  LowCreditsChanged: true,
  PublicNameChanged: true,
  OperatorGranted: true,
  OperatorRevoked: true,
  CreditGranted: true,
  CreditDebited: true,
  CreditRefunded: true,
  BatchRequested: true,
  ConversionRequested: true,
  StatementRequested: true,
  ConversionStarted: true,
  ConversionRequeued: true,
  SignatureMade: true,
  ConversionCompleted: true,
  ConversionFailed: true,
  ConversionOutcomeIgnored: true,
  ConversionDeleted: true,
  ConversionExpired: true,
  DocumentDownloaded: true,
  BatchCancelled: true,
  BatchEnded: true,
  KeyCreated: true,
  KeyUsed: true,
  KeyRevoked: true,
  SessionOpened: true,
  SessionConfirmed: true,
  SessionRevoked: true,
  SessionsEnded: true,
  PasswordChanged: true,
  MemberInvited: true,
  InvitationRevoked: true,
  MemberJoined: true,
  MemberChanged: true,
  MemberRemoved: true,
  MemberPasswordReset: true,
  PersonResetOffered: false,
  SignInPolicyChanged: true,
  MemberSecondFactorRemoved: true,
  PersonRegistered: true,
  PasskeyAdded: true,
  PasskeyRenamed: true,
  PasskeyUsed: true,
  PasskeyRefused: true,
  PasskeyRemoved: true,
  PersonNamed: true,
  IdentityLinked: true,
  PersonMailsChanged: true,
  PersonPasswordChanged: true,
  SecondFactorAdded: true,
  SecondFactorUsed: true,
  RecoveryCodeUsed: true,
  RecoveryCodesRenewed: true,
  SecondFactorRemoved: true,
  PersonErased: true,
  SignatureSet: true,
  SignatureRemoved: true,
  SignatureKeyDestroyed: true,
  SignInRefused: true,
  SignInsLeftOut: true,
  WebhookCreated: true,
  WebhookChanged: true,
  WebhookSecretRotated: true,
  WebhookDisabled: true,
  WebhookDeleted: true,
  WebhookTested: true,
  RedeliveriesRequested: true,
  DeliveryAttempted: true,
  RedeliveryRequested: true,
  MailSent: true,
  MailFailed: true,
  TemplateCreated: true,
  TemplateVersionSaved: true,
  TemplateRenamed: true,
  TemplateDeleted: true,
  HoldPlaced: true,
  HoldReleased: true,
  AccountSuspended: true,
  AccountResumed: true,
  OperatorSetAside: true,
  OperatorRestored: true,
  PasswordResetOffered: true,
  AccountInspected: true,
  AccountErased: false,
  ErasureCompleted: false,
  UnknownSignInRefused: false,
  LogOpened: false,
  LogRenamed: false,
  LogContinued: false,
  SigningKeyAdded: false,
  CheckpointSigned: false,
  CheckpointCosigned: false,
  CheckpointTimestamped: false,
  MailSwitched: false,
};

export const EVENT_TYPES: readonly EventType[] = (Object.keys(IS_OF_ACCOUNT) as EventType[]).filter(
  (type) => IS_OF_ACCOUNT[type],
);
