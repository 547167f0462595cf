/** A provider of OpenID Connect, which tells who somebody is. */

/** What the browser that begins a sign-in keeps until it comes back. */
export interface ProviderRequest {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE (RFC 7636). */
  readonly verifier: string;
}

/** A person, as the provider names them. */
export interface ProviderPerson {
  readonly issuer: string;
  readonly subject: string;
  /** Absent unless the provider says that it has verified the address. */
  readonly email?: string;
  readonly name?: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** `away`: it cannot be reached; `refused`: it says no; `invalid`: what it answers must not be believed. */
export type ProviderFailure = 'away' | 'refused' | 'invalid';

export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly failure: ProviderFailure;

  constructor(failure: ProviderFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.failure = failure;
  }
}

export interface IdentityProvider {
  /** What people call it. */
  readonly label: string;
  /**
   * @param redirectUri where the provider sends the browser back to
   * @throws {ProviderError}
   */
  begin(redirectUri: string): Promise<{ readonly url: string; readonly kept: ProviderRequest }>;
  /**
   * @param callback the URL that the browser came back with
   * @throws {ProviderError}
   */
  finish(callback: URL, kept: ProviderRequest): Promise<ProviderPerson>;
  /** Asks it once more what it offers. @throws {ProviderError} */
  look(): Promise<void>;
}
