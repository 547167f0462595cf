/** What `NATS_URL` says: servers, encryption and credentials, taken apart for the client. */

export interface NatsAddress {
  /** `host:port` each. */
  readonly servers: readonly string[];
  readonly encrypted: boolean;
  readonly credentials: { user: string; pass: string } | { token: string } | undefined;
  /** The servers as messages may name them: without credentials. */
  readonly display: string;
}

const DEFAULT_PORT = '4222';

/**
 * @param url one or several servers, comma separated: `nats://` or `tls://`, with `user:password@` or
 *   `token@` (percent-encoded) in any of them, which counts for all
 * @throws {Error} one line that does not repeat the URL, for it may hold a password
 */
export function parseNatsUrl(url: string): NatsAddress {
  const parts = url.split(',').map((part) => part.trim());
  const urls = parts.map((part) => parseOne(part));
  const withCredentials = urls.find(({ username }) => username !== '');
  const schemes = new Set(urls.map(({ protocol }) => protocol));
  if (schemes.size > 1) throw new Error('NATS_URL mixes nats:// and tls://: use one of them.');
  const servers = urls.map(({ hostname, port }) => `${hostname}:${port || DEFAULT_PORT}`);
  const encrypted = schemes.has('tls:');
  return {
    servers,
    encrypted,
    credentials: withCredentials && credentialsOf(withCredentials),
    display: `${encrypted ? 'tls' : 'nats'}://${servers.join(',')}`,
  };
}

function parseOne(part: string): URL {
  const whole = part.includes('://') ? part : `nats://${part}`;
  const url = URL.parse(whole);
  if (!url || url.hostname === '' || !['nats:', 'tls:'].includes(url.protocol)) {
    throw new Error(
      'NATS_URL is not usable: write nats://host:4222 or tls://host:4222, with user:password@ before the host where needed.',
    );
  }
  return url;
}

function credentialsOf({ username, password }: URL): NatsAddress['credentials'] {
  try {
    const user = decodeURIComponent(username);
    return password === '' ? { token: user } : { user, pass: decodeURIComponent(password) };
  } catch {
    throw new Error('NATS_URL is not usable: the user or the password is not percent-encoded.');
  }
}
