import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { test } from 'tap';
import {
  type AccountEvent,
  type AccountState,
  acceptedWithKey,
  accountAggregate,
} from '../../../src/domain/account.ts';
import { type ApiKeyEvent, apiKeyAggregate } from '../../../src/domain/api-key.ts';
import { type BatchEvent, batchAggregate } from '../../../src/domain/batch.ts';
import { type ConversionEvent, conversionAggregate } from '../../../src/domain/conversion.ts';
import type { AggregateType } from '../../../src/domain/decider.ts';
import { type EmailEvent, emailAggregate } from '../../../src/domain/email.ts';
import type { DomainEvent } from '../../../src/domain/events.ts';
import { type LogEvent, logAggregate } from '../../../src/domain/log.ts';
import { type MailEvent, mailAggregate } from '../../../src/domain/mail.ts';
import { founderOf } from '../../../src/domain/members.ts';
import { type OperatorsEvent, operatorsAggregate } from '../../../src/domain/operators.ts';
import { personAggregate } from '../../../src/domain/person.ts';
import type { PersonEvent } from '../../../src/domain/person-commands.ts';
import { type SessionEvent, sessionAggregate } from '../../../src/domain/session.ts';
import { type ResetAskEvent, resetAskAggregate } from '../../../src/domain/reset-asks.ts';
import { type SignUpEvent, signUpAggregate } from '../../../src/domain/sign-up.ts';
import { type SignInEvent, signInTrailAggregate } from '../../../src/domain/sign-in-trail.ts';
import { type DeliveryEvent, deliveryAggregate } from '../../../src/domain/webhook-delivery.ts';
import { type TemplatesEvent, templatesAggregate } from '../../../src/domain/templates.ts';
import { type WebhooksEvent, webhooksAggregate } from '../../../src/domain/webhooks.ts';
import { fold } from '../../support/given.ts';
import {
  accountId,
  batchId,
  blobRef,
  certificateId,
  conversionId,
  DAY_MS,
  deliveryId,
  keyId,
  linkId,
  NOW,
  OPTIONS,
  ORIGIN,
  passkeyId,
  PDF,
  personId,
  REQUEST_HMAC,
  SIGNATURE,
  sessionId,
  sha256,
  templateId,
  TIMINGS,
  webhookId,
} from '../../support/samples.ts';

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** A state taken through JSON text in the middle of its life is the state that never was. */
function survives<State, Command, Event extends DomainEvent>(
  { decider, snapshot: codec }: AggregateType<State, Command, Event>,
  event: fc.Arbitrary<Event>,
  /** What of a state counts. */
  view: (state: State) => unknown = (state) => asJson(codec.encode(state)),
): void {
  const throughText = (state: State): State => codec.decode(asJson(codec.encode(state)));
  const same = (one: State, other: State): boolean => isDeepStrictEqual(view(one), view(other));
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 40 }),
      fc.array(event, { maxLength: 40 }),
      (before, after) => {
        const kept = throughText(fold(decider, before));
        const ended = after.reduce((state, each) => decider.evolve(state, each), kept);
        const never = fold(decider, [...before, ...after]);
        return same(kept, fold(decider, before)) && same(ended, never);
      },
    ),
  );
}

const time = fc.integer({ min: NOW, max: NOW + 3 * DAY_MS });
const few = fc.integer({ min: 1, max: 9 });
const owner = { accountId: accountId() };

const person = { ...owner, personId: personId(2) };
const invitation = {
  ...person,
  tokenHash: sha256(),
  role: 'member' as const,
  expiresAt: NOW + DAY_MS,
};
const joined = { ...person, invitation: personId(2), role: 'auditor' as const };
const OFFER = { email: 'v1.n', addressHash: sha256(4), tokenHash: sha256(5), expiresAt: NOW };
const CHANGE = { email: 'v1.n', addressHash: sha256(4), formerEmail: 'v1.e' };
const accountEvents: fc.Arbitrary<AccountEvent> = fc.oneof(
  fc.constantFrom<AccountEvent>(
    {
      type: 'AccountOpened',
      data: { ...owner, email: 'v1.e', passwordHash: 'v1.p', plan: 'starter' },
    },
    {
      type: 'AccountOpened',
      data: {
        ...owner,
        email: 'v1.e',
        passwordHash: 'v1.p',
        plan: 'pro',
        mustChangePassword: true,
      },
    },
    { type: 'PlanChanged', data: { ...owner, plan: 'pro' } },
    { type: 'RetentionChanged', data: { ...owner, retentionSeconds: 60 } },
    { type: 'PublicNameChanged', data: { ...owner, name: 'sealed' } },
    { type: 'PasswordChanged', data: { ...owner, passwordHash: 'v1.q' } },
    { type: 'SessionsEnded', data: owner },
    { type: 'SignatureSet', data: { ...owner, ...SIGNATURE, setAt: NOW } },
    {
      type: 'SignatureSet',
      data: { ...owner, ...SIGNATURE, certificateId: certificateId(), setAt: NOW },
    },
    { type: 'SignatureRemoved', data: { ...owner, removedAt: NOW } },
    { type: 'MemberInvited', data: { ...invitation, email: 'v1.i', invitedAt: NOW } },
    { type: 'InvitationRevoked', data: { ...owner, personId: personId(2) } },
    { type: 'MemberJoined', data: { ...joined, documents: true } },
    { type: 'MemberChanged', data: { ...owner, personId: personId(1), role: 'member' } },
    { type: 'MemberRemoved', data: { ...owner, personId: personId(1), left: true } },
    { type: 'MemberPasswordReset', data: { ...owner, personId: personId(1), expiresAt: NOW } },
    { type: 'MemberSecondFactorRemoved', data: { ...owner, personId: personId(1) } },
    { type: 'SignInPolicyChanged', data: { ...owner, require: 'second_factor' } },
    { type: 'SignatureKeyDestroyed', data: { ...owner, certificateId: certificateId() } },
    { type: 'OperatorGranted', data: owner },
    { type: 'OperatorRevoked', data: owner },
    { type: 'AccountSuspended', data: { ...owner, reason: 'v1.r', suspendedAt: NOW } },
    { type: 'EmailChangeOffered', data: { ...owner, ...OFFER } },
    { type: 'EmailChanged', data: { ...owner, ...CHANGE } },
    { type: 'PasswordResetOffered', data: { ...owner, tokenHash: sha256(1), expiresAt: NOW } },
    { type: 'AccountInspected', data: { ...owner, inspectedAt: NOW } },
    { type: 'AccountResumed', data: { ...owner, resumedAt: NOW } },
    { type: 'CreditDebited', data: { ...owner, conversionId: conversionId(), amount: 1 } },
    {
      type: 'CreditDebited',
      data: { ...owner, conversionId: conversionId(), amount: 1, keyId: keyId(), debitedAt: NOW },
    },
  ),
  few.map((amount): AccountEvent => ({ type: 'CreditGranted', data: { ...owner, amount } })),
  few.map(
    (n): AccountEvent => ({
      type: 'CreditGranted',
      data: { ...owner, amount: n, month: `2026-0${n}` },
    }),
  ),
  fc.bigInt({ min: 1n, max: 2n ** 63n }).map(
    (failedAt): AccountEvent => ({
      type: 'CreditRefunded',
      data: { ...owner, conversionId: conversionId(), amount: 1, failedAt: `${failedAt}` },
    }),
  ),
  fc.tuple(few, time, fc.option(few)).map(
    ([n, requestedAt, key]): AccountEvent => ({
      type: 'ConversionRequested',
      data: {
        ...owner,
        conversionId: conversionId(n),
        source: 'url',
        request: blobRef('request', n),
        requestHmac: REQUEST_HMAC,
        options: OPTIONS,
        requestedAt,
        ...(key === null ? {} : { idempotencyKey: sha256(key) }),
      },
    }),
  ),
);

/** The order in which keys are kept does not count, but what each is answered, and when. */
function accountView({ keys, ...rest }: AccountState): unknown {
  const state = { ...rest, keys };
  const answers = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((key) =>
    [0, 1, 2, 3].map((days) => acceptedWithKey(state, sha256(key), NOW + days * DAY_MS)),
  );
  return { ...rest, answers };
}

const conversionEvents: fc.Arbitrary<ConversionEvent> = fc
  .tuple(
    fc.constantFrom(
      'start',
      'requeue',
      'sign',
      'complete',
      'fail',
      'ignore',
      'delete',
      'expire',
      'share',
      'revoke',
    ),
    few,
    time,
  )
  .map(([what, attempt, at]): ConversionEvent => {
    const life = { ...owner, conversionId: conversionId() };
    const by = { ...life, renderer: 'r', attempt };
    switch (what) {
      case 'start':
        return { type: 'ConversionStarted', data: { ...by, delivery: `${at}`, startedAt: at } };
      case 'requeue':
        return { type: 'ConversionRequeued', data: { ...by, requeuedAt: at } };
      case 'sign': {
        const made = { digest: sha256(), certificate: sha256(), level: 'B-B', madeAt: at } as const;
        return { type: 'SignatureMade', data: { ...life, attempt, delivery: `${at}`, ...made } };
      }
      case 'complete':
        return {
          type: 'ConversionCompleted',
          data: {
            ...by,
            document: blobRef('document'),
            pdf: PDF,
            manifest: blobRef('manifest'),
            pages: 1,
            timings: TIMINGS,
            chrome: 'c',
            completedAt: at,
          },
        };
      case 'fail':
        return {
          type: 'ConversionFailed',
          data: { ...by, code: 'timeout', message: 'm', failedAt: at },
        };
      case 'ignore':
        return { type: 'ConversionOutcomeIgnored', data: { ...by, outcome: 'failed' } };
      case 'delete':
        return { type: 'ConversionDeleted', data: { ...life, deletedAt: at } };
      case 'expire':
        return { type: 'ConversionExpired', data: { ...life, expiredAt: at } };
      case 'share': {
        const link = { linkId: linkId(attempt), linkHash: sha256(attempt) };
        const times = { createdAt: at, expiresAt: at + DAY_MS };
        return { type: 'LinkCreated', data: { ...life, ...link, ...times } };
      }
      case 'revoke':
        return {
          type: 'LinkRevoked',
          data: { ...life, linkId: linkId(attempt), revokedAt: at },
        };
    }
  });

const keyEvents: fc.Arbitrary<ApiKeyEvent> = fc.oneof(
  fc.constantFrom<ApiKeyEvent>(
    {
      type: 'KeyCreated',
      data: {
        ...owner,
        keyId: keyId(),
        keyHash: sha256(),
        prefix: 'pk_live_abcd',
        name: 'v1.n',
        scopes: ['convert'],
        expiresAt: NOW + DAY_MS,
        addresses: 'v1.a',
        rateLimit: 5,
        creditLimit: 9,
        isTest: true,
        createdAt: NOW,
      },
    },
    { type: 'KeyRevoked', data: { ...owner, keyId: keyId() } },
  ),
  time.map(
    (usedAt): ApiKeyEvent => ({ type: 'KeyUsed', data: { ...owner, keyId: keyId(), usedAt } }),
  ),
);

const session1 = { ...owner, sessionId: sessionId() };
const sessionEvents = fc.constantFrom<SessionEvent>(
  { type: 'SessionOpened', data: { ...session1, expiresAt: NOW, epoch: 2, client: sha256() } },
  { type: 'SessionConfirmed', data: { ...session1, methods: ['otp'] } },
  { type: 'SessionRevoked', data: session1 },
);
const logEvents = time.chain((at) =>
  fc.constantFrom<LogEvent>(
    { type: 'LogOpened', data: { origin: ORIGIN } },
    { type: 'LogRenamed', data: { origin: 'renamed' } },
    { type: 'LogContinued', data: { origin: ORIGIN, formerOrigin: 'renamed', at } },
    { type: 'SigningKeyAdded', data: { generation: 1, verifierKey: 'k', addedAt: at } },
    { type: 'CheckpointSigned', data: { size: 2, root: 'r', note: 'n', signedAt: at } },
    { type: 'CheckpointCosigned', data: { size: 2, signatures: ['— w AAAA'], at } },
    { type: 'CheckpointTimestamped', data: { size: 2, token: 'AAAA', at } },
    { type: 'MailSwitched', data: { on: true, at } },
  ),
);
const batchEvents = fc.constantFrom<BatchEvent>(
  {
    type: 'BatchCancelled',
    data: { ...owner, batchId: batchId(), message: 'v1.m', cancelledAt: NOW },
  },
  {
    type: 'BatchEnded',
    data: { ...owner, batchId: batchId(), total: 2, completed: 1, failed: 1, endedAt: NOW },
  },
);
const passkey = { ...person, passkeyId: passkeyId() };
const signed = { counter: 2, challenge: sha256(3) };
const personEvents = fc.constantFrom<PersonEvent>(
  { type: 'PersonRegistered', data: { ...person, email: 'v1.e', name: 'v1.n', passwordHash: 'p' } },
  { type: 'PersonNamed', data: { ...person, name: 'v1.m' } },
  {
    type: 'PersonAddressProven',
    data: { ...person, provenBy: 'mail', dropped: { passkeys: 1, memberships: 2 } },
  },
  { type: 'PersonResetOffered', data: { ...person, tokenHash: sha256(1), expiresAt: NOW } },
  {
    type: 'IdentityLinked',
    data: { ...person, issuer: 'https://login.example.com', subject: 'v1.s', identity: sha256() },
  },
  { type: 'PersonPasswordChanged', data: { ...person, passwordHash: 'v1.q' } },
  { type: 'PersonEmailOffered', data: { ...person, ...OFFER } },
  { type: 'PersonEmailChanged', data: { ...person, ...CHANGE } },
  {
    type: 'PasskeyAdded',
    data: {
      ...passkey,
      credential: 'v1.c',
      publicKey: 'v1.k',
      name: 'v1.n',
      ...signed,
      addedAt: NOW,
    },
  },
  { type: 'PasskeyRenamed', data: { ...passkey, name: 'v1.o' } },
  { type: 'PasskeyUsed', data: { ...passkey, ...signed, usedAt: NOW } },
  { type: 'PasskeyRefused', data: { ...passkey, counter: 0, refusedAt: NOW } },
  { type: 'PasskeyRemoved', data: passkey },
  {
    type: 'SecondFactorAdded',
    data: { ...person, secret: 'v1.t', step: 7, recoveryCodes: [sha256(1)], addedAt: NOW },
  },
  { type: 'SecondFactorUsed', data: { ...person, step: 8 } },
  { type: 'SecondFactorRefused', data: { ...person, count: 3, refusedAt: NOW } },
  { type: 'RecoveryCodeUsed', data: { ...person, codeHash: sha256(1), left: 0 } },
  { type: 'RecoveryCodesRenewed', data: { ...person, recoveryCodes: [sha256(2)] } },
  { type: 'SecondFactorRemoved', data: person },
  { type: 'PersonErased', data: { personId: personId(2) } },
);
const operatorsEvents = fc.constantFrom<OperatorsEvent>(
  { type: 'OperatorSetAside', data: owner },
  { type: 'OperatorRestored', data: owner },
);
const resetAskEvents = fc.constantFrom<ResetAskEvent>(
  { type: 'PasswordResetAsked', data: { address: sha256(1), askedAt: NOW } },
  { type: 'PasswordResetAnswered', data: { address: sha256(1) } },
);
const emailEvents = fc.constantFrom<EmailEvent>(
  { type: 'EmailReserved', data: owner },
  { type: 'EmailReserved', data: { ...owner, personId: personId(1), forChange: true } },
);
const offered = { ...owner, personId: personId(1), email: 'v1.e', plan: 'free', credits: 1 };
const signUpEvents = fc.constantFrom<SignUpEvent>(
  { type: 'SignUpOffered', data: { ...offered, offeredAt: NOW, expiresAt: NOW } },
  { type: 'SignUpEnded', data: { ...owner, personId: personId(1) } },
);
const signInEvents: fc.Arbitrary<SignInEvent> = time.chain((at) =>
  fc.constantFrom<SignInEvent>(
    { type: 'SignInRefused', data: { ...owner, refusedAt: at } },
    {
      type: 'UnknownSignInRefused',
      data: { address: sha256(1), client: sha256(2), refusedAt: at },
    },
    { type: 'SignInsLeftOut', data: { ...owner, count: 1, since: at, notedAt: at } },
  ),
);

const webhookEvents: fc.Arbitrary<WebhooksEvent> = fc.tuple(few, time).chain(([n, at]) => {
  const ids = { ...owner, webhookId: webhookId(n) };
  const secret = { secret: `v1.${at}`, secretPrefix: 'whsec_abcd' };
  const made = { ...ids, url: 'v1.u', types: ['credits.low' as const], ...secret };
  return fc.constantFrom<WebhooksEvent>(
    { type: 'WebhookCreated', data: { ...made, createdAt: at } },
    { type: 'WebhookChanged', data: { ...ids, url: 'v1.v', enabled: true, changedAt: at } },
    { type: 'WebhookSecretRotated', data: { ...ids, ...secret, rotatedAt: at } },
    { type: 'WebhookSecretRotated', data: { ...owner, ...secret, rotatedAt: at } },
    { type: 'WebhookDisabled', data: { ...ids, reason: 'gone', since: at, disabledAt: at } },
    { type: 'WebhookDeleted', data: { ...ids, deletedAt: at } },
    { type: 'WebhookTested', data: { ...ids, deliveryId: deliveryId(), testedAt: at } },
    { type: 'RedeliveriesRequested', data: { ...ids, since: at, requestedAt: at } },
  );
});
const templateEvents: fc.Arbitrary<TemplatesEvent> = fc.tuple(few, time).chain(([n, at]) => {
  const ids = { ...owner, templateId: templateId(n) };
  const saved = { content: 'v1.c', contentHmac: sha256(n), bytes: 9, savedAt: at };
  return fc.constantFrom<TemplatesEvent>(
    { type: 'TemplateCreated', data: { ...ids, name: 'v1.n', createdAt: at } },
    { type: 'TemplateVersionSaved', data: { ...ids, version: 1 + n, ...saved } },
    { type: 'TemplateRenamed', data: { ...ids, name: 'v1.m', renamedAt: at } },
    { type: 'TemplateDeleted', data: { ...ids, deletedAt: at } },
  );
});
const deliveryEvents: fc.Arbitrary<DeliveryEvent> = fc.tuple(few, time).chain(([n, at]) => {
  const of = { ...owner, deliveryId: deliveryId(), round: n };
  const tried = { message: 'credits.low', outcome: 'failed', durationMs: 1 } as const;
  return fc.constantFrom<DeliveryEvent>(
    { type: 'DeliveryAttempted', data: { ...of, ...tried, attempt: n, attemptedAt: at } },
    { type: 'RedeliveryRequested', data: { ...of, requestedAt: at } },
  );
});

const mailEvents = fc.integer({ min: 1, max: 12 }).chain((attempt) => {
  const of = {
    mailId: 'mail_3f0c9a4be71d5286c0f4a9d1e8',
    kind: 'invitation',
    personId: founderOf(accountId()),
    attempt,
    at: NOW,
  } as const;
  return fc.constantFrom<MailEvent>(
    { type: 'MailSent', data: of },
    { type: 'MailFailed', data: { ...of, failure: 'deferred', status: 451, nextAt: NOW } },
    { type: 'MailFailed', data: { ...of, failure: 'refused' } },
  );
});

void test('a snapshot and the events after it give the state that all events give', (t) => {
  t.doesNotThrow(() => survives(accountAggregate, accountEvents, accountView), 'account');
  t.doesNotThrow(() => survives(conversionAggregate, conversionEvents), 'conversion');
  t.doesNotThrow(() => survives(batchAggregate, batchEvents), 'batch');
  t.doesNotThrow(() => survives(apiKeyAggregate, keyEvents), 'api key');
  t.doesNotThrow(() => survives(sessionAggregate, sessionEvents), 'session');
  t.doesNotThrow(() => survives(operatorsAggregate, operatorsEvents), 'operators');
  t.doesNotThrow(() => survives(personAggregate, personEvents), 'person');
  t.doesNotThrow(() => survives(emailAggregate, emailEvents), 'email');
  t.doesNotThrow(() => survives(resetAskAggregate, resetAskEvents), 'reset asks');
  t.doesNotThrow(() => survives(logAggregate, logEvents), 'log');
  t.doesNotThrow(() => survives(signInTrailAggregate, signInEvents), 'sign-ins');
  t.doesNotThrow(() => survives(webhooksAggregate, webhookEvents), 'webhooks');
  t.doesNotThrow(() => survives(templatesAggregate, templateEvents), 'templates');
  t.doesNotThrow(() => survives(deliveryAggregate, deliveryEvents), 'delivery');
  t.doesNotThrow(() => survives(mailAggregate, mailEvents), 'mail');
  t.doesNotThrow(() => survives(signUpAggregate, signUpEvents), 'sign-ups');
  t.end();
});

/** The version of an aggregate's snapshots, and the names in them. */
function formOf<State, Command, Event extends DomainEvent>(
  type: AggregateType<State, Command, Event>,
): string {
  const stored = type.snapshot.encode(type.decider.initialState);
  return `${type.snapshot.version}: ${Object.keys(Object(stored) as object).join()}`;
}

void test('a state of another form has snapshots of another version', (t) => {
  // Where a line differs, count its version up: old snapshots lack what is new.
  t.equal(
    formOf(accountAggregate),
    '22: status,erasureCompleted,email,passwordHash,passwords,members,invitations,former,sessionEpoch,signInRequirement,plan,retentionSeconds,isOperator,hold,suspension,reset,mailedReset,addressHash,addressOffer,lowCredits,looks,mustChangePassword,signature,endedCertificates,credits,keyUse,refunds,renewedMonth,keys',
  );
  t.equal(
    formOf(conversionAggregate),
    '8: status,tries,requeues,signatures,ended,ignored,deleted,expired,downloads,lastDownloads,links',
  );
  t.equal(formOf(batchAggregate), '2: isCancelled,isEnded');
  t.equal(
    formOf(apiKeyAggregate),
    '3: status,accountId,createdBy,memberSince,keyHash,lastUsedAt,rights',
  );
  t.equal(
    formOf(sessionAggregate),
    '5: status,accountId,personId,expiresAt,epoch,passwords,kind,methods',
  );
  t.equal(formOf(emailAggregate), '4: holder,isForChange,reservations');
  t.equal(formOf(resetAskAggregate), '1: isOpen');
  t.equal(formOf(signUpAggregate), '2: status,email,plan,credits,byMail,expiresAt');
  t.equal(formOf(mailAggregate), '1: attempt,hasEnded');
  t.equal(
    formOf(personAggregate),
    '9: status,email,passwordHash,name,identities,provenBy,passwords,reset,mailedReset,addressOffer,addressHash,mailsOff,passkeys,usedChallenges,authenticator,wrongCodes',
  );
  t.equal(formOf(operatorsAggregate), '1: setAside');
  t.equal(
    formOf(logAggregate),
    '5: openedAs,keyring,origin,formerOrigins,generation,keys,isKeyUsed,checkpoints,sendsMail',
  );
  t.equal(formOf(signInTrailAggregate), '1: hour,recorded,notes');
  t.equal(formOf(webhooksAggregate), '1: endpoints,secrets');
  t.equal(formOf(templatesAggregate), '1: templates,day,bytes');
  t.equal(formOf(deliveryAggregate), '1: round,attempt');
  t.end();
});
