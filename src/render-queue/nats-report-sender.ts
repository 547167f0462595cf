/** The renderer's side of reports: each is sent, again and again if need be, until it is recorded. */
import { createHash } from 'node:crypto';
import { JetStreamApiError, type JetStreamClient } from '@nats-io/jetstream';
import { createInbox, headers, type Subscription } from '@nats-io/transport-node';
import type { Logger } from 'pino';
import type { NatsLink } from '../nats/connection.ts';
import type { RenderReport } from './messages.ts';
import { recordedSubject, reportSubject, SUBJECT_IS_TAKEN } from './nats-streams.ts';

/** Names the reporter in a report's headers. */
export const REPORTER = 'Pressledger-Reporter';

const ANSWER_MS = 3000;
const RETRY_MS = 250;
/** A report that nobody has recorded by then is sent again: it, or its answer, may be lost. */
const RESEND_MS = 3000;
const MAX_RESEND_MS = 30_000;

/** The same report again has the same name, another one never. */
function nameOf({ renderer, attempt, kind }: RenderReport): string {
  const digest = createHash('sha256').update(JSON.stringify([renderer, attempt, kind]));
  return digest.digest('hex').slice(0, 24);
}

/** Ends the pause of one report, while it pauses. */
interface Waker {
  wake: (() => void) | undefined;
}

export class NatsReportSender {
  readonly #link: NatsLink;
  readonly #client: JetStreamClient;
  readonly #logger: Logger;
  readonly #reporter = createInbox('r').slice(2);
  readonly #subscription: Subscription;
  readonly #forget: () => void;
  /** By subject: what to do when a report is recorded. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #pausing = new Set<Waker>();
  #closed = false;

  constructor(link: NatsLink, client: JetStreamClient, logger: Logger) {
    this.#link = link;
    this.#client = client;
    this.#logger = logger;
    this.#subscription = link.connection.subscribe(recordedSubject(this.#reporter), {
      callback: (error, message) => {
        if (error) logger.error({ err: error }, 'it cannot be heard which reports are recorded');
        else for (const recorded of this.#waiting.get(message.string()) ?? []) recorded();
      },
    });
    this.#forget = link.onReconnect(() => this.#wakeAll());
  }

  async report(report: RenderReport): Promise<void> {
    const subject = reportSubject(report.conversionId, nameOf(report));
    const payload = JSON.stringify(report);
    let recorded = false;
    const waker: Waker = { wake: undefined };
    const hear = (): void => {
      recorded = true;
      waker.wake?.();
    };
    const hearers = this.#waiting.get(subject) ?? new Set();
    this.#waiting.set(subject, hearers.add(hear));
    try {
      let resendMs = RESEND_MS;
      for (let tries = 1; !this.#isEnd(recorded); tries += 1) {
        const sent = this.#link.isUp() && (await this.#send(subject, payload, tries));
        if (this.#isEnd(recorded)) break;
        const reconnected = await this.#pause(waker, sent ? resendMs : RETRY_MS);
        resendMs = reconnected ? RESEND_MS : Math.min(2 * resendMs, MAX_RESEND_MS);
      }
    } finally {
      hearers.delete(hear);
      if (hearers.size === 0) this.#waiting.delete(subject);
    }
    if (!recorded) throw new Error('The render queue is closed: the report was not recorded.');
  }

  close(): void {
    this.#closed = true;
    this.#forget();
    if (!this.#link.connection.isClosed()) this.#subscription.unsubscribe();
    this.#wakeAll();
  }

  #isEnd(recorded: boolean): boolean {
    return recorded || this.#closed;
  }

  /** @returns whether it is in the stream, as far as one may assume */
  async #send(subject: string, payload: string, tries: number): Promise<boolean> {
    const by = headers();
    by.set(REPORTER, this.#reporter);
    try {
      if (tries === 1) {
        // That it is recorded will be said; the stream's own word for it would only cost time.
        this.#link.connection.publish(subject, payload, { headers: by });
        return true;
      }
      const options = { headers: by, timeout: ANSWER_MS };
      await this.#link.whileUp(this.#client.publish(subject, payload, options));
      return true;
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === SUBJECT_IS_TAKEN) return true;
      this.#logger.debug({ err: error, subject }, 'a report is sent again');
      return false;
    }
  }

  /** @returns whether something woke it before that time */
  #pause(waker: Waker, ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (woken: boolean): void => {
        clearTimeout(timer);
        this.#pausing.delete(waker);
        resolve(woken);
      };
      const timer = setTimeout(() => end(false), ms);
      waker.wake = () => end(true);
      this.#pausing.add(waker);
    });
  }

  #wakeAll(): void {
    for (const { wake } of this.#pausing) wake?.();
  }
}
