/** Follows what the main frame shows, from before the first navigation, so that nothing is missed. */
import { PageFailure } from './failure.ts';
import type { Tab } from './tab.ts';

const CERTIFICATE = "the server's certificate is not valid.";
/** Chrome's network errors in words that a person can act on. */
const NAVIGATION_ERRORS: Readonly<Record<string, string>> = {
  ERR_NAME_NOT_RESOLVED: 'its name was not found.',
  ERR_CONNECTION_REFUSED: 'the server refused the connection.',
  ERR_CONNECTION_CLOSED: 'the server closed the connection.',
  ERR_CONNECTION_RESET: 'the server broke the connection off.',
  ERR_CONNECTION_TIMED_OUT: 'the server did not answer in time.',
  ERR_TIMED_OUT: 'the server did not answer in time.',
  ERR_EMPTY_RESPONSE: 'the server closed the connection without an answer.',
  ERR_INVALID_HTTP_RESPONSE: 'the server did not answer in HTTP.',
  ERR_INVALID_REDIRECT: 'it redirects to an address that is not valid.',
  ERR_UNSAFE_REDIRECT: 'it redirects to an address that is not allowed.',
  ERR_TOO_MANY_REDIRECTS: 'it redirects too many times.',
  ERR_RESPONSE_HEADERS_TOO_BIG: 'the headers of its answer are too large.',
  ERR_CONTENT_DECODING_FAILED: 'its content cannot be decompressed.',
  ERR_CONTENT_LENGTH_MISMATCH: 'its content ended too early.',
  ERR_INCOMPLETE_CHUNKED_ENCODING: 'its content ended too early.',
  ERR_TUNNEL_CONNECTION_FAILED: 'no connection to the server could be made.',
  ERR_PROXY_CONNECTION_FAILED: 'the renderer has no way to the network.',
  ERR_SSL_PROTOCOL_ERROR: 'no secure connection to the server could be made.',
  ERR_SSL_VERSION_OR_CIPHER_MISMATCH: 'no secure connection to the server could be made.',
  ERR_CERT_AUTHORITY_INVALID: CERTIFICATE,
  ERR_CERT_COMMON_NAME_INVALID: "the server's certificate is for another name.",
  ERR_CERT_DATE_INVALID: "the server's certificate has expired or is not valid yet.",
  ERR_CERT_INVALID: CERTIFICATE,
  ERR_CERT_REVOKED: CERTIFICATE,
  ERR_CERT_WEAK_KEY: CERTIFICATE,
  ERR_CERT_WEAK_SIGNATURE_ALGORITHM: CERTIFICATE,
  ERR_BLOCKED_BY_CLIENT: 'the request was blocked.',
  ERR_BLOCKED_BY_RESPONSE: 'its server forbids showing it.',
  ERR_UNSAFE_PORT: 'its port is one that browsers refuse.',
  ERR_UNKNOWN_URL_SCHEME: 'it leads to something other than a page.',
};

/** The reason why a request got no answer, where the network knows it. */
export interface NetworkFailure {
  readonly refused: boolean;
  /** A sentence for people, without a resolved address. */
  readonly reason: string;
}
export type ExplainNetwork = (url: string) => NetworkFailure | undefined;

const HTML_TYPES = ['text/html', 'application/xhtml+xml'];

export class Navigation {
  readonly #explain: ExplainNetwork;
  #url = '';
  #unreachableUrl: string | undefined;
  #response: { status: number; type: string } | undefined;
  #loaderId = '';
  #loaded = false;
  #onLoad: (() => void)[] = [];
  #leaving = false;
  #onMove: (() => void)[] = [];

  constructor(tab: Tab, explain: ExplainNetwork) {
    this.#explain = explain;
    tab.on('Page.frameNavigated', ({ frame }) => {
      if (frame.parentId === undefined) this.#setLeaving(false);
      if (frame.parentId !== undefined || frame.url === 'about:blank') return;
      this.#loaderId = frame.loaderId;
      this.#loaded = false;
      this.#unreachableUrl = frame.unreachableUrl;
    });
    tab.on('Page.lifecycleEvent', ({ name, loaderId }) => {
      if (name !== 'load' || loaderId !== this.#loaderId) return;
      this.#loaded = true;
      for (const tell of this.#onLoad.splice(0)) tell();
    });
    tab.on('Page.frameRequestedNavigation', ({ frameId, disposition }) => {
      if (frameId === tab.frameId && disposition === 'currentTab') this.#setLeaving(true);
    });
    // A download, or an answer without a document: the page stays.
    tab.on('Network.loadingFailed', ({ type, errorText }) => {
      if (type === 'Document' && errorText === 'net::ERR_ABORTED') this.#setLeaving(false);
    });
    const isMain = (frameId: string | undefined, type: string | undefined): boolean =>
      frameId === tab.frameId && type === 'Document';
    tab.on('Network.requestWillBeSent', ({ frameId, type, request }) => {
      if (!isMain(frameId, type)) return;
      this.#url = request.url;
      this.#response = undefined;
    });
    tab.on('Network.responseReceived', ({ frameId, type, response }) => {
      if (!isMain(frameId, type)) return;
      this.#response = { status: response.status, type: response.mimeType };
    });
  }

  /** Changes whenever the main frame shows another document. */
  get documentId(): string {
    return this.#loaderId;
  }

  /** True when a script has sent the main frame to another document, which is not there yet. */
  get leaving(): boolean {
    return this.#leaving;
  }

  /** Resolves when the main frame has loaded the document that it was sent to, or stays. */
  async arrived(): Promise<void> {
    while (this.#leaving) await new Promise<void>((resolve) => this.#onMove.push(resolve));
    await this.loaded();
  }

  /** Resolves when the document shown now, or one that replaces it, has had its load event. */
  loaded(): Promise<void> {
    if (this.#loaded) return Promise.resolve();
    return new Promise((resolve) => this.#onLoad.push(resolve));
  }

  /** @throws {PageFailure} when what the main frame shows is not the document that was asked for */
  check(): void {
    if (this.#unreachableUrl !== undefined) this.fail(undefined, this.#unreachableUrl);
    if (this.#response === undefined) return;
    const { status, type } = this.#response;
    if (status >= 400) {
      const incident = this.#explain(this.#url);
      if (incident) this.fail(undefined, this.#url);
      throw new PageFailure('page_status', `The page answered with status ${status}.`);
    }
    if (!HTML_TYPES.includes(type)) throw this.#notHtml(type);
  }

  /**
   * Tells why a navigation did not end in a document.
   * @param error Chrome's name of the error
   */
  fail(error: string | undefined, url: string = this.#url, download = false): never {
    const incident = this.#explain(url);
    if (incident?.refused) {
      throw new PageFailure('address_refused', `The address was refused: ${incident.reason}`);
    }
    if (incident) {
      throw new PageFailure('navigation_failed', `The page cannot be reached: ${incident.reason}`);
    }
    const response = this.#response;
    if (response !== undefined && response.status >= 400) {
      throw new PageFailure('page_status', `The page answered with status ${response.status}.`);
    }
    if (response?.status === 204 || response?.status === 205) {
      throw new PageFailure(
        'not_html',
        `The page answered with status ${response.status} and no document.`,
      );
    }
    if (download || (response !== undefined && error === 'net::ERR_ABORTED')) {
      throw this.#notHtml(response?.type ?? '', true);
    }
    const name = error?.replace(/^net::/, '') ?? '';
    throw new PageFailure(
      'navigation_failed',
      `The page cannot be reached: ${NAVIGATION_ERRORS[name] ?? 'the navigation failed.'}`,
    );
  }

  #setLeaving(leaving: boolean): void {
    this.#leaving = leaving;
    for (const tell of this.#onMove.splice(0)) tell();
  }

  #notHtml(type: string, download = false): PageFailure {
    const what = download ? 'a download' : 'a document';
    const named = type === '' ? '' : ` of type ${type}`;
    return new PageFailure('not_html', `The page is not HTML: it answered with ${what}${named}.`);
  }
}
