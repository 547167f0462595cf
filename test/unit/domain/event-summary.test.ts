/** The sentences that people read of events in histories and evidence: each says what happened, and no more. */
import { test } from 'tap';
import { comparisonText, sizeText, summaryOf } from '../../../src/domain/event-summary.ts';
import type { DomainEvent, EventOf, EventType } from '../../../src/domain/events.ts';
import {
  batchId,
  conversionId,
  keyId,
  NOW,
  OPTIONS,
  templateId,
  webhookId,
} from '../../support/samples.ts';

const DATE = '2026-11-21T12:30:00.000Z';
type Row = readonly [event: DomainEvent, sentence: string];

/** The fields that the sentence depends on; the shape of whole events is tested with the samples. */
const row = <T extends EventType>(type: T, data: Partial<EventOf<T>['data']>, sentence: string) =>
  [{ type, data } as unknown as DomainEvent, sentence] as const;

const check = (title: string, rows: readonly Row[]): void =>
  void test(title, (t) => {
    for (const [event, sentence] of rows) t.equal(summaryOf(event), sentence, event.type);
    t.end();
  });

void test('a size is in the unit that people would choose', (t) => {
  const cases: readonly (readonly [number, string])[] = [
    [0, '0 bytes'],
    [1, '1 byte'],
    [999, '999 bytes'],
    [1000, '1.0 kB'],
    [45_200, '45.2 kB'],
    [999_949, '999.9 kB'],
    [999_950, '1.0 MB'],
    [2_500_000, '2.5 MB'],
  ];
  for (const [bytes, text] of cases) t.equal(sizeText(bytes), text);
  t.end();
});

const pages = (count: number) => Array.from({ length: count }, (_, n) => n + 1);

void test('a comparison names the pages that differ, at most ten', (t) => {
  const differ = 'It differs from the first one:';
  const ten = '1, 2, 3, 4, 5, 6, 7, 8, 9, 10';
  const cases: readonly (readonly [Parameters<typeof comparisonText>[0], string])[] = [
    [{ equal: true }, 'It is equal to the first one, byte for byte.'],
    [{ equal: false }, 'Its bytes differ from those of the first one.'],
    [
      { equal: false, pages: [] },
      'Its bytes differ from those of the first one, and no page does.',
    ],
    [{ equal: false, pages: [3] }, `${differ} page 3 differs.`],
    [{ equal: false, pages: [3, 5] }, `${differ} pages 3, 5 differ.`],
    [{ equal: false, pages: pages(10) }, `${differ} pages ${ten} differ.`],
    [{ equal: false, pages: pages(11) }, `${differ} pages ${ten} and others differ.`],
  ];
  for (const [comparison, text] of cases) t.equal(comparisonText(comparison), text);
  t.end();
});

const requested = (data: Partial<EventOf<'ConversionRequested'>['data']>, sentence: string): Row =>
  row('ConversionRequested', { source: 'html', options: OPTIONS, ...data }, sentence);

check('a request says what is made of what, for whom, and whether it costs anything', [
  requested({}, 'A PDF was requested, from HTML.'),
  requested({ source: 'url' }, 'A PDF was requested, from a URL.'),
  requested({ isTest: true }, 'A test PDF was requested, from HTML.'),
  requested({ unpaid: true }, 'A PDF was requested, from HTML. It costs no credit.'),
  requested({ options: { ...OPTIONS, format: 'png' } }, 'A picture was requested, from HTML.'),
  requested({ filename: 'v1.f' }, 'A PDF was requested, from HTML, with a file name.'),
  requested(
    { filename: 'v1.f', tags: 'v1.t' },
    'A PDF was requested, from HTML, with a file name and tags.',
  ),
  requested(
    { filename: 'v1.f', reference: 'v1.r', tags: 'v1.t' },
    'A PDF was requested, from HTML, with a file name, a reference and tags.',
  ),
  requested(
    { retryOf: conversionId(2) },
    `A PDF was requested, from HTML, once more for ${conversionId(2)}.`,
  ),
  requested(
    { rerenderOf: conversionId(2) },
    `A PDF was requested, from HTML, to be compared with ${conversionId(2)}.`,
  ),
  requested({ batchId: batchId() }, `A PDF was requested, from HTML, in the batch ${batchId()}.`),
  requested(
    { template: { id: templateId(), version: 3 } },
    `A PDF was requested, from version 3 of the template ${templateId()}.`,
  ),
]);

check('an end says what was stored, or why nothing was', [
  row(
    'ConversionCompleted',
    { pages: 1, pdf: { sha256: '', bytes: 1000 } },
    'The file was stored: 1 page, 1.0 kB.',
  ),
  row(
    'ConversionCompleted',
    {
      pages: 2,
      pdf: { sha256: '', bytes: 1000 },
      signature: { level: 'B-T', certificate: '' },
      rerender: { equal: true },
    },
    'The file was stored: 2 pages, 1.0 kB, signed (PAdES B-T). It is equal to the first one, byte for byte.',
  ),
  row('ConversionFailed', { code: 'cancelled', attempt: 1 }, 'The conversion was cancelled.'),
  row(
    'ConversionFailed',
    { code: 'page_timeout' as never, attempt: 2 },
    'The conversion failed (page_timeout) on attempt 2.',
  ),
  row(
    'ConversionFailed',
    { code: 'page_timeout' as never, attempt: 2, picture: {} as never },
    'The conversion failed (page_timeout) on attempt 2. There is a picture of its page.',
  ),
  row('ConversionDeleted', {}, 'The deletion of the stored documents was asked for.'),
  row(
    'ConversionDeleted',
    { afterDownload: true },
    'The PDF was downloaded, and the request asked for the deletion of the stored documents then.',
  ),
  row('DocumentDownloaded', {}, 'The PDF was downloaded with a credential.'),
  row(
    'DocumentDownloaded',
    { link: 'link_1', isLast: true },
    'The PDF was downloaded through a link. Further downloads are not recorded.',
  ),
]);

check('credits are granted, taken and given back', [
  row('CreditGranted', { amount: 1 }, '1 credit was granted.'),
  row(
    'CreditGranted',
    { amount: 2000, month: '2026-11' },
    '2,000 credits were granted by the plan for 2026-11.',
  ),
  row('CreditDebited', { amount: 1 }, '1 credit was taken for the conversion.'),
  row('CreditRefunded', { amount: 2 }, '2 credits were refunded, because the conversion failed.'),
  row(
    'LowCreditsChanged',
    {},
    'Owners are told by mail when less than a tenth of the last grant of credits is left.',
  ),
  row('LowCreditsChanged', { below: 0 }, 'Owners are not told by mail of low credits any more.'),
  row(
    'LowCreditsChanged',
    { below: 5 },
    'Owners are told by mail when the account has fewer than 5 credits.',
  ),
  row(
    'LowCreditsChanged',
    { below: 1 },
    'Owners are told by mail when the account has fewer than 1 credit.',
  ),
]);

check('the settings of an account say what holds from then on', [
  row('RetentionChanged', {}, 'Documents are kept as long as the service keeps them.'),
  row(
    'RetentionChanged',
    { retentionSeconds: 0 },
    'Documents of new conversions are kept for 0 seconds at most.',
  ),
  row('PublicNameChanged', {}, 'The account is not named any more to people who check its PDFs.'),
  row(
    'PublicNameChanged',
    { name: 'v1.n' },
    'The account set the name that people who check its PDFs are told.',
  ),
  row('StatementRequested', { month: '2026-11' }, 'The statement of 2026-11 was requested.'),
  row(
    'StatementRequested',
    { month: '2026-11', replaces: conversionId() },
    `The statement of 2026-11 was requested, which replaces ${conversionId()}.`,
  ),
  row('HoldPlaced', {}, 'A hold was placed: nothing is deleted meanwhile.'),
  row(
    'HoldPlaced',
    { until: NOW },
    `A hold was placed until ${DATE}: nothing is deleted meanwhile.`,
  ),
  row(
    'AccountInspected',
    { what: 'export' },
    'An operator of the service exported everything kept about it.',
  ),
  row('AccountInspected', { what: 'account' }, 'An operator of the service looked at the account.'),
  row('AccountInspected', {}, 'An operator of the service looked at its keys, use and failures.'),
  row('MailSwitched', { on: true }, 'The service sends mail from now on.'),
  row('MailSwitched', { on: false }, 'The service sends no mail any more.'),
]);

const ended = 'their sessions and keys of it have ended.';
check('the history of people says who came, went and may do what', [
  row('MemberInvited', { role: 'member' }, 'Somebody was invited as a member.'),
  row(
    'MemberInvited',
    { role: 'owner', byMail: true },
    'Somebody was invited as an owner. Only a mail brings the link.',
  ),
  row(
    'MemberInvited',
    { role: 'auditor', documents: true },
    'Somebody was invited as an auditor, who may read documents.',
  ),
  row(
    'MemberJoined',
    { role: 'member' },
    'A person joined as a member: the identity provider let them in.',
  ),
  row(
    'MemberJoined',
    { role: 'auditor', invitation: 'person_1' },
    'An invited person joined as an auditor.',
  ),
  row('MemberChanged', { role: 'owner' }, 'A person is an owner of the account from now on.'),
  row(
    'MemberChanged',
    { role: 'owner', byProvider: true },
    'A person is an owner of the account from now on, as the identity provider says.',
  ),
  row('MemberRemoved', {}, `A person was removed from the account: ${ended}`),
  row('MemberRemoved', { left: true }, `A person left the account: ${ended}`),
  row(
    'MemberRemoved',
    { unproven: true },
    `A person was removed from the account, because their address was proven for the first time: ${ended}`,
  ),
  row('SessionsEnded', {}, 'All sessions were ended.'),
  row('SessionsEnded', { personId: 'person_1' }, 'All sessions of one person were ended.'),
  row(
    'SignUpOffered',
    { plan: 'free', expiresAt: NOW },
    `A link that opens an account on the plan free was made. It is valid until ${DATE}.`,
  ),
  row(
    'SignUpOffered',
    { plan: 'free', expiresAt: NOW, byMail: true },
    `A link that opens an account on the plan free was sent by mail. It is valid until ${DATE}.`,
  ),
  row('SignUpEnded', {}, 'A link that opens an account ended: nobody had used it.'),
  row('SignUpEnded', { opened: true }, 'The link that opens the account was used.'),
  row('PersonRegistered', {}, 'A person signed in for the first time, with the identity provider.'),
  row(
    'PersonRegistered',
    { passwordHash: 'v1.p' },
    'An invited person chose a name and a password.',
  ),
]);

check('the history of sign-ins says with what, and what was refused', [
  row(
    'MemberPasswordReset',
    {},
    "An operator of the service set a member's password, and all their sessions have ended.",
  ),
  row(
    'MemberPasswordReset',
    { expiresAt: NOW },
    `A link that sets another password of a member, once, was made. It is valid until ${DATE}.`,
  ),
  row('PasswordChanged', {}, 'The password was changed, and all sessions ended.'),
  row(
    'PasswordChanged',
    { byLink: true },
    'The password was set with a link, and all sessions ended.',
  ),
  row(
    'PersonPasswordChanged',
    {},
    'A person changed their password, and all their sessions have ended.',
  ),
  row(
    'PersonPasswordChanged',
    { byLink: true },
    'A person set their password with a link, and all their sessions have ended.',
  ),
  row('PersonMailsChanged', { off: [] }, 'A person gets every kind of mail.'),
  row(
    'PersonMailsChanged',
    { off: ['credits_low', 'key_expiring'] },
    'A person switched off 2 kinds of mail: credits_low, key_expiring.',
  ),
  row(
    'RecoveryCodeUsed',
    { left: 1 },
    'A person used a recovery code in place of their second factor: 1 code is left.',
  ),
  row(
    'RecoveryCodeUsed',
    { left: 0 },
    'A person used a recovery code in place of their second factor: 0 codes are left.',
  ),
  row(
    'SessionOpened',
    { kind: 'dashboard' },
    'A session of the dashboard was opened by signing in.',
  ),
  row(
    'SessionOpened',
    { kind: 'api', methods: ['password', 'otp'] },
    'A session was opened by signing in with the password and a code of an authenticator.',
  ),
  row('SignInRefused', {}, 'A wrong password or passkey was refused.'),
  row('SignInRefused', { isCode: true }, 'A wrong code of a second factor was refused.'),
  row('SignInsLeftOut', { count: 1 }, 'At least 1 refused sign-in was not recorded one by one.'),
  row('SignInsLeftOut', { count: 2 }, 'At least 2 refused sign-ins were not recorded one by one.'),
  row('PasswordResetAnswered', {}, 'The request for a link that sets a password was followed.'),
  row(
    'PasswordResetAnswered',
    { givenUp: true },
    'The request for a link that sets a password was given up: the link could not be made within an hour.',
  ),
  row('EmailReserved', {}, 'The sign-in address was reserved for the account.'),
  row(
    'EmailReserved',
    { personId: 'person_1' },
    'The sign-in address was reserved for an invited person.',
  ),
  row(
    'EmailReserved',
    { personId: 'person_1', forChange: true },
    'The sign-in address was reserved for a person who changes theirs.',
  ),
]);

const key = { keyId: keyId(), prefix: 'pk_live_abcd' };
check('a key says what bounds it', [
  row('KeyCreated', key, 'The API key pk_live_abcd… was created.'),
  row('KeyCreated', { ...key, isTest: true }, 'The test key pk_live_abcd… was created.'),
  row(
    'KeyCreated',
    { ...key, scopes: ['read'] },
    'The API key pk_live_abcd… was created, with the scope read.',
  ),
  row(
    'KeyCreated',
    {
      ...key,
      scopes: ['convert', 'read'],
      expiresAt: NOW,
      addresses: 'v1.a',
      rateLimit: 1,
      creditLimit: 2000,
    },
    `The API key pk_live_abcd… was created, with the scopes convert, read, valid until ${DATE}, bound to addresses, with 1 request a minute, with 2,000 credits a month.`,
  ),
]);

const hook = { webhookId: webhookId() };
const tried = {
  message: 'conversion.completed',
  attempt: 2,
  outcome: 'retry',
  durationMs: 7,
} as const;
check('a delivery says what was answered, and whether there is another try', [
  row('WebhookChanged', hook, `The webhook endpoint ${webhookId()} was changed.`),
  row(
    'WebhookChanged',
    { ...hook, enabled: true },
    `The webhook endpoint ${webhookId()} was switched on.`,
  ),
  row(
    'WebhookChanged',
    { ...hook, enabled: false },
    `The webhook endpoint ${webhookId()} was switched off.`,
  ),
  row(
    'WebhookSecretRotated',
    hook,
    `The secret of the webhook endpoint ${webhookId()} was replaced.`,
  ),
  row(
    'WebhookSecretRotated',
    {},
    'The secret that signs deliveries to the URLs of requests was made or replaced.',
  ),
  row(
    'WebhookDisabled',
    { ...hook, reason: 'gone', since: NOW },
    `The webhook endpoint ${webhookId()} was switched off, because it answered 410.`,
  ),
  row(
    'WebhookDisabled',
    { ...hook, reason: 'failing', since: NOW },
    `The webhook endpoint ${webhookId()} was switched off, because every try since ${DATE} failed.`,
  ),
  row(
    'DeliveryAttempted',
    { ...tried, ...hook, outcome: 'delivered', status: 200 },
    `Try 2 to deliver conversion.completed to ${webhookId()} was answered with 200 in 7 ms.`,
  ),
  row(
    'DeliveryAttempted',
    { ...tried, failure: 'timeout', nextAt: NOW },
    `Try 2 to deliver conversion.completed to the URL of the request got no answer (timeout) in 7 ms. The next try is at ${DATE}.`,
  ),
  row(
    'DeliveryAttempted',
    { ...tried, outcome: 'failed', status: 410 },
    'Try 2 to deliver conversion.completed to the URL of the request was answered with 410 in 7 ms. There is no other try.',
  ),
  row('RedeliveryRequested', {}, 'A delivery to the URL of the request was requested once more.'),
  row('RedeliveryRequested', hook, `A delivery to ${webhookId()} was requested once more.`),
]);
