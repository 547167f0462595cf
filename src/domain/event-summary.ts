/** An event in one sentence, for people. It quotes nothing personal. */
import { provenText } from './address-proof.ts';
import type { SignInMethod, SignInRequirement } from './choices.ts';
import { counted } from './counted.ts';
import type { Rerender } from './event-fields.ts';
import type { DomainEvent, EventOf, EventType } from './events.ts';
import { isoDate } from './iso-date.ts';
import type { Role } from './member-events.ts';
import { failedMail, MAILS } from './mail-words.ts';
import { refusedCode, refusedSignIn, refusedUnknownSignIn } from './refused-sign-ins.ts';
import { addressChangeText, addressOfferText } from './sign-in-address.ts';

/** Words for a size, such as `45.2 kB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return counted(bytes, 'byte');
  if (bytes < 999_950) return `${(bytes / 1000).toFixed(1)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
const was = (count: number): string => (count === 1 ? 'was' : 'were');

/** Pages that a sentence names. */
const MOST_NAMED = 10;

/** Says how a PDF compares with the first one. */
export function comparisonText({ equal, pages }: Rerender): string {
  if (equal) return 'It is equal to the first one, byte for byte.';
  if (pages === undefined) return 'Its bytes differ from those of the first one.';
  if (pages.length === 0) return 'Its bytes differ from those of the first one, and no page does.';
  const named = pages.slice(0, MOST_NAMED).join(', ');
  const more = pages.length > MOST_NAMED ? ' and others' : '';
  const what = pages.length === 1 ? `page ${named} differs` : `pages ${named}${more} differ`;
  return `It differs from the first one: ${what}.`;
}

/** Words for what a conversion is made from. */
export const SOURCES = { html: 'HTML', url: 'a URL', document: 'finished documents' } as const;

/** A role with its article, and what an auditor was granted beside it. */
const roleText = ({ role, documents }: { role: Role; documents?: true }): string =>
  `${role === 'member' ? 'a' : 'an'} ${role}${documents ? ', who may read documents' : ''}`;

const METHODS: Readonly<Record<SignInMethod, string>> = {
  password: 'the password',
  otp: 'a code of an authenticator',
  recovery_code: 'a recovery code',
  passkey: 'a passkey',
  oidc: 'the identity provider',
};

/** Words for what somebody proved. */
export const methodsText = (methods: readonly SignInMethod[]): string =>
  methods.map((each) => METHODS[each]).join(' and ');

const REQUIREMENTS: Readonly<Record<SignInRequirement, string>> = {
  none: 'everybody signs in to the account as they choose',
  second_factor: 'everybody needs a second factor to sign in to the account',
  oidc: 'everybody signs in to the account by the identity provider alone',
};

const resetText = ({ byMail }: { byMail?: true }): string =>
  byMail
    ? 'Somebody asked for a link that sets another password: it is sent to the address of the person.'
    : 'A link that sets another password of the person, once, was made.';

/** The sentence for each type of event. */
export const SUMMARIES: { readonly [T in EventType]: (data: EventOf<T>['data']) => string } = {
  LogOpened: () => 'The event log was opened.',
  LogRenamed: (data) => `The event log was renamed to ${data.origin}.`,
  LogContinued: (data) =>
    `The event log was restored from a backup, and goes on as ${data.origin}. It was ${data.formerOrigin} before.`,
  SigningKeyAdded: (data) => `Signing key ${data.generation} of the event log was added.`,
  CheckpointSigned: (data) => `A checkpoint of ${counted(data.size, 'event')} was signed.`,
  CheckpointCosigned: (data) =>
    `The checkpoint of ${counted(data.size, 'event')} was cosigned by ${counted(data.signatures.length, 'witness', 'witnesses')}.`,
  CheckpointTimestamped: (data) =>
    `The checkpoint of ${counted(data.size, 'event')} was timestamped.`,
  MailSwitched: ({ on }) =>
    on ? 'The service sends mail from now on.' : 'The service sends no mail any more.',
  MailSent: ({ kind }) => `${MAILS[kind]} was handed to the mail server.`,
  MailFailed: failedMail,
  EmailChangeOffered: addressOfferText,
  EmailChanged: addressChangeText,
  PersonEmailOffered: addressOfferText,
  PersonEmailChanged: addressChangeText,
  AccountOpened: (data) => `The account was opened on the plan ${data.plan}.`,
  PlanChanged: (data) => `The plan was changed to ${data.plan}.`,
  CreditGranted: (data) =>
    `${counted(data.amount, 'credit')} ${was(data.amount)} granted${data.month === undefined ? '' : ` by the plan for ${data.month}`}.`,
  CreditDebited: (data) =>
    `${counted(data.amount, 'credit')} ${was(data.amount)} taken for the conversion.`,
  ConversionRequested: (data) => {
    const { source, options, filename, reference, tags, batchId, retryOf, rerenderOf, template } =
      data;
    const given = [filename && 'a file name', reference && 'a reference', tags && 'tags'];
    const named = given.filter((each) => each !== undefined);
    const last = named.pop();
    const names = named.length === 0 ? last : `${named.join(', ')} and ${last}`;
    const what = last === undefined ? '' : `, with ${names}`;
    const retried = retryOf === undefined ? '' : `, once more for ${retryOf}`;
    const again = rerenderOf === undefined ? retried : `, to be compared with ${rerenderOf}`;
    const within = batchId === undefined ? '' : `, in the batch ${batchId}`;
    const made = `${data.isTest ? 'test ' : ''}${options.format === 'pdf' ? 'PDF' : 'picture'}`;
    const cost = data.unpaid ? ' It costs no credit.' : '';
    const from = template
      ? `version ${template.version} of the template ${template.id}`
      : SOURCES[source];
    return `A ${made} was requested, from ${from}${what}${again}${within}.${cost}`;
  },
  StatementRequested: ({ month, replaces }) =>
    `The statement of ${month} was requested${replaces === undefined ? '' : `, which replaces ${replaces}`}.`,
  RetentionChanged: (data) =>
    data.retentionSeconds === undefined
      ? 'Documents are kept as long as the service keeps them.'
      : `Documents of new conversions are kept for ${counted(data.retentionSeconds, 'second')} at most.`,
  PublicNameChanged: (data) =>
    data.name === undefined
      ? 'The account is not named any more to people who check its PDFs.'
      : 'The account set the name that people who check its PDFs are told.',
  BatchRequested: (data) =>
    `The batch ${data.batchId} of ${counted(data.total, 'PDF')} was requested.`,
  BatchCancelled: (data) =>
    `The batch ${data.batchId} was cancelled: what had not ended is given up.`,
  BatchEnded: (data) =>
    `The batch ${data.batchId} ended: ${data.completed} completed, ${data.failed} failed.`,
  CreditRefunded: (data) =>
    `${counted(data.amount, 'credit')} ${was(data.amount)} refunded, because the conversion failed.`,
  PasswordChanged: (data) =>
    data.byLink
      ? 'The password was set with a link, and all sessions ended.'
      : 'The password was changed, and all sessions ended.',
  SessionsEnded: (data) =>
    data.personId === undefined
      ? 'All sessions were ended.'
      : 'All sessions of one person were ended.',
  MemberInvited: (data) =>
    `Somebody was invited as ${roleText(data)}.${data.byMail ? ' Only a mail brings the link.' : ''}`,
  InvitationRevoked: () => 'An invitation was revoked.',
  MemberJoined: (data) =>
    data.invitation === undefined
      ? `A person joined as ${roleText(data)}: the identity provider let them in.`
      : `An invited person joined as ${roleText(data)}.`,
  MemberChanged: (data) =>
    `A person is ${roleText(data)} of the account from now on${data.byProvider ? ', as the identity provider says' : ''}.`,
  MemberRemoved: (data) =>
    data.unproven
      ? 'A person was removed from the account, because their address was proven for the first time: their sessions and keys of it have ended.'
      : `A person ${data.left ? 'left' : 'was removed from'} the account: their sessions and keys of it have ended.`,
  SignInPolicyChanged: ({ require }) => `From now on ${REQUIREMENTS[require]}.`,
  SignUpOffered: (data) =>
    `A link that opens an account on the plan ${data.plan} was ${data.byMail ? 'sent by mail' : 'made'}. It is valid until ${isoDate(data.expiresAt)}.`,
  SignUpEnded: (data) =>
    data.opened
      ? 'The link that opens the account was used.'
      : 'A link that opens an account ended: nobody had used it.',
  PersonRegistered: (data) =>
    data.passwordHash === undefined
      ? 'A person signed in for the first time, with the identity provider.'
      : 'An invited person chose a name and a password.',
  PersonAddressProven: provenText,
  IdentityLinked: (data) => `A person signs in with ${data.issuer} from now on.`,
  PersonNamed: () => 'A person changed their name.',
  MemberPasswordReset: (data) =>
    data.expiresAt === undefined
      ? "An operator of the service set a member's password, and all their sessions have ended."
      : `A link that sets another password of a member, once, was made. It is valid until ${isoDate(data.expiresAt)}.`,
  PersonResetOffered: (data) => `${resetText(data)} It is valid until ${isoDate(data.expiresAt)}.`,
  PersonPasswordChanged: (data) =>
    data.byLink
      ? 'A person set their password with a link, and all their sessions have ended.'
      : 'A person changed their password, and all their sessions have ended.',
  PersonMailsChanged: ({ off }) =>
    off.length === 0
      ? 'A person gets every kind of mail.'
      : `A person switched off ${counted(off.length, 'kind')} of mail: ${off.join(', ')}.`,
  SecondFactorAdded: () =>
    'A person set up a second factor: signing in takes a code of an authenticator from now on.',
  SecondFactorUsed: () => 'A person proved themselves with a code of their authenticator.',
  SecondFactorRefused: refusedCode,
  RecoveryCodeUsed: ({ left }) =>
    `A person used a recovery code in place of their second factor: ${counted(left, 'code')} ${left === 1 ? 'is' : 'are'} left.`,
  RecoveryCodesRenewed: () =>
    'A person made new recovery codes: those from before are worth nothing.',
  SecondFactorRemoved: () => 'The second factor of a person was removed, with its recovery codes.',
  MemberSecondFactorRemoved: () =>
    'An operator of the service removed the second factor of a person of the account.',
  PersonErased: () => 'A person was erased: nobody can read their name and address any more.',
  PasskeyAdded: () => 'A person added a passkey, which signs in without the password.',
  PasskeyRenamed: () => 'A person renamed a passkey.',
  PasskeyUsed: () => 'A passkey was used.',
  PasskeyRefused: () =>
    'A passkey was refused: it has signed fewer times than it did before, so there may be a copy of it.',
  PasskeyRemoved: () => 'A passkey was removed: it does not sign in any more.',
  SignatureSet: (data) =>
    `The certificate that signs PDFs was set. It is valid until ${isoDate(data.notAfter)}.`,
  SignatureRemoved: () => 'The certificate that signed PDFs was removed.',
  SignatureKeyDestroyed: () => 'The private key of a certificate that signs no more was destroyed.',
  SignatureMade: (data) => `The service signed for attempt ${data.attempt} (PAdES ${data.level}).`,
  OperatorGranted: () => 'The account was made an operator of the service.',
  OperatorRevoked: () => 'The account is no longer an operator of the service.',
  HoldPlaced: (data) => {
    const end = data.until === undefined ? '' : ` until ${isoDate(data.until)}`;
    return `A hold was placed${end}: nothing is deleted meanwhile.`;
  },
  AccountSuspended: () =>
    'The account was suspended: nothing new is accepted, and nobody signs in.',
  OperatorSetAside: () =>
    'The account no longer counts among the operators who can act: another operator of the service can.',
  OperatorRestored: () => 'The account counts among the operators who can act again.',
  PasswordResetOffered: (data) =>
    `${resetText(data)} It is valid until ${isoDate(data.expiresAt)}.`,
  LowCreditsChanged: ({ below }) =>
    below === undefined
      ? 'Owners are told by mail when less than a tenth of the last grant of credits is left.'
      : below === 0
        ? 'Owners are not told by mail of low credits any more.'
        : `Owners are told by mail when the account has fewer than ${counted(below, 'credit')}.`,
  AccountInspected: ({ what }) => {
    if (what === 'export') return 'An operator of the service exported everything kept about it.';
    const seen = what === 'account' ? 'the account' : 'its keys, use and failures';
    return `An operator of the service looked at ${seen}.`;
  },
  AccountResumed: () => 'The account was resumed.',
  HoldReleased: () => 'The hold was released.',
  AccountErased: () => 'The account was erased: its keys and sessions have ended.',
  ErasureCompleted: () =>
    "The account's data key is destroyed, and its stored documents are deleted.",
  ConversionStarted: (data) => `Attempt ${data.attempt} started on ${data.renderer}.`,
  ConversionRequeued: (data) =>
    `${data.renderer} stopped and gave the conversion back. Attempt ${data.attempt} does not count.`,
  ConversionCompleted: (data) =>
    `The file was stored: ${counted(data.pages, 'page')}, ${sizeText(data.pdf.bytes)}${data.signature ? `, signed (PAdES ${data.signature.level})` : ''}.${data.rerender ? ` ${comparisonText(data.rerender)}` : ''}`,
  ConversionFailed: (data) =>
    data.code === 'cancelled'
      ? 'The conversion was cancelled.'
      : `The conversion failed (${data.code}) on attempt ${data.attempt}.${data.picture ? ' There is a picture of its page.' : ''}`,
  ConversionOutcomeIgnored: (data) =>
    `A late outcome (${data.outcome}) from ${data.renderer} was ignored.`,
  ConversionDeleted: (data) =>
    data.afterDownload
      ? 'The PDF was downloaded, and the request asked for the deletion of the stored documents then.'
      : 'The deletion of the stored documents was asked for.',
  ConversionExpired: () => 'The stored documents of the conversion were deleted.',
  DocumentDownloaded: (data) => {
    const by = data.link === undefined ? 'with a credential' : 'through a link';
    const further = data.isLast === true ? ' Further downloads are not recorded.' : '';
    return `The PDF was downloaded ${by}.${further}`;
  },
  LinkCreated: (data) =>
    `A link by which anybody can download the file was created, valid until ${isoDate(data.expiresAt)}.`,
  LinkRevoked: () => 'A link to the file was revoked.',
  KeyCreated: ({ prefix, scopes, expiresAt, addresses, rateLimit, creditLimit, isTest }) => {
    const bounds = [
      scopes && `with the ${scopes.length === 1 ? 'scope' : 'scopes'} ${scopes.join(', ')}`,
      expiresAt && `valid until ${isoDate(expiresAt)}`,
      addresses && 'bound to addresses',
      rateLimit && `with ${counted(rateLimit, 'request')} a minute`,
      creditLimit && `with ${counted(creditLimit, 'credit')} a month`,
    ].filter((each) => each !== undefined);
    return `The ${isTest ? 'test' : 'API'} key ${prefix}… was created${bounds.map((each) => `, ${each}`).join('')}.`;
  },
  KeyUsed: () => 'The API key was used.',
  KeyRevoked: () => 'The API key was revoked.',
  SessionOpened: ({ kind, methods }) => {
    const by = methods === undefined ? 'signing in' : `signing in with ${methodsText(methods)}`;
    return `A session${kind === 'dashboard' ? ' of the dashboard' : ''} was opened by ${by}.`;
  },
  SessionConfirmed: (data) =>
    `The person of an open session has proved ${methodsText(data.methods)}, too.`,
  SessionRevoked: () => 'A session was ended.',
  SignInRefused: refusedSignIn,
  UnknownSignInRefused: refusedUnknownSignIn,
  SignInsLeftOut: (data) =>
    `At least ${counted(data.count, 'refused sign-in')} ${was(data.count)} not recorded one by one.`,
  PasswordResetAsked: () => 'A link that sets a password was asked for.',
  PasswordResetAnswered: ({ givenUp }) =>
    givenUp
      ? 'The request for a link that sets a password was given up: the link could not be made within an hour.'
      : 'The request for a link that sets a password was followed.',
  EmailReserved: (data) =>
    `The sign-in address was reserved for ${data.forChange ? 'a person who changes theirs' : data.personId === undefined ? 'the account' : 'an invited person'}.`,
  WebhookCreated: (data) =>
    `The webhook endpoint ${data.webhookId} was created, for ${data.types.join(', ')}.`,
  WebhookChanged: (data) => {
    const switched =
      data.enabled === undefined ? 'changed' : data.enabled ? 'switched on' : 'switched off';
    return `The webhook endpoint ${data.webhookId} was ${switched}.`;
  },
  WebhookSecretRotated: (data) =>
    data.webhookId === undefined
      ? 'The secret that signs deliveries to the URLs of requests was made or replaced.'
      : `The secret of the webhook endpoint ${data.webhookId} was replaced.`,
  WebhookDisabled: (data) =>
    data.reason === 'gone'
      ? `The webhook endpoint ${data.webhookId} was switched off, because it answered 410.`
      : `The webhook endpoint ${data.webhookId} was switched off, because every try since ${isoDate(data.since)} failed.`,
  WebhookDeleted: (data) => `The webhook endpoint ${data.webhookId} was deleted.`,
  WebhookTested: (data) => `A test of the webhook endpoint ${data.webhookId} was requested.`,
  RedeliveriesRequested: (data) =>
    `What failed of the deliveries to ${data.webhookId} since ${isoDate(data.since)} is sent again.`,
  DeliveryAttempted: (data) => {
    const { message, attempt, outcome, status, failure, durationMs } = data;
    const to = data.webhookId ?? 'the URL of the request';
    const answer =
      status === undefined ? `got no answer (${failure})` : `was answered with ${status}`;
    const next = data.nextAt === undefined ? '' : ` The next try is at ${isoDate(data.nextAt)}.`;
    const end = outcome === 'failed' ? ' There is no other try.' : next;
    return `Try ${attempt} to deliver ${message} to ${to} ${answer} in ${durationMs} ms.${end}`;
  },
  TemplateCreated: (data) => `The template ${data.templateId} was created.`,
  TemplateVersionSaved: (data) =>
    `Version ${data.version} of the template ${data.templateId} was saved.`,
  TemplateRenamed: (data) => `The template ${data.templateId} was renamed.`,
  TemplateDeleted: (data) => `The template ${data.templateId} was deleted.`,
  RedeliveryRequested: (data) =>
    `A delivery to ${data.webhookId ?? 'the URL of the request'} was requested once more.`,
};

export const summaryOf = ({ type, data }: DomainEvent): string =>
  (SUMMARIES[type] as (data: DomainEvent['data']) => string)(data);
