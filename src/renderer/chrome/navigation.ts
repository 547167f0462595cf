/** Follows what the main frame shows, from before the first navigation, so that nothing is missed. */
import { PageFailure } from './failure.ts';
import type { Tab } from './tab.ts';
import { isOwnPage } from './window.ts';

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
  /** Has the files that came with HTML served on its origin from now on. */
  servePage(origin: string, files: ReadonlyMap<string, Buffer>): void;
  /** Has every request that is under way fail, and every one that comes. */
  giveUp(): void;
}

function errorReason(error: string): string | undefined {
  const name = error.replace(/^net::/, '');
  const other = name.startsWith('ERR_CERT_') ? "the server's certificate is not valid." : undefined;
  return NAVIGATION_ERRORS[name] ?? other;
}

const HTML_TYPES = ['text/html', 'application/xhtml+xml'];

interface Answer {
  readonly status: number;
  readonly type: string;
}

export class Navigation {
  readonly #egress: Egress;
  /** The URLs of documents whose content is under way, by their loaders. */
  readonly #coming = new Map<string, string>();
  /** The reasons why the content of documents broke off, by their loaders. */
  readonly #brokenOff = new Map<string, string>();
  #url = '';
  #unreachableUrl: string | undefined;
  #response: Answer | undefined;
  #loaderId: string;
  #loaded = false;
  /** The document shown has had its load event, or never will. */
  #over = false;
  #onLoad: (() => void)[] = [];
  #onEnd: (() => void)[] = [];
  #leaving = false;
  #onMove: (() => void)[] = [];

  constructor(tab: Tab, egress: Egress) {
    this.#egress = egress;
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
    const isMain = (frameId: string | undefined, type: string | undefined): boolean =>
      frameId === tab.frameId && type === 'Document';
    tab.on('Network.requestWillBeSent', ({ requestId, frameId, type, request }) => {
      if (!isMain(frameId, type)) return;
      this.#url = request.url;
      this.#response = undefined;
      // HTML of the client is whole from the start.
      if (!isOwnPage(tab, request.url)) this.#coming.set(requestId, request.url);
    });
    // A document's request has the id of its loader.
    tab.on('Network.loadingFinished', ({ requestId }) => this.#end(requestId));
    tab.on('Network.loadingFailed', ({ requestId, errorText }) => {
      const url = this.#coming.get(requestId);
      // A page that moves on or writes itself again aborts the request of its document.
      if (url !== undefined && errorText !== 'net::ERR_ABORTED') {
        const why = this.#egress.explain(url)?.reason ?? errorReason(errorText);
        this.#brokenOff.set(requestId, why ?? 'its content ended too early.');
        if (requestId === this.#loaderId) this.#stop();
      }
      this.#end(requestId);
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

  /** True when the document shown now has had its load event. */
  get hasLoaded(): boolean {
    return this.#loaded;
  }

  /**
   * Resolves when the document shown now, or one that replaces it, has had its load event, or never will
   * because its content broke off or it stopped itself.
   */
  loaded(): Promise<void> {
    if (this.#over) return Promise.resolve();
    return new Promise((resolve) => this.#onLoad.push(resolve));
  }

  /** Resolves when no content of the document shown is under way. */
  async ended(): Promise<void> {
    while (this.#coming.has(this.#loaderId)) {
      await new Promise<void>((resolve) => this.#onEnd.push(resolve));
    }
  }

  /**
   * Checks that the content of the document shown is all there.
   * @param ms the time that it was given, for the message
   * @throws {PageFailure} `timeout` when it is under way still
   */
  checkWhole(ms: number): void {
    this.check();
    if (!this.#coming.has(this.#loaderId)) return;
    throw new PageFailure(
      'timeout',
      `The page's document had not ended after ${Math.round(ms / 100) / 10} seconds. A slow server, one that ` +
        'never ends it, or a script that never ends can be the reason.',
    );
  }

  /** @throws {PageFailure} when what the main frame shows is not the whole document that was asked for */
  check(): void {
    if (this.#unreachableUrl !== undefined) this.fail(undefined, this.#unreachableUrl);
    if (this.#response !== undefined) this.#checkAnswer(this.#response);
    const broken = this.#brokenOff.get(this.#loaderId);
    if (broken === undefined) return;
    throw new PageFailure('navigation_failed', `The page did not come whole: ${broken}`);
  }

  /**
   * Tells why a navigation did not end in a document.
   * @param error Chrome's name of the error
   */
  fail(error: string | undefined, url: string = this.#url, download = false): never {
    const incident = this.#egress.explain(url);
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
    const reason = errorReason(error ?? '') ?? 'the navigation failed.';
    throw new PageFailure('navigation_failed', `The page cannot be reached: ${reason}`);
  }

  #checkAnswer({ status, type }: Answer): void {
    if (status >= 400) {
      const incident = this.#egress.explain(this.#url);
      if (incident) this.fail(undefined, this.#url);
      throw new PageFailure('page_status', `The page answered with status ${status}.`);
    }
    if (!HTML_TYPES.includes(type)) throw this.#notHtml(type);
  }

  #end(loaderId: string): void {
    this.#coming.delete(loaderId);
    for (const tell of this.#onEnd.splice(0)) tell();
  }

  /** The document shown loads nothing more. */
  #stop(): void {
    this.#end(this.#loaderId);
    this.#over = true;
    for (const tell of this.#onLoad.splice(0)) tell();
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
