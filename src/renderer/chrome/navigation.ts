/** Follows what the main frame shows, from before the first navigation, so that nothing is missed. */
import { PageFailure } from '../browser/failure.ts';
import type { PageRequest, Requests } from './requests.ts';
import type { Tab } from './tab.ts';

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
  ERR_CERT_COMMON_NAME_INVALID: "the server's certificate is for another name.",
  ERR_CERT_DATE_INVALID: "the server's certificate has expired or is not valid yet.",
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

/** The way of one document to the network. */
export interface Egress {
  explain(url: string): NetworkFailure | undefined;
  /** Has HTML and the files that came with it served on its origin from now on. @param files relative name to content */
  servePage(origin: string, html: Buffer, files: ReadonlyMap<string, Buffer>): void;
  /** Has every request that is under way fail, and every one that comes. */
  giveUp(): void;
}

function errorReason(error: string): string | undefined {
  const name = error.replace(/^net::/, '');
  const other = name.startsWith('ERR_CERT_') ? "the server's certificate is not valid." : undefined;
  return NAVIGATION_ERRORS[name] ?? other;
}

const HTML_TYPES = ['text/html', 'application/xhtml+xml'];

export class Navigation {
  readonly #egress: Egress;
  readonly #requests: Requests;
  /** The reasons why the content of documents broke off, by their loaders. */
  readonly #brokenOff = new Map<string, string>();
  #unreachableUrl: string | undefined;
  #loaderId: string;
  #loaded = false;
  /** The document shown has had its load event, or never will. */
  #over = false;
  #leaving = false;
  /** Those who wait for a change of these. */
  #waiting: (() => void)[] = [];

  constructor(tab: Tab, egress: Egress, requests: Requests) {
    this.#egress = egress;
    this.#requests = requests;
    requests.onDocumentEnd = (request) => this.#endDocument(request);
    // HTML is written into a window that is there.
    this.#loaderId = tab.window?.loaderId ?? '';
    tab.on('Page.frameNavigated', ({ frame }) => {
      if (frame.parentId === undefined) this.#setLeaving(false);
      if (frame.parentId !== undefined || frame.url === 'about:blank') return;
      this.#loaderId = frame.loaderId;
      this.#loaded = false;
      this.#over = this.#brokenOff.has(frame.loaderId);
      this.#unreachableUrl = frame.unreachableUrl;
    });
    tab.on('Page.lifecycleEvent', ({ name, loaderId }) => {
      if (name !== 'load' || loaderId !== this.#loaderId) return;
      this.#loaded = true;
      this.#stop();
    });
    // All that Chrome says of a document whose own script stopped it: that is what its author wanted. To Chrome a document
    // that was written is not loading, and any change of its address begins and ends a load.
    tab.on('Page.frameStoppedLoading', ({ frameId }) => {
      if (frameId === tab.frameId && this.#loaderId !== tab.window?.loaderId) this.#stop();
    });
    tab.on('Page.frameRequestedNavigation', ({ frameId, disposition }) => {
      if (frameId === tab.frameId && disposition === 'currentTab') this.#setLeaving(true);
    });
    // A download, or an answer without a document: the page stays.
    tab.on('Network.loadingFailed', ({ type, errorText }) => {
      if (type === 'Document' && errorText === 'net::ERR_ABORTED') this.#setLeaving(false);
    });
  }

  /** Changes whenever the main frame shows another document. */
  get documentId(): string {
    return this.#loaderId;
  }

  /** True when the main frame shows something that a server or the client sent. */
  get hasPage(): boolean {
    return this.#loaderId !== '' && this.#unreachableUrl === undefined;
  }

  /** True when a script has sent the main frame to another document, which is not there yet. */
  get leaving(): boolean {
    return this.#leaving;
  }

  /** Resolves when the main frame has loaded the document that it was sent to, or stays. */
  async arrived(): Promise<void> {
    await this.#until(() => !this.#leaving);
    await this.loaded();
  }

  /** True when the document shown now has had its load event. */
  get hasLoaded(): boolean {
    return this.#loaded;
  }

  /**
   * Resolves when the document shown now, or one that replaces it, has had its load event, or never will
   * because its content broke off or it stopped itself.
   */
  async loaded(): Promise<void> {
    await this.#until(() => this.#over);
  }

  /** Resolves when no content of the document shown is under way. */
  async ended(): Promise<void> {
    await this.#until(() => !this.#isComing);
  }

  /**
   * Checks that the content of the document shown is all there.
   * @param ms the time that it was given, for the message
   * @throws {PageFailure} `timeout` when it is under way still
   */
  checkWhole(ms: number): void {
    this.check();
    if (!this.#isComing) return;
    throw new PageFailure(
      'timeout',
      `The page's document had not ended after ${Math.round(ms / 100) / 10} seconds. A slow server, one that ` +
        'never ends it, or a script that never ends can be the reason.',
    );
  }

  /** @throws {PageFailure} when what the main frame shows is not the whole document that was asked for */
  check(): void {
    if (this.#unreachableUrl !== undefined) this.fail(undefined, this.#unreachableUrl);
    this.#checkAnswer();
    const broken = this.#brokenOff.get(this.#loaderId);
    if (broken === undefined) return;
    throw new PageFailure('navigation_failed', `The page did not come whole: ${broken}`);
  }

  /**
   * Tells why a navigation did not end in a document.
   * @param error Chrome's name of the error
   */
  fail(error: string | undefined, url = this.#requests.document?.url, download = false): never {
    const incident = this.#egress.explain(url ?? '');
    if (incident?.refused) {
      throw new PageFailure('address_refused', `The address was refused: ${incident.reason}`);
    }
    if (incident) {
      throw new PageFailure('navigation_failed', `The page cannot be reached: ${incident.reason}`);
    }
    const { status, type = '' } = this.#requests.document ?? {};
    if (status !== undefined && status >= 400) {
      throw new PageFailure('page_status', `The page answered with status ${status}.`);
    }
    if (status === 204 || status === 205) {
      throw new PageFailure('not_html', `The page answered with status ${status} and no document.`);
    }
    if (download || (status !== undefined && error === 'net::ERR_ABORTED')) {
      throw this.#notHtml(type, true);
    }
    const reason = errorReason(error ?? '') ?? 'the navigation failed.';
    throw new PageFailure('navigation_failed', `The page cannot be reached: ${reason}`);
  }

  #checkAnswer(): void {
    const { status, type, url } = this.#requests.document ?? {};
    if (status === undefined || type === undefined || url === undefined) return;
    if (status >= 400) {
      if (this.#egress.explain(url)) this.fail(undefined, url);
      throw new PageFailure('page_status', `The page answered with status ${status}.`);
    }
    if (!HTML_TYPES.includes(type)) throw this.#notHtml(type);
  }

  /** True while content of the document shown is under way. */
  get #isComing(): boolean {
    return !this.#over && this.#requests.isComing(this.#loaderId);
  }

  #endDocument({ requestId, url, failure }: PageRequest): void {
    // A page that moves on or writes itself again aborts the request of its document.
    if (failure !== undefined && failure !== 'net::ERR_ABORTED') {
      const why = this.#egress.explain(url)?.reason ?? errorReason(failure);
      this.#brokenOff.set(requestId, why ?? 'its content ended too early.');
      if (requestId === this.#loaderId) this.#stop();
    }
    this.#changed();
  }

  /** The document shown loads nothing more. */
  #stop(): void {
    this.#over = true;
    this.#changed();
  }

  #setLeaving(leaving: boolean): void {
    this.#leaving = leaving;
    this.#changed();
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #changed(): void {
    for (const tell of this.#waiting.splice(0)) tell();
  }

  #notHtml(type: string, download = false): PageFailure {
    const what = download ? 'a download' : 'a document';
    const named = type === '' ? '' : ` of type ${type}`;
    return new PageFailure('not_html', `The page is not HTML: it answered with ${what}${named}.`);
  }
}
