/** Stream names on a server that may hold other streams too. */

/** What the streams of this service begin with, where they have no namespace to tell them apart. */
const OURS = [
  'account-',
  'apikey-',
  'conversion-',
  'email-',
  'pressledger-log',
  'session-',
  'signins-',
];

export class StreamNames {
  /** A stream of the server is ours if it begins with one of these. */
  readonly prefixes: readonly string[];
  readonly #namespace: string;

  /** @param namespace what every name begins with on the server; '' for nothing */
  constructor(namespace: string) {
    this.#namespace = namespace;
    this.prefixes = namespace === '' ? OURS : [namespace];
  }

  isOurs(onServer: string): boolean {
    return this.prefixes.some((prefix) => onServer.startsWith(prefix));
  }

  /** @throws {TypeError} no subscription would ever hand over what is appended to it */
  onServer(stream: string): string {
    const name = this.#namespace + stream;
    if (!this.isOurs(name)) throw new TypeError(`${stream} is not a stream of this service.`);
    return name;
  }

  ofServer(name: string): string {
    return name.slice(this.#namespace.length);
  }
}
