/** What must be true of people after a round, from outside and from the log. */
import { bearer } from '../../client/src/transport.ts';
import { KEY_WARNING_MS, mailIdOf } from '../../projections/mails.ts';
import type { EventMetadata } from '../../src/domain/event-metadata.ts';
import type { EventOf, EventType } from '../../src/domain/events.ts';
import { founderOf } from '../../src/domain/members.ts';
import { eventually } from '../support/deadline.ts';
import type { LogEvent } from '../support/invariants.ts';
import type { ReceivedMail } from '../support/mail-server.ts';
import { byKey, call } from './people-traffic.ts';
import type { PeoplePromises } from './promises.ts';
import type { Site } from './site.ts';

/** A request for a link whose process ended is followed after 30 s, by the next leader. */
const MAILED_WITHIN_MS = 75_000;

type Fact<T extends EventType> = LogEvent & { readonly facts: EventOf<T>['data'] };

const all = <T extends EventType>(log: readonly LogEvent[], type: T): readonly Fact<T>[] =>
  log.flatMap((event) =>
    event.type === type ? [{ ...event, facts: JSON.parse(event.data) as EventOf<T>['data'] }] : [],
  );

const actorOf = ({ metadata }: LogEvent) => (JSON.parse(metadata) as EventMetadata).actor;

/** Nothing is done in the name of somebody after their removal. */
function doneAfterRemoval(log: readonly LogEvent[]): readonly string[] {
  const removals = new Map(
    all(log, 'MemberRemoved').map(({ facts, position }) => [facts.personId, position]),
  );
  // In the stream of the account, which decides: what other streams say of an earlier request comes later.
  return log
    .filter(({ stream }) => stream.startsWith('account-'))
    .flatMap((event) => {
      const actor = actorOf(event);
      const person = 'person' in actor ? actor.person : undefined;
      const removed = removals.get(person ?? '');
      return removed !== undefined && event.position > removed && event.type !== 'CreditRefunded'
        ? [`${event.position} ${event.type} by ${person}, who was removed at ${removed}`]
        : [];
    });
}

/** What a suspended account may not get. */
const NEW: ReadonlySet<string> = new Set([
  'ConversionRequested',
  'CreditDebited',
  'BatchRequested',
]);

function acceptedWhileSuspended(log: readonly LogEvent[]): readonly string[] {
  const suspended = new Set<string>();
  return log.flatMap((event) => {
    const { stream, type, position } = event;
    if (type === 'AccountSuspended') suspended.add(stream);
    if (type === 'AccountResumed') suspended.delete(stream);
    return suspended.has(stream) && NEW.has(type) ? [`${position} ${type} in ${stream}`] : [];
  });
}

/** Each account on the plan has the credits of each month at most once, and of one month at least. */
function renewals(log: readonly LogEvent[], { monthly }: PeoplePromises): readonly string[] {
  const granted = new Map<string, string[]>();
  for (const { facts } of all(log, 'CreditGranted')) {
    const { accountId, month } = facts;
    if (month !== undefined) granted.set(accountId, [...(granted.get(accountId) ?? []), month]);
  }
  const twice = [...granted]
    .filter(([, months]) => new Set(months).size < months.length)
    .map(([accountId, months]) => `${accountId} got ${months.join(', ')}`);
  const never = monthly.filter((each) => !granted.has(each));
  return [...twice, ...never.map((each) => `${each} got no credits of a month`)];
}

/** The mails that events make due by a moment, in milliseconds since the epoch. */
function dueMails(log: readonly LogEvent[], now: number): ReadonlyMap<string, string> {
  const due = new Map<string, string>();
  for (const { id, facts } of all(log, 'PasswordResetOffered')) {
    const person = founderOf(facts.accountId);
    if (facts.byMail) due.set(mailIdOf(id, 'password_reset', person), 'a link');
  }
  for (const { id, facts } of all(log, 'KeyCreated')) {
    const since = (facts.expiresAt ?? 0) - KEY_WARNING_MS;
    const person = facts.createdBy ?? founderOf(facts.accountId);
    if (since > facts.createdAt && since < now) {
      due.set(mailIdOf(id, 'key_expiring', person), 'the end of a key');
    }
  }
  return due;
}

const isReset = ({ subject }: ReceivedMail['mail']): boolean =>
  subject?.startsWith('Set another password') ?? false;

/** Each mail that is due was sent, or has failed as told; each that was sent has come, under its own Message-ID. */
function mailsMissing(
  site: Site,
  log: readonly LogEvent[],
  { resets }: PeoplePromises,
  now: number,
): readonly string[] {
  const come = new Set(site.people.mails.map(({ mail }) => mail.messageId));
  const sent = new Set(all(log, 'MailSent').map(({ facts }) => facts.mailId));
  const failed = new Set(
    all(log, 'MailFailed')
      .filter(({ facts }) => facts.nextAt === undefined)
      .map(({ facts }) => facts.mailId),
  );
  const problems = [...dueMails(log, now)].flatMap(([id, what]) =>
    sent.has(id) || failed.has(id) ? [] : [`${id}, of ${what}, was not sent`],
  );
  for (const id of sent) if (!come.has(`<${id}@example.com>`)) problems.push(`${id} has not come`);
  // A revoked invitation may have gone out, and a mail whose process was killed comes again as the same one.
  const known = new Set([...sent, ...failed].map((id) => `<${id}@example.com>`));
  const strange = site.people.mails.filter(
    ({ mail, to }) => !known.has(mail.messageId ?? '') && !to.join().startsWith('member'),
  );
  problems.push(...strange.map(({ mail }) => `${mail.messageId} is nobody's: ${mail.subject}`));
  const open = new Map<string, number>();
  for (const { type, facts } of [
    ...all(log, 'PasswordResetAsked'),
    ...all(log, 'PasswordResetAnswered'),
  ].toSorted((a, b) => a.position - b.position)) {
    if (type === 'PasswordResetAnswered') open.delete(facts.address);
    // One that was asked for while the clock was ahead waits until then.
    else if ('askedAt' in facts && facts.askedAt < now) open.set(facts.address, facts.askedAt);
  }
  // The mail of a link whose time was over by the clock of its node, or that is asked for later by it, is excused.
  const later = all(log, 'PasswordResetAsked').filter(({ facts }) => facts.askedAt > now);
  const unmailed = resets.filter(
    (email) => !site.people.mails.some(({ mail, to }) => to.includes(email) && isReset(mail)),
  );
  if (unmailed.length > later.length + failed.size) {
    problems.push(`nobody has mailed a link to ${unmailed.join(', ')}`);
  }
  if (open.size > 0) problems.push(`${open.size} requests for links were not followed`);
  return problems;
}

/** The history says who did each act that a client knows was done. */
function actorsMissing(log: readonly LogEvent[], { acts }: PeoplePromises): readonly string[] {
  return acts.flatMap(({ type, about, by }) => {
    const event = log.find((each) => each.type === type && each.data.includes(about));
    if (event === undefined) return [`${type} of ${about} is not in the log`];
    const actor = JSON.stringify(actorOf(event));
    return actor.includes(by) ? [] : [`${type} of ${about} is by ${actor}, not ${by}`];
  });
}

/** No node lets in who was removed. */
async function letsInRemoved(site: Site, { removed }: PeoplePromises): Promise<readonly string[]> {
  const latest = removed.at(-1);
  if (latest === undefined) return [];
  const { email, password, key, access, refresh } = latest;
  const tries = [
    ['the key', ['GET', '/account/'], { credential: byKey(key) }],
    ['the session', ['GET', '/account/'], { credential: bearer(access) }],
    ['the refresh token', ['POST', '/auth/jwt/refresh/'], { body: { refresh } }],
    ['the password', ['POST', '/auth/jwt/create/'], { body: { email, password } }],
  ] as const;
  const asked = site.services.flatMap((_, turn) =>
    tries.map(async ([what, request, sent]) => {
      const { answered } = await call(site, turn, request, sent);
      // A right password of somebody who belongs to no account is refused in other words.
      return answered === 401 || (what === 'the password' && answered === 403)
        ? []
        : [`${what} of ${email} gets ${answered}`];
    }),
  );
  return (await Promise.all(asked)).flat();
}

/** @returns what does not hold of people after a round */
export async function checkPeople(site: Site, people: PeoplePromises): Promise<readonly string[]> {
  // What becomes due while this looks is not late yet.
  const now = Date.now();
  const late = async () => {
    const log = await site.log();
    return [...mailsMissing(site, log, people, now), ...renewals(log, people)];
  };
  const isDone = async () => ((await late()).length === 0 ? true : undefined);
  await eventually('mails and renewals', isDone, MAILED_WITHIN_MS).catch(() => {});
  const log = await site.log();
  return [
    ...(await late()),
    ...doneAfterRemoval(log),
    ...acceptedWhileSuspended(log),
    ...actorsMissing(log, people),
    ...(await letsInRemoved(site, people)),
  ];
}
