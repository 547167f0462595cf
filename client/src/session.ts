/** The sign-in of a client: its tokens, and their renewal when the access token expires. */

import { isPressledgerError } from './errors.ts';
import { bearer } from './transport.ts';
import type { TokenPair } from './types.ts';

type Headers = Readonly<Record<string, string>>;

interface SessionRequests {
  /** Asks for tokens: for an address and password, or for a refresh token. */
  readonly tokens: (
    what: 'create' | 'refresh',
    body: object,
    signal: AbortSignal | undefined,
  ) => Promise<TokenPair>;
  readonly revoke: (body: object, signal: AbortSignal | undefined) => Promise<void>;
}

export class Session {
  readonly #given: Headers;
  readonly #requests: SessionRequests;
  #tokens: TokenPair | undefined;
  #renewal: Promise<boolean> | undefined;

  /** @param given the credential while nobody is signed in */
  constructor(given: Headers, tokens: TokenPair | undefined, requests: SessionRequests) {
    this.#given = given;
    this.#tokens = tokens;
    this.#requests = requests;
  }

  get credential(): Headers {
    return this.#tokens ? bearer(this.#tokens.access) : this.#given;
  }

  async signIn(
    who: {
      readonly email: string;
      readonly password: string;
      readonly account?: string;
      readonly otp?: string;
    },
    signal: AbortSignal | undefined,
  ): Promise<TokenPair> {
    this.#tokens = await this.#requests.tokens('create', who, signal);
    return this.#tokens;
  }

  async refresh(signal?: AbortSignal): Promise<TokenPair> {
    if (!this.#tokens) throw new TypeError('There is no sign-in to refresh: sign in first.');
    const { refresh } = this.#tokens;
    this.#tokens = await this.#requests.tokens('refresh', { refresh }, signal);
    return this.#tokens;
  }

  async signOut(signal: AbortSignal | undefined): Promise<void> {
    if (!this.#tokens) return;
    await this.#requests.revoke({ refresh: this.#tokens.refresh }, signal);
    this.#tokens = undefined;
  }

  /** Once for all requests that find their access token expired at the same time. */
  renew(): Promise<boolean> {
    if (!this.#tokens) return Promise.resolve(false);
    this.#renewal ??= this.refresh()
      .then(
        () => true,
        (error: unknown) => {
          if (isPressledgerError(error, 'unauthorized')) return false;
          throw error;
        },
      )
      .finally(() => {
        this.#renewal = undefined;
      });
    return this.#renewal;
  }
}
