/** Sends mails by SMTP (RFC 5321). The server may hang, lie, refuse, or lose a connection at every step. */
import MailComposer from 'nodemailer/lib/mail-composer';
import SmtpConnection from 'nodemailer/lib/smtp-connection';
import type { MailSender, SmtpServer } from './address.ts';
import type { MailAnswer, Mailer, OutgoingMail } from './port.ts';

export interface SmtpOptions {
  readonly server: SmtpServer;
  readonly from: MailSender;
  /** The time for one answer. */
  readonly answerMs?: number;
  /** The time for one mail, from the connection to the last answer. */
  readonly mailMs?: number;
  /** Certificates of authorities, PEM; the usual ones unless given. */
  readonly ca?: string;
}

const ANSWER_MS = 20_000;
const MAIL_MS = 60_000;
const MAX_REASON = 200;

/** What the library says of a failure. */
interface Failure {
  readonly code?: string;
  readonly command?: string;
  readonly responseCode?: number;
  readonly message: string;
}

/** The server takes no mail, whatever is in it. The message is for the operator. */
export class MailServerUnavailable extends Error {
  override readonly name = 'MailServerUnavailable';
}

/** @throws {MailServerUnavailable} from `check`, which sends nothing */
export function createSmtpMailer({
  server,
  from,
  answerMs = ANSWER_MS,
  mailMs = MAIL_MS,
  ca,
}: SmtpOptions): Mailer & { check(): Promise<void> } {
  const { host, port, encryption, user, password = '' } = server;
  const open = new Set<SmtpConnection>();

  const connect = (): SmtpConnection =>
    new SmtpConnection({
      host,
      port,
      secure: encryption === 'TLS',
      requireTLS: encryption === 'STARTTLS',
      ignoreTLS: encryption === 'none',
      ...(ca !== undefined && { tls: { ca } }),
      connectionTimeout: answerMs,
      greetingTimeout: answerMs,
      socketTimeout: answerMs,
      dnsTimeout: answerMs,
    });

  /** Works on a connection that is open and signed in. It is closed afterwards, or when the signal is aborted. */
  async function withConnection<T>(
    signal: AbortSignal,
    work: (connection: SmtpConnection) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const connection = connect();
    const { promise: broken, reject } = Promise.withResolvers<never>();
    broken.catch(() => {});
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    // Without a listener, one that breaks while nothing is asked would end the process.
    connection.on('error', reject);
    open.add(connection);
    const within = <R>(step: Promise<R>): Promise<R> => Promise.race([step, broken]);
    try {
      await within(called((done) => connection.connect(done)))
        .then(() =>
          user === undefined
            ? undefined
            : within(called((done) => connection.login({ user, pass: password }, done))),
        )
        .catch((error: unknown) => {
          throw new MailServerUnavailable(reasonOf(error as Failure), { cause: error });
        });
      return await within(work(connection));
    } finally {
      signal.removeEventListener('abort', abort);
      open.delete(connection);
      connection.quit();
      connection.close();
    }
  }

  async function send(mail: OutgoingMail, signal: AbortSignal): Promise<MailAnswer> {
    const message = await messageOf(mail, from);
    const late = AbortSignal.timeout(mailMs);
    const envelope = { from: from.address, to: [mail.to] };
    try {
      await withConnection(AbortSignal.any([signal, late]), (connection) =>
        called((done) => connection.send(envelope, message, done)),
      );
      return { outcome: 'accepted' };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof MailServerUnavailable) {
        return { outcome: 'unavailable', reason: error.message };
      }
      if (late.aborted) return { outcome: 'unanswered', failure: 'timeout' };
      const answer = answerOf(error as Failure);
      if (answer.outcome !== 'unavailable') return answer;
      // Servers repeat the address, and the reason goes to the log.
      return { ...answer, reason: answer.reason.replaceAll(mail.to, '…') };
    }
  }

  return {
    send,
    check: () => withConnection(AbortSignal.timeout(mailMs), async () => {}),
    close: () => {
      for (const connection of open) connection.close();
    },
  };
}

/** The message as it is sent. What is in it came from people: nothing is read as a header, a list or a file. */
async function messageOf(
  { id, to, subject, text, html }: OutgoingMail,
  { address, name = '' }: MailSender,
): Promise<Buffer> {
  const domain = address.slice(address.lastIndexOf('@') + 1);
  const composer = new MailComposer({
    from: { name, address },
    to: { name: '', address: to },
    messageId: `<${id}@${domain}>`,
    // RFC 3834: answering machines stay silent.
    headers: { 'Auto-Submitted': 'auto-generated' },
    subject,
    text,
    html,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return await composer.compile().build();
}

/** Turns a callback of the library into a promise. */
function called(begin: (done: (error?: Error | null) => void) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // Others may have won the race already.
  promise.catch(() => {});
  begin((error) => (error ? reject(error) : resolve()));
  return promise;
}

/** @param failure after the connection was signed in */
function answerOf(failure: Failure): MailAnswer {
  const { code, command, responseCode: status } = failure;
  // The library found by itself that the recipient is not an address.
  if (code === 'EENVELOPE' && command === 'API') return { outcome: 'refused' };
  // 421: the server closes, whatever it was asked (RFC 5321, 3.8).
  if (command === 'MAIL FROM' || status === 421) {
    return { outcome: 'unavailable', reason: reasonOf(failure) };
  }
  if (status !== undefined) return { outcome: status >= 500 ? 'refused' : 'deferred', status };
  return { outcome: 'unanswered', failure: code === 'ETIMEDOUT' ? 'timeout' : 'connection_failed' };
}

const reasonOf = ({ message, code }: Failure): string =>
  `${message.replaceAll(/\s+/g, ' ').slice(0, MAX_REASON)}${code === undefined ? '' : ` (${code})`}`;
