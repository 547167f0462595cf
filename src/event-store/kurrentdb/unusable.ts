import { type EventStoreAddress, serversOf } from './connection-string.ts';

/** What the driver's errors say, and what an operator can do about it; the first that fits counts. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /wrong version number|packet length too long/i,
    'does not speak TLS there: add tls=false to EVENT_STORE_URL, or set up its certificate',
  ],
  [
    /certificate|altname|CERT_|unable to verify/i,
    'has a certificate that is not trusted: name its authority by tlsCAFile in EVENT_STORE_URL',
  ],
  [
    /access.?denied|UNAUTHENTICATED|PERMISSION_DENIED|Unauthorized|HTTP status code 40[13]/i,
    'refuses to have its log read: give a user and password that may read $all in EVENT_STORE_URL',
  ],
  [
    /UNIMPLEMENTED|HTTP status code|content-type|Protocol error|HTTP2|Parse Error/i,
    'does not answer as an event store: check host and port in EVENT_STORE_URL',
  ],
  [/Name resolution failed|ENOTFOUND|EAI_AGAIN/i, 'has a name that cannot be resolved'],
  [
    /ECONNRESET|socket hang up|EPIPE|disconnected before secure|Last error: Failed to connect/i,
    'hangs up: is it an event store, and does tls in EVENT_STORE_URL fit it?',
  ],
  [/./s, 'does not answer: start it, or check host and port in EVENT_STORE_URL'],
];

/** One line for the operator: the server, never its password, and the remedy. */
export function whyUnusable(address: EventStoreAddress, error: unknown): string {
  const text = causes(error).join('\n');
  const [, reason] = REASONS.find(([pattern]) => pattern.test(text)) ?? ['', 'cannot be used'];
  return `The event store at ${serversOf(address)} ${reason}.`;
}

function causes(error: unknown): string[] {
  if (!(error instanceof Error)) return [String(error)];
  return [`${error.name} ${error.message}`, ...(error.cause ? causes(error.cause) : [])];
}
