/** What the main frame shows: followed from before the first navigation, so that nothing is missed. */

import { PageFailure } from './failure.ts';
import { NAVIGATION_ERRORS } from './navigation-errors.ts';
import type { Tab } from './tab.ts';

/** What the network let no request through for, where it knows. */
export interface NetworkIncident {
  readonly refused: boolean;
  /** A sentence for people, without a resolved address. */
  readonly reason: string;
}
export type ExplainNetwork = (url: string) => NetworkIncident | undefined;

const HTML_TYPES = ['text/html', 'application/xhtml+xml'];

export class DocumentWatch {
  readonly #explain: ExplainNetwork;
  #url = '';
  #unreachableUrl: string | undefined;
  #response: { status: number; type: string } | undefined;
  #loaderId = '';
  #loaded = false;
  #onLoad: (() => void)[] = [];

  constructor(tab: Tab, explain: ExplainNetwork) {
    this.#explain = explain;
    tab.on('Page.frameNavigated', ({ frame }) => {
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

  #notHtml(type: string, download = false): PageFailure {
    const what = download ? 'a download' : 'a document';
    const named = type === '' ? '' : ` of type ${type}`;
    return new PageFailure('not_html', `The page is not HTML: it answered with ${what}${named}.`);
  }
}
