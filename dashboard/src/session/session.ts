/**
 * The session of the person who uses the pages. A cookie that no script can read holds it; here is only the
 * access token that the service gives for it, in memory.
 */
import { ApiError } from '../api/error.ts';
import { t } from '../words/words.ts';

const PATH = '/dashboard/session';
/** Tells the other tabs of the browser that the person has signed out, so that they show nothing any more. */
const signOuts = new BroadcastChannel('pressledger sign-out');
/** A token that ends sooner than this is renewed before it is used. */
const SPARE_MS = 30_000;

const forgetListeners = new Set<() => void>();

/** Removes what pages keep in this tab, such as a draft with its headers and cookies. */
function forgetKept(): void {
  sessionStorage.clear();
  for (const listener of forgetListeners) listener();
}

type AccessToken = { readonly access: string; readonly expiresAt: number };

export type SessionState = 'unknown' | 'open' | 'none';

/** The ends of a session other than signing out. */
const ENDS = [
  'ended',
  'password-changed',
  'address-changed',
  'all-ended',
  'other-account',
] as const;
export type SessionEnd = (typeof ENDS)[number];

export class SessionEndedError extends Error {
  override readonly name = 'SessionEndedError';
}

/** The account that a token is for: the subject of a JWT (https://www.rfc-editor.org/rfc/rfc7519#section-4.1.2). */
function accountOf(access: string): string {
  const [, payload = ''] = access.split('.');
  const base64 = payload.replaceAll('-', '+').replaceAll('_', '/');
  return (JSON.parse(atob(base64)) as { sub: string }).sub;
}

/** Asks the service for an access token, and renews it before its end. */
export class Session {
  #token: AccessToken | undefined;
  /** The account whose data the page may hold. */
  #account: string | undefined;
  #renewal: Promise<AccessToken> | undefined;
  #state: SessionState = 'unknown';
  readonly #endListeners = new Set<(end: SessionEnd) => void>();

  get state(): SessionState {
    return this.#state;
  }

  /** Calls back when a session that was open has ended, but not after `signOut`. */
  onEnd(listener: (end: SessionEnd) => void): () => void {
    this.#endListeners.add(listener);
    return () => this.#endListeners.delete(listener);
  }

  /** Calls back when what was kept in memory for the person must go. */
  onForget(listener: () => void): void {
    forgetListeners.add(listener);
  }

  /** @returns whether a person is signed in; asks the service where that is not known */
  async isOpen(): Promise<boolean> {
    if (this.#state === 'unknown') {
      try {
        await this.#renew();
      } catch (error) {
        if (!(error instanceof SessionEndedError)) throw error;
      }
    }
    return this.#state === 'open';
  }

  /** @throws {SessionEndedError} nobody is signed in any more */
  async accessToken(): Promise<string> {
    const token = this.#token;
    if (token !== undefined && token.expiresAt - Date.now() > SPARE_MS) return token.access;
    return (await this.#renew()).access;
  }

  /** Forgets a token that the service refused, so that the next use asks for another. */
  refuse(access: string): void {
    if (this.#token?.access === access) this.#token = undefined;
  }

  /**
   * Signs in. A request of the page that needs a token meanwhile waits for this session: the one before may have
   * ended with a change of the password.
   * @throws {ApiError} the email or the password is wrong, or the service is not there
   */
  async signIn(
    email: string,
    password: string,
    more: { readonly account?: string | undefined; readonly otp?: string | undefined } = {},
  ): Promise<void> {
    this.#token = undefined;
    await this.#renewBy(() => this.#open(PATH, { email, password, ...more }));
  }

  /** Signs in with what the browser has written of a passkey. @throws {ApiError} as `signIn` */
  async signInWithPasskey(passkey: object, account?: string): Promise<void> {
    this.#token = undefined;
    const body = { passkey, ...(account && { account }) };
    await this.#renewBy(() => this.#open(`${PATH}/passkey`, body));
  }

  /** Forgets what pages keep, where the person goes from one account to another. */
  forget(): void {
    forgetKept();
  }

  async #open(path: string, who: object): Promise<AccessToken> {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(who),
    });
    if (!response.ok) throw await ApiError.from(response);
    this.#account = undefined;
    return await this.#take(response);
  }

  /** Ends the session at the service, then here. */
  async signOut(): Promise<void> {
    const response = await fetch(PATH, { method: 'DELETE' });
    if (!response.ok && response.status !== 401) throw await ApiError.from(response);
    this.#token = undefined;
    this.#state = 'none';
    forgetKept();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin, and takes none
    signOuts.postMessage('signed out');
  }

  /** Marks the session as ended where an action of the page has ended it at the service. */
  end(end: SessionEnd): void {
    const wasOpen = this.#state === 'open';
    this.#token = undefined;
    this.#state = 'none';
    // A person whose session was too old signs in again and goes on.
    if (end !== 'ended') forgetKept();
    if (wasOpen) for (const listener of this.#endListeners) listener(end);
  }

  async #renew(): Promise<AccessToken> {
    return await (this.#renewal ?? this.#renewBy(() => this.#askForToken()));
  }

  async #renewBy(ask: () => Promise<AccessToken>): Promise<AccessToken> {
    const renewal = ask();
    this.#renewal = renewal;
    try {
      return await renewal;
    } finally {
      if (this.#renewal === renewal) this.#renewal = undefined;
    }
  }

  async #askForToken(): Promise<AccessToken> {
    const response = await fetch(PATH);
    if (response.ok) return await this.#take(response);
    if (response.status !== 401) throw await ApiError.from(response);
    this.end('ended');
    throw new SessionEndedError(t('The session has ended. Sign in again.'));
  }

  /** @throws {SessionEndedError} the token is for another account: somebody signed in to it in another tab */
  async #take(response: Response): Promise<AccessToken> {
    const body = (await response.json()) as { access: string; expires_at: string };
    const account = accountOf(body.access);
    if (this.#account !== undefined && this.#account !== account) {
      this.end('other-account');
      throw new SessionEndedError(t('Another account is signed in. Sign in again.'));
    }
    this.#account = account;
    this.#token = { access: body.access, expiresAt: Date.parse(body.expires_at) };
    this.#state = 'open';
    return this.#token;
  }
}

export const session = new Session();
signOuts.addEventListener('message', () => {
  forgetKept();
  session.end('ended');
});

/** The search parameters of the sign-in page. */
export interface SignInSearch {
  /** The path to go to after signing in. */
  readonly from?: string;
  /** The end of the session before. */
  readonly reason?: SessionEnd;
  /** Why a sign-in with the identity provider was refused. */
  readonly provider?: string;
}

/** Browsers leave tabs and line ends out of an address, so that `/<tab>/host` would be another host. */
const OWN_PATH = /^\/(?![/\\])\P{Cc}*$/u;

/** Keeps nothing but a path of these pages: a link must not lead a person elsewhere after signing in. */
export const signInSearch = ({
  from,
  reason,
  provider,
}: Record<string, unknown>): SignInSearch => ({
  ...(typeof from === 'string' && OWN_PATH.test(from) && { from }),
  ...(ENDS.some((end) => end === reason) && { reason: reason as SessionEnd }),
  ...(typeof provider === 'string' && { provider }),
});
