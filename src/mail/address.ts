/** Takes the settings of mail apart. A value that cannot be used is not repeated: it may hold a password. */

/** A server, as `SMTP_URL` names it. */
export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** `STARTTLS`: without it, the server gets no mail. */
  readonly encryption: 'TLS' | 'STARTTLS' | 'none';
  readonly user?: string;
  readonly password?: string;
}

/** The sender of all mails, as `MAIL_FROM` names it. */
export interface MailSender {
  readonly address: string;
  readonly name?: string;
}

const PORTS = { 'smtp:': 587, 'smtps:': 465 } as const;
/** The hosts of this machine: what is sent to them passes no network. */
export const LOOPBACK = /^(localhost|127\.[\d.]+|\[?::1\]?)$/;

function wrongUrl(why: string): never {
  throw new Error(
    `SMTP_URL must be smtp://USER:PASSWORD@HOST:PORT, or smtps:// for TLS from the first byte: ${why}.`,
  );
}

/** @throws {Error} one line that begins with the setting's name */
export function parseSmtpUrl(text: string): SmtpServer {
  const url = URL.canParse(text) ? new URL(text) : wrongUrl('it is not a URL');
  const { protocol, hostname, port, username, password, pathname, searchParams, hash } = url;
  if (protocol !== 'smtp:' && protocol !== 'smtps:') wrongUrl('it begins with something else');
  if (hostname === '') wrongUrl('it has no host');
  if (pathname.replace('/', '') + hash !== '') wrongUrl('it has a path');
  if ((username === '') !== (password === ''))
    wrongUrl('user and password are given both or neither');
  const { tls, ...others } = Object.fromEntries(searchParams);
  if (Object.keys(others).length > 0) wrongUrl('it has another parameter than tls');
  if (tls !== undefined && tls !== 'true' && tls !== 'false') wrongUrl('tls is true or false');
  if (protocol === 'smtps:' && tls === 'false') wrongUrl('smtps has TLS: leave tls=false out');
  const isPlain = tls === undefined ? LOOPBACK.test(hostname) : tls === 'false';
  const encryption = protocol === 'smtps:' ? 'TLS' : isPlain ? 'none' : 'STARTTLS';
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? PORTS[protocol] : Number(port),
    encryption,
    ...(username !== '' && { user: decoded(username), password: decoded(password) }),
  };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return wrongUrl('write % in user and password as %25');
  }
}

const ADDRESS = /^[!-;=?A-~]{1,64}@[A-Za-z0-9.-]{1,255}$/;

/** @throws {Error} one line that begins with the setting's name */
export function parseMailSender(text: string): MailSender {
  const [, name = '', bracketed] = /^([^<>]*)<([^<>]*)>$/.exec(text.trim()) ?? [];
  const address = bracketed ?? text.trim();
  if (!ADDRESS.test(address) || /\p{C}/u.test(name)) {
    throw new Error(
      'MAIL_FROM must be an address such as pdf@example.com, or NAME <pdf@example.com>.',
    );
  }
  const shown = name.trim().replace(/^"(.*)"$/, '$1');
  return { address, ...(shown !== '' && { name: shown }) };
}
