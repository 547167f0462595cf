/** Takes `NATS_URL` apart: servers, encryption, credentials, and the namespace of this deployment's names. */

export interface NatsAddress {
  /** `host:port` each. */
  readonly servers: readonly string[];
  readonly encrypted: boolean;
  readonly credentials: { user: string; pass: string } | { token: string } | undefined;
  /** The beginning of every stream, bucket and subject of this deployment. */
  readonly namespace: string;
  /** The servers of a cluster that are to keep each stream and bucket of this deployment. */
  readonly replicas: number;
  /** The servers as messages may name them: without credentials. */
  readonly display: string;
}

const DEFAULT_PORT = '4222';
const DEFAULT_NAMESPACE = 'pressledger';

/** The name of a stream or bucket of a namespace. Namespaces are lower case, so no two share a name. */
export const nameIn = (namespace: string, name: string): string =>
  `${namespace.toUpperCase()}_${name}`;

/**
 * The inbox of a side. Renderers run strangers' pages: with an inbox of their own they cannot be allowed others' answers.
 */
export const inboxOf = (namespace: string, side: 'api' | 'renderer'): string =>
  `_INBOX_${nameIn(namespace, side.toUpperCase())}`;

/**
 * @param url one or several servers, comma separated: `nats://` or `tls://`, with `user:password@` or
 *   `token@` (percent-encoded), `?namespace=name` or `?replicas=3` in any of them, which counts for all
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
  const parameters = Object.assign({}, ...urls.map(parametersOf)) as Parameters;
  return {
    servers,
    encrypted,
    credentials: withCredentials && credentialsOf(withCredentials),
    namespace: parameters.namespace ?? DEFAULT_NAMESPACE,
    replicas: Number(parameters.replicas ?? 1),
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

interface Parameters {
  readonly namespace?: string;
  readonly replicas?: string;
}

function parametersOf({ searchParams }: URL): Parameters {
  for (const [name, value] of searchParams) {
    if (name === 'namespace') {
      if (!/^[a-z0-9_]{1,40}$/.test(value)) {
        throw new Error(
          'NATS_URL has a namespace that is not of 1 to 40 of the characters a-z, 0-9 and _.',
        );
      }
    } else if (name !== 'replicas') {
      throw new Error(
        `NATS_URL has the unknown parameter ${name}: there are only namespace and replicas.`,
      );
    } else if (!/^[1-5]$/.test(value)) {
      throw new Error('NATS_URL has a number of replicas that is not 1 to 5: use 3 in a cluster.');
    }
  }
  return Object.fromEntries(searchParams);
}

function credentialsOf({ username, password }: URL): NatsAddress['credentials'] {
  try {
    const user = decodeURIComponent(username);
    return password === '' ? { token: user } : { user, pass: decodeURIComponent(password) };
  } catch {
    throw new Error('NATS_URL is not usable: the user or the password is not percent-encoded.');
  }
}
