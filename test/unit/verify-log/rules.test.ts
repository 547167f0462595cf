import { test } from 'tap';
import type { DomainEvent } from '../../../src/domain/events.ts';
import type { Role } from '../../../src/domain/member-events.ts';
import { founderOf } from '../../../src/domain/members.ts';
import { encodeEvent } from '../../../src/event-store/codec.ts';
import type { RecordedEvent } from '../../../src/event-store/port.ts';
import { LogRules } from '../../../src/log/verify-log/rules.ts';
import { eventId } from '../../../src/time/ids.ts';
import { commandOf } from '../../support/events.ts';
import type { Step } from '../../support/history.ts';
import {
  completion,
  expiry,
  failure,
  keyMaking,
  opening,
  request,
  start,
} from '../../support/history.ts';
import {
  accountId,
  batchId,
  certificateId,
  conversionId,
  keyId,
  linkId,
  NOW,
  PDF,
  personId,
  SIGNATURE,
  sessionId,
  sha256,
} from '../../support/samples.ts';

/** The events of the steps as a store numbers them; a step is one command. */
function logOf(steps: readonly Step[], causes: ReadonlyMap<Step, string> = new Map()) {
  const revisions = new Map<string, number>();
  const log: RecordedEvent[] = [];
  let failedAt = 0n;
  for (const [command, step] of steps.entries()) {
    for (const [n, event] of step.events(failedAt).entries()) {
      const revision = (revisions.get(step.stream) ?? -1) + 1;
      revisions.set(step.stream, revision);
      const encoded = encodeEvent(
        eventId(`${commandOf(event, `${command}`)}/${step.stream}/${n}`),
        event,
        {
          correlationId: `${command}`,
          causationId: causes.get(step) ?? `${command}`,
          actor: { kind: 'service' },
          time: NOW,
        },
      );
      log.push({ ...encoded, stream: step.stream, revision, position: BigInt(log.length + 1) });
    }
    if (step.failure === true) failedAt = BigInt(log.length);
  }
  return log;
}

/** Checks a log; gives the position and text of what is wrong first. */
function check(log: readonly RecordedEvent[]): string {
  const rules = new LogRules({ keepsBlobs: false });
  let number = 0;
  try {
    for (const event of log) {
      rules.check(event, number);
      number += 1;
    }
    rules.checkEnd();
    return `${rules.unfinished} unfinished, ${rules.refundsDue} refunds due`;
  } catch (error) {
    return `${number + 1}: ${error instanceof Error ? error.message : String(error)}`;
  } finally {
    rules.close();
  }
}

const step = (stream: string, ...events: readonly DomainEvent[]): Step => ({
  stream,
  events: () => events,
});
const ACCOUNT = `account-${accountId()}`;
const OTHER = `account-${accountId(2)}`;
const ids = { accountId: accountId(), conversionId: conversionId() };
const refund = (n = 1, amount = 1, account = 1): Step => ({
  stream: `account-${accountId(account)}`,
  events: (position) => [
    {
      type: 'CreditRefunded',
      data: {
        accountId: accountId(account),
        conversionId: conversionId(n),
        amount,
        failedAt: `${position}`,
      },
    },
  ],
});
const [open, openOther] = [opening(1, 5), opening(2, 5)];
const asked = request(1, 1);
const [debit, ask] = asked.events(0n) as [DomainEvent, DomainEvent];
const keyed = (n: number, requestedAt: number, key = 5): Step => {
  const [debited, requested] = request(n, 1).events(0n) as [DomainEvent, DomainEvent];
  const data = { ...requested.data, requestedAt, idempotencyKey: sha256(key) };
  return step(ACCOUNT, debited, { type: 'ConversionRequested', data } as DomainEvent);
};
/** It costs nothing. */
const unpaid = (n: number, data: object = {}): Step => {
  const [, requested] = request(n, 1).events(0n) as [DomainEvent, DomainEvent];
  const event = { ...requested, data: { ...requested.data, unpaid: true, ...data } };
  return step(ACCOUNT, event as DomainEvent);
};
const begun = [open, asked, start(1, 1)];
const failed = [...begun, failure(1, 1)];
const completed = [...begun, completion(1, 1)];
/** Another conversion of the account, which says how its PDF compares with the first one's. */
const compared = (equal: boolean, pdf: string, rerenderOf: string = conversionId()): Step[] => {
  const [debited, requested] = request(2, 1).events(0n) as [DomainEvent, DomainEvent];
  const [ended] = completion(2, 1).events(0n) as [DomainEvent];
  const data = { ...ended.data, pdf: { sha256: pdf, bytes: 10 }, rerender: { equal } };
  return [
    step(ACCOUNT, debited, {
      ...requested,
      data: { ...requested.data, rerenderOf },
    } as DomainEvent),
    start(2, 1),
    step(`conversion-${conversionId(2)}`, { ...ended, data } as DomainEvent),
  ];
};
const signature = { level: 'B-B', certificate: sha256(3) } as const;
const signedOnce = (digest = sha256(1), changes: object = {}): Step =>
  step(`conversion-${conversionId()}`, {
    type: 'SignatureMade',
    data: { ...ids, attempt: 1, delivery: 'd', digest, ...signature, madeAt: NOW, ...changes },
  });
const certificate = (n: number): Step =>
  step(ACCOUNT, {
    type: 'SignatureSet',
    data: { accountId: accountId(), certificateId: certificateId(n), ...SIGNATURE, setAt: NOW },
  });
const destroyed = (n: number): Step =>
  step(ACCOUNT, {
    type: 'SignatureKeyDestroyed',
    data: { accountId: accountId(), certificateId: certificateId(n) },
  });
/** Persons by a number; the founder's is 0. */
const personOf = (n: number): string => (n === 0 ? founderOf(accountId()) : personId(n + 1));
const invited = (n: number, role: Role): Step =>
  step(ACCOUNT, {
    type: 'MemberInvited',
    data: {
      accountId: accountId(),
      personId: personOf(n),
      tokenHash: sha256(n),
      email: 'v1.e',
      role,
      invitedAt: NOW,
      expiresAt: NOW + 1,
    },
  });
const invitation = { accountId: accountId(), personId: personOf(1), invitation: personOf(1) };
const joins = (role: Role, changes: object = {}): Step =>
  step(ACCOUNT, { type: 'MemberJoined', data: { ...invitation, role, ...changes } });
const nowIs = (n: number, role: Role): Step =>
  step(ACCOUNT, {
    type: 'MemberChanged',
    data: { accountId: accountId(), personId: personOf(n), role },
  });
const leaves = (n: number): Step =>
  step(ACCOUNT, {
    type: 'MemberRemoved',
    data: { accountId: accountId(), personId: personOf(n) },
  });
const uninvited = step(ACCOUNT, {
  type: 'InvitationRevoked',
  data: { accountId: accountId(), personId: personOf(1) },
});
const signing = [
  open,
  step(ACCOUNT, debit, { ...ask, data: { ...ask.data, signedBy: 'account' } } as DomainEvent),
  start(1, 1),
];
const ended = (facts: object): Step => {
  const [event] = completion(1, 1).events(0n) as [DomainEvent];
  const data = { ...event.data, ...facts };
  return step(`conversion-${conversionId()}`, { ...event, data } as DomainEvent);
};
const used = step(`apikey-${keyId()}`, {
  type: 'KeyUsed',
  data: { accountId: accountId(), keyId: keyId(), usedAt: NOW },
});
const revoked = step(`apikey-${keyId()}`, {
  type: 'KeyRevoked',
  data: { accountId: accountId(), keyId: keyId() },
});
const ignored = step(`conversion-${conversionId()}`, {
  type: 'ConversionOutcomeIgnored',
  data: { ...ids, renderer: 'r', attempt: 1, outcome: 'failed' },
});
const downloaded = step(`conversion-${conversionId()}`, {
  type: 'DocumentDownloaded',
  data: { ...ids, network: sha256(), downloadedAt: NOW },
});
const link = { ...ids, linkId: linkId() };
const shared = step(`conversion-${conversionId()}`, {
  type: 'LinkCreated',
  data: { ...link, linkHash: sha256(), createdAt: NOW, expiresAt: NOW + 1 },
});
const linkRevoked = step(`conversion-${conversionId()}`, {
  type: 'LinkRevoked',
  data: { ...link, revokedAt: NOW },
});
const requeued = step(`conversion-${conversionId()}`, {
  type: 'ConversionRequeued',
  data: { ...ids, renderer: 'r', attempt: 1, requeuedAt: NOW },
});
/** Of an erased account, another one gets the address. */
const reserved = (n: number): Step =>
  step('email-1', { type: 'EmailReserved', data: { accountId: accountId(n) } });
const granted = { type: 'CreditGranted', data: { accountId: accountId(), amount: 1 } } as const;
const grantedBy = (grantedAt?: number): Step =>
  step(ACCOUNT, {
    ...granted,
    data: { ...granted.data, idempotencyKey: sha256(5), ...(grantedAt && { grantedAt }) },
  });
/** The events of a batch's append, but for those that are left out. */
const batchOf = (
  total: number,
  numbers: readonly number[],
  without?: DomainEvent['type'],
): Step => {
  const pairs = numbers
    .flatMap((n) => request(n, 1).events(0n))
    .map((event) => {
      const data = {
        ...event.data,
        ...(event.type === 'ConversionRequested' && { batchId: batchId() }),
      };
      return { ...event, data } as DomainEvent;
    });
  const data = { accountId: accountId(), batchId: batchId(), total, requestedAt: NOW };
  const events = pairs.filter(({ type }, n) => n > 1 || type !== without);
  return step(ACCOUNT, { type: 'BatchRequested', data }, ...events);
};
const renewal = (month: string): Step =>
  step(ACCOUNT, { ...granted, data: { ...granted.data, month } });
const unpaidOf = {
  accountId: accountId(),
  batchId: batchId(),
  requestedAt: NOW,
  unpaid: true,
} as const;
const unpaidBatch = (total: number): Step => {
  const each = Array.from({ length: total }, (_, n) => unpaid(n + 1, { batchId: batchId() }));
  const begin: DomainEvent = { type: 'BatchRequested', data: { ...unpaidOf, total } };
  return step(ACCOUNT, begin, ...each.flatMap(({ events }) => events(0n)));
};
const batchEnd = (made: number, failures: number, total = 2): Step =>
  step(`batch-${batchId()}`, {
    type: 'BatchEnded',
    data: {
      accountId: accountId(),
      batchId: batchId(),
      total,
      completed: made,
      failed: failures,
      endedAt: NOW,
    },
  });
const batched = [
  open,
  batchOf(2, [1, 2]),
  start(1, 1),
  completion(1, 1),
  start(2, 1),
  failure(2, 1),
];
const erased = step(ACCOUNT, { type: 'AccountErased', data: { accountId: accountId() } });

void test('logs that keep every rule', (t) => {
  const day = 24 * 60 * 60 * 1000;
  const good: readonly (readonly [counts: string, ...steps: readonly Step[]])[] = [
    ['0 unfinished, 0 refunds due'],
    ['1 unfinished, 0 refunds due', ...begun],
    ['0 unfinished, 1 refunds due', ...failed],
    ['0 unfinished, 0 refunds due', ...failed, refund(), expiry(1, 1)],
    ['0 unfinished, 0 refunds due', ...completed, downloaded, ignored, expiry(1, 1), downloaded],
    ['0 unfinished, 0 refunds due', ...begun, requeued, start(1, 1), completion(1, 1)],
    ['0 unfinished, 0 refunds due', ...failed, erased],
    ['0 unfinished, 0 refunds due', ...signing, signedOnce(), ended({ signature })],
    ['0 unfinished, 0 refunds due', open, certificate(1), certificate(2), destroyed(1)],
    ['0 unfinished, 0 refunds due', open, certificate(1), erased, destroyed(1)],
    ['0 unfinished, 0 refunds due', open, invited(1, 'owner'), joins('owner'), leaves(0), erased],
    ['0 unfinished, 0 refunds due', open, invited(1, 'member'), uninvited, invited(1, 'auditor')],
    ['0 unfinished, 0 refunds due', open, joins('member', { invitation: undefined })],
    [
      '0 unfinished, 0 refunds due',
      ...signing,
      signedOnce(),
      signedOnce(sha256(1), { certificate: sha256(4) }),
      ended({ signature }),
    ],
    ['0 unfinished, 0 refunds due', ...begun, erased, failure(1, 1)],
    ['2 unfinished, 0 refunds due', open, keyed(1, NOW), keyed(2, NOW + day)],
    // A clock ran ahead for one request, and the account forgot the keys before it.
    [
      '3 unfinished, 0 refunds due',
      open,
      keyed(1, NOW),
      keyed(2, NOW + 2 * day, 6),
      keyed(3, NOW + 1),
    ],
    ['0 unfinished, 0 refunds due', keyMaking(1, 1), used, used, revoked],
    ['0 unfinished, 0 refunds due', reserved(1), reserved(2)],
    ['2 unfinished, 0 refunds due', open, batchOf(2, [1, 2])],
    ['0 unfinished, 1 refunds due', ...batched, batchEnd(1, 1)],
    // Without credits, between two that were paid.
    [
      '0 unfinished, 1 refunds due',
      open,
      asked,
      start(1, 1),
      failure(1, 1),
      refund(),
      unpaid(2),
      start(2, 1),
      failure(2, 1),
      request(3, 1),
      start(3, 1),
      failure(3, 1),
    ],
    ['2 unfinished, 0 refunds due', open, unpaidBatch(2)],
    ['0 unfinished, 0 refunds due', open, renewal('2026-11'), renewal('2027-01')],
  ];
  for (const [counts, ...steps] of good) t.equal(check(logOf(steps)), counts);
  const caused = logOf([...failed, refund()], new Map());
  const [failure1] = caused.filter(({ type }) => type === 'ConversionFailed');
  const moved = caused.map((event) =>
    event.type === 'CreditRefunded'
      ? {
          ...event,
          data: { ...event.data, failedAt: '99' },
          metadata: { ...event.metadata, causationId: failure1?.id },
        }
      : event,
  );
  t.equal(check(moved), '0 unfinished, 0 refunds due', 'a log that was moved, with new positions');
  for (const [equal, pdf] of [
    [true, PDF.sha256],
    [false, sha256(9)],
  ] as const) {
    t.equal(check(logOf([...completed, ...compared(equal, pdf)])), '0 unfinished, 0 refunds due');
  }
  t.end();
});

void test('each rule that is broken is told, at the event that breaks it', (t) => {
  const session = { accountId: accountId(), sessionId: sessionId() };
  const faults: readonly (readonly [told: RegExp, ...steps: readonly Step[]])[] = [
    [/^1: expected AccountOpened first/, step(ACCOUNT, granted)],
    [/^4: .*signs no more, .*found the one that signs/, open, certificate(1), destroyed(1)],
    [/^4: .*signs no more, .*found another/, open, certificate(1), destroyed(2)],
    [/^3: .*an open invitation as owner before it, found none/, open, joins('owner')],
    [
      /somebody who is no member, found a member/,
      open,
      joins('member', { invitation: undefined }),
      joins('owner', { invitation: undefined }),
    ],
    [/^4: .*as owner before it, found member/, open, invited(1, 'member'), joins('owner')],
    [
      /^4: .*an open invitation as auditor before it, found auditor/,
      open,
      invited(1, 'auditor'),
      joins('auditor', { documents: true }),
    ],
    [/^5: .*before it, found none/, open, invited(1, 'member'), joins('member'), uninvited],
    [
      /^6: .*somebody who is no member, found a member/,
      open,
      invited(1, 'member'),
      joins('member'),
      invited(2, 'owner'),
      joins('owner', { invitation: personOf(2) }),
    ],
    [/^3: .*a member, found nobody/, open, nowIs(1, 'owner')],
    [/^3: .*a member, found nobody/, open, leaves(1)],
    [/^3: .*an owner of the account after it, found none/, open, nowIs(0, 'auditor')],
    [/^3: .*an owner of the account after it, found none/, open, leaves(0)],
    [/^3: expected AccountOpened first in .*, and once, found AccountOpened/, open, open],
    [/^5: .*a balance of at least 0, found -1/, opening(1, 1), asked, request(2, 1)],
    [
      /the request of conv_.* after it, in one append, found the end of the log/,
      open,
      step(ACCOUNT, debit),
    ],
    [/^4: .*right after its debit, found CreditGranted/, open, step(ACCOUNT, debit, granted)],
    [/^4: .*right after its debit/, open, step(ACCOUNT, debit), step(ACCOUNT, ask)],
    [/^3: .*the debit for conv_.* right before, found none/, open, step(ACCOUNT, ask)],
    [/^7: .*one request of conv_/, ...begun, asked],
    [/^6: .*one conversion for an Idempotency-Key/, open, keyed(1, NOW), keyed(2, NOW + 1)],
    [/^4: .*one grant for an Idempotency-Key/, open, grantedBy(NOW), grantedBy(NOW + 1)],
    [/^3: .*idempotencyKey and grantedAt, or neither/, open, grantedBy()],
    [/^1: .*a request before ConversionStarted/, start(1, 1)],
    [/^7: .*nothing after ConversionCompleted/, ...completed, start(1, 1)],
    [
      /^7: .*one end: ConversionCompleted, found also ConversionFailed/,
      ...completed,
      failure(1, 1),
    ],
    [/^6: .*attempt 2, of 3 at most, found attempt 1/, ...begun, start(1, 1)],
    [/^6: .*an end before ConversionExpired/, ...begun, expiry(1, 1)],
    [/^8: .*one ConversionExpired/, ...completed, expiry(1, 1), expiry(1, 1)],
    [/^6: .*an end before ConversionOutcomeIgnored/, ...begun, ignored],
    [/^7: .*a file before DocumentDownloaded/, ...failed, downloaded],
    [/^7: .*a file before LinkCreated/, ...failed, shared],
    [/^7: .*a file before LinkRevoked/, ...failed, linkRevoked],
    [
      /^8: .*a conversion of acct_.*1, found one of acct_.*2/,
      openOther,
      ...begun,
      completion(1, 2),
    ],
    [/^8: .*found one that was refunded before/, ...failed, refund(), refund()],
    [/^7: .*to be refunded, found ConversionCompleted/, ...completed, refund()],
    [/^6: .*to be refunded, found a conversion without an end/, ...begun, refund()],
    [/^7: .*a refund of the 1 that was debited, found 2/, ...failed, refund(1, 2)],
    [/^9: .*found no such conversion of it/, openOther, ...failed, refund(1, 1, 2)],
    [/^3: .*nothing more in apikey-/, keyMaking(1, 1), revoked, used],
    [/^1: .*KeyCreated first/, used],
    [
      /^1: .*SessionOpened first/,
      step(`session-${sessionId()}`, { type: 'SessionRevoked', data: session }),
    ],
    [
      /^3: .*a CreditGranted of the stream account-.*1, found one in account-.*2/,
      openOther,
      step(OTHER, granted),
    ],
    [/^1: .*found one in signins-1/, step('signins-1', granted)],
    [
      /^4: .*request of conv_.* right after its debit, found ConversionRequested/,
      open,
      step(ACCOUNT, debit, { ...ask, data: { ...ask.data, isTest: true } } as DomainEvent),
    ],
    [
      /^6: .*to be refunded, found ConversionFailed/,
      open,
      unpaid(1),
      start(1, 1),
      failure(1, 1),
      refund(),
    ],
    [
      /^4: .*request of conv_.* right after its debit, found ConversionRequested/,
      open,
      step(ACCOUNT, debit, { ...ask, data: { ...ask.data, unpaid: true } } as DomainEvent),
    ],
    [/^4: .*the debit for conv_.* right before/, open, batchOf(2, [1, 2], 'CreditDebited')],
    [
      /^5: .*request of conv_.* right after its debit, found CreditDebited/,
      open,
      batchOf(2, [1, 2], 'ConversionRequested'),
    ],
    [/1 more requests of batch_.*, in one append, found the end of/, open, batchOf(2, [1])],
    [/^6: .*1 more requests of batch_.* right after it, found C/, open, batchOf(2, [1]), asked],
    [/^7: .*the BatchRequested of batch_.* before, found none/, open, batchOf(1, [1, 2])],
    [/^8: .*one BatchRequested of batch_.*, found two/, open, batchOf(2, [1, 2]), batchOf(1, [3])],
    [
      /^4: .*2 more requests of batch_.* right after it, found C/,
      open,
      step(ACCOUNT, { type: 'BatchRequested', data: { ...unpaidOf, total: 2 } }, debit, ask),
    ],
    [
      /^4: .*a month after 2026-11, found one for 2026-11/,
      open,
      renewal('2026-11'),
      renewal('2026-11'),
    ],
    [/^12: .*1 completed and 1 failed of 2, found 2 completed/, ...batched, batchEnd(2, 0)],
    [/^12: .*1 completed and 1 failed of 2, found 1 .*of 1$/, ...batched, batchEnd(1, 0, 1)],
    [/^12: .*1 completed and 1 failed of 2, found 1 .*of 3$/, ...batched, batchEnd(1, 1, 3)],
    [/^8: .*0 completed and 0 failed of 2/, open, batchOf(2, [1, 2]), batchEnd(1, 1)],
    [/^13: .*nothing of batch_.* after its end/, ...batched, batchEnd(1, 1), batchEnd(1, 1)],
    [/^1: .*a batch of acct_/, batchEnd(1, 1)],
    [
      /^10: .*equal: true, by the hashes, found equal: false/,
      ...completed,
      ...compared(false, PDF.sha256),
    ],
    [
      /^10: .*equal: false, by the hashes, found equal: true/,
      ...completed,
      ...compared(true, sha256(9)),
    ],
    [
      /^10: .*an earlier PDF of its account/,
      ...completed,
      ...compared(true, PDF.sha256, conversionId(3)),
    ],
    [/^6: .*a request that asks for a signature/, ...begun, signedOnce()],
    [
      /^6: .*one of 1 tries, found one for attempt 2/,
      ...signing,
      signedOnce(sha256(1), { attempt: 2 }),
    ],
    [
      /^7: .*one hash that was signed for each try/,
      ...signing,
      signedOnce(),
      signedOnce(sha256(2)),
    ],
    [
      /^8: .*nothing after ConversionCompleted/,
      ...signing,
      signedOnce(),
      ended({ signature }),
      signedOnce(),
    ],
    [
      /^7: .*the signature that its request asks for, found none/,
      ...signing,
      signedOnce(),
      ended({}),
    ],
    [/^6: .*no signature: its request asks for none/, ...begun, ended({ signature })],
    [/^6: .*the signature made for attempt 1/, ...signing, ended({ signature })],
    [
      /^7: .*the signature made for attempt 1/,
      ...signing,
      signedOnce(),
      ended({ signature: { ...signature, level: 'B-T' } }),
    ],
  ];
  for (const [told, ...steps] of faults) t.match(check(logOf(steps)), told, `${told}`);
  const late = [failure(1, 1), request(2, 1), start(2, 1), failure(2, 1), refund(2)];
  t.match(check(logOf([...begun, ...late])), /failure 1 first, found that of 2/, 'passed over');
  t.end();
});

void test('what is not an event of this release is reported', (t) => {
  const log = logOf(completed);
  const with6 = (change: object): string =>
    check(log.map((event, index) => (index === 5 ? { ...event, ...change } : event)));
  t.match(with6({ revision: 2 }), /^6: expected revision 1 of conversion-.*, found revision 2/);
  t.match(with6({ revision: 0 }), /^6: expected revision 1 of conversion-.*, found revision 0/);
  t.match(with6({ type: 'Nonsense' }), /^6: .*Unknown event type Nonsense/);
  t.match(with6({ data: { ...log[5]?.data, pages: 'many' } }), /^6: .*\/pages must be integer/);
  for (const metadata of [null, {}, { schemaVersion: 1 }, { schemaVersion: 0.5, time: 1 }]) {
    t.match(with6({ metadata }), /^6: expected metadata with a time and a schema version/);
  }
  t.match(with6({ metadata: { schemaVersion: 99, time: 1 } }), /newer than this release/);
  const document = { key: `${conversionId(2)}/document-${sha256()}`, sha256: sha256(), bytes: 1 };
  t.match(with6({ data: { ...log[5]?.data, document } }), /^6: expected a file conv_.*1\/document/);
  t.end();
});
