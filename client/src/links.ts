/** Links by which anybody can download the file of a conversion, without a credential, until they expire. */
import type { CallOptions } from './options.ts';
import { everyItem, type Page, type PageQuery } from './pages.ts';
import type { Requests } from './requests.ts';

export interface ShareLink {
  id: string;
  created_at: string;
  expires_at: string;
  /** Recorded downloads: at most one for each network and minute, and 100 of the file in all. */
  downloads: number;
  /** null before the first. */
  last_downloaded_at: string | null;
}

export interface CreatedShareLink {
  id: string;
  /** The link. It is shown only this once. */
  url: string;
  created_at: string;
  expires_at: string;
}

interface LinkOptions extends CallOptions {
  /** Seconds from now. Absent: as long as the file is kept, which is the most. */
  readonly expiresIn?: number;
}

const pathOf = (conversionId: string): string =>
  `/conversions/${encodeURIComponent(conversionId)}/links/`;

export class Links {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /** @throws {PressledgerError} `not_ready` before the conversion has completed, `gone` where its file is deleted */
  create(conversionId: string, { expiresIn, signal }: LinkOptions = {}): Promise<CreatedShareLink> {
    const body = expiresIn === undefined ? {} : { expires_in: expiresIn };
    return this.#requests.json('POST', pathOf(conversionId), { body, signal });
  }

  /** Lists one page of the links that work, newest first. */
  list(conversionId: string, query: PageQuery = {}): Promise<Page<ShareLink>> {
    return this.#requests.page(pathOf(conversionId), query, {});
  }

  /** Iterates over all links that work, newest first, page by page. */
  all(conversionId: string, query: Omit<PageQuery, 'page'> = {}) {
    return everyItem((page) => this.list(conversionId, { ...query, page }));
  }

  /** Ends a link immediately. */
  revoke(conversionId: string, linkId: string, options: CallOptions = {}): Promise<void> {
    const path = `${pathOf(conversionId)}${encodeURIComponent(linkId)}/`;
    return this.#requests.remove(path, options);
  }
}
