/**
 * Sends mails. The read model is the list of what is due; each answer of the server becomes an event. A mail whose process
 * dies before that is sent again: people get it at least once, under one Message-ID.
 */
import { type MailRow, mailQueries } from '../../projections/mail-queries.ts';
import { type LetterDependencies, letterFor } from '../accounts/mail-letters.ts';
import { firstCommand } from '../actors/command-context.ts';
import type { ActorSystem } from '../actors/system.ts';
import { unlessErased } from '../documents/keys/vault.ts';
import type { MailFailure } from '../domain/choices.ts';
import { LOG_ID, logAggregate } from '../domain/log.ts';
import { GIVEN_UP_AFTER_MS, mailAggregate } from '../domain/mail.ts';
import type { Log } from '../log/log-origin.ts';
import { renderLetter } from '../mail/letter.ts';
import type { MailAnswer, Mailer } from '../mail/port.ts';
import type { Logger } from '../observe/log.ts';
import { LogThrottle } from '../observe/log-throttle.ts';
import type { Clock } from '../time/clock.ts';
import { type BackgroundLoop, startBackgroundLoop } from './background-loop.ts';
import { Resting } from './resting.ts';

/** Mails that are sent at a time: each has a connection of its own. */
const AT_ONCE = 4;
const FIRST_PAUSE_MS = 5000;
const LONGEST_PAUSE_MS = 5 * 60_000;
/** The clock may be set while a mail waits for its time. */
const LOOK_EVERY_MS = 60_000;
/** A mail that cannot be written or recorded is left alone for it, and each further time twice as long. */
const REST_MS = 10_000;
/** A stop waits so long for answers. What is under way then is sent again by the next leader. */
const STOP_MS = 2000;

/** Events that make mails due, or end them. */
const WAKING = [
  'MemberInvited',
  'SignUpOffered',
  'PasswordResetOffered',
  'PersonResetOffered',
  'EmailChangeOffered',
  'PersonEmailOffered',
  'EmailChanged',
  'PersonEmailChanged',
  'PersonAddressProven',
  'SessionOpened',
  'CreditDebited',
  'WebhookDisabled',
  'KeyCreated',
  'MailFailed',
] as const;

const idOf = ({ id }: MailRow): string => id;

export type MailSending = Log &
  Omit<LetterDependencies, 'actors'> & {
    readonly mailer: Mailer;
    readonly logger: Logger;
    /** The pause after the first time that the server took no mail at all; twice as long after each further one. */
    readonly firstPauseMs?: number;
  };

/** Records in the log whether the service sends mail. Of two nodes with other settings, the last one to lead counts. */
export async function switchMail(
  { actors, clock }: { readonly actors: ActorSystem; readonly clock: Clock },
  on: boolean,
): Promise<void> {
  const { state } = await actors.read(logAggregate, LOG_ID);
  if (state.sendsMail === on) return;
  const at = clock.now();
  const context = firstCommand(at, { kind: 'service' });
  await actors.send(logAggregate, LOG_ID, { type: 'SwitchMail', on, at }, context);
}

export function startMails(deps: MailSending): BackgroundLoop {
  const { actors, clock, logger, mailer, readModel, runner, store } = deps;
  const { firstPauseMs = FIRST_PAUSE_MS } = deps;
  const unavailable = new LogThrottle();
  const unwritten = new LogThrottle();
  const ending = new AbortController();
  const resting = new Resting(REST_MS);
  let isSwitched = false;
  let failures = 0;
  let pauseUntil = 0;
  let timer: NodeJS.Timeout | undefined;

  async function record(row: MailRow, failure?: MailFailure, status?: number): Promise<void> {
    const { id: mailId, kind, accountId, personId, eventId, since } = row;
    const at = clock.now();
    const attempt = row.attempt + 1;
    const command = {
      type: 'RecordAttempt',
      mailId,
      kind,
      ...(accountId !== undefined && { accountId }),
      personId,
      attempt,
      ...(failure !== undefined && { failure }),
      ...(status !== undefined && { status }),
      since,
      jitter: Math.random(),
      at,
    } as const;
    const metadata = {
      correlationId: mailId,
      causationId: eventId,
      actor: { kind: 'service' },
      time: at,
    } as const;
    const context = { commandId: `${mailId}/${attempt}`, metadata, beginsStream: attempt === 1 };
    await actors.send(mailAggregate, mailId, command, context);
  }

  /** @returns false where the server takes no mail now */
  async function take(row: MailRow, answer: MailAnswer): Promise<boolean> {
    switch (answer.outcome) {
      case 'accepted':
        await record(row);
        break;
      case 'unanswered':
        await record(row, answer.failure);
        break;
      case 'unavailable':
        unavailable.log((suppressed) =>
          logger.warn(
            { reason: answer.reason, suppressed },
            'the mail server takes no mail: it is asked again',
          ),
        );
        return false;
      case 'refused':
      case 'deferred':
        await record(row, answer.outcome, answer.status);
    }
    return true;
  }

  /** @returns false where the server takes no mail now */
  async function send(row: MailRow): Promise<boolean> {
    try {
      const written = await unlessErased(letterFor(deps, row));
      if (written === undefined) {
        // It may have ended since the look, with its person or its account. Nothing is to be said of these.
        await runner.waitFor(await store.head());
        if (readModel.query(mailQueries).isWaiting(row.id)) await record(row, 'outdated');
        return true;
      }
      const { to, letter } = written;
      const answer = await mailer.send({ id: row.id, to, ...renderLetter(letter) }, ending.signal);
      const isTaken = await take(row, answer);
      resting.done(row.id);
      return isTaken;
    } catch (error) {
      if (!ending.signal.aborted) rest(row, error);
      return true;
    }
  }

  function rest({ id: mailId }: MailRow, err: unknown): void {
    resting.failed(mailId);
    unwritten.log((suppressed) =>
      logger.warn({ err, mailId, suppressed }, 'a mail waits: it is tried again'),
    );
  }

  async function giveUp(stopping: AbortSignal): Promise<void> {
    const before = clock.now() - GIVEN_UP_AFTER_MS;
    const queries = readModel.query(mailQueries);
    const old = resting.awake((limit) => queries.olderThan(before, limit), idOf, 100);
    for (const row of old) {
      if (stopping.aborted) return;
      await record(row, 'given_up').catch((error: unknown) => rest(row, error));
    }
    if (old.length > 0) await runner.waitFor(await store.head());
  }

  /** Those that may be sent at a time. */
  function chosen(now: number): readonly MailRow[] {
    const queries = readModel.query(mailQueries);
    return resting.awake((limit) => queries.due(now, limit), idOf, AT_ONCE);
  }

  /** Milliseconds until there may be something to do. @param looked the time of the last look: what became due since comes next */
  function pauseMs(looked: number): number {
    const server = pauseUntil - performance.now();
    if (server > 0) return server;
    const next = (readModel.query(mailQueries).nextAt(looked) ?? Infinity) - clock.now();
    return Math.max(0, Math.min(LOOK_EVERY_MS, next, resting.nextMs()));
  }

  const step = async (stopping: AbortSignal): Promise<void> => {
    clearTimeout(timer);
    if (!isSwitched) await switchMail(deps, true);
    isSwitched = true;
    await giveUp(stopping);
    let looked = clock.now();
    while (!stopping.aborted && performance.now() >= pauseUntil) {
      looked = clock.now();
      const rows = chosen(looked);
      if (rows.length === 0) break;
      const taken = await Promise.all(rows.map(send));
      if (taken.includes(true)) failures = 0;
      if (taken.includes(false)) {
        pauseUntil = performance.now() + Math.min(LONGEST_PAUSE_MS, firstPauseMs * 2 ** failures);
        failures += 1;
      }
      // Else they would be sent again.
      await runner.waitFor(await store.head());
    }
    if (!stopping.aborted) timer = setTimeout(() => loop.wake(), pauseMs(looked));
  };

  const loop = startBackgroundLoop('mails', step, logger, { after: { runner, types: WAKING } });
  return {
    wake: () => loop.wake(),
    stop: async () => {
      const abort = setTimeout(() => ending.abort(), STOP_MS);
      await loop.stop();
      clearTimeout(abort);
      clearTimeout(timer);
      mailer.close();
    },
  };
}
