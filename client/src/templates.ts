/** Templates of the account: HTML with places for data, in versions. */
import type { PrintOptions } from './conversion-options.ts';
import type { CallOptions } from './options.ts';
import { everyItem, type Page, type PageQuery } from './pages.ts';
import type { Requests } from './requests.ts';

export interface Template {
  id: string;
  name: string;
  /** The newest version. */
  version: number;
  created_at: string;
  updated_at: string;
}

export interface TemplateVersion {
  version: number;
  /** The size of what it holds, as JSON. */
  bytes: number;
  saved_at: string;
  /** What the person is called who saved it, or who made the key that did. */
  saved_by?: string;
}

/** Texts with Liquid, or what was made of them. */
export interface TemplateTexts {
  /** @example '<h1>Invoice {{ number }}</h1>' */
  html: string;
  header_html?: string;
  footer_html?: string;
}

/** What a version holds. */
export interface TemplateContent extends TemplateTexts {
  /** The files that the page refers to: relative name to content in base64. */
  files?: Record<string, string>;
  /** Options of requests that do not give them. */
  options?: Omit<
    PrintOptions,
    | 'header_html'
    | 'footer_html'
    | 'headers'
    | 'cookies'
    | 'webhook_url'
    | 'filename'
    | 'reference'
    | 'tags'
    | 'retention_seconds'
    | 'priority'
  >;
  /** JSON Schema of the data. */
  schema?: Record<string, unknown>;
  /** Data to look at the template with. */
  sample?: Record<string, unknown>;
}

/** A template in a certain version, to be filled with data. */
export interface TemplatePreview {
  /** The newest unless given. */
  readonly version?: number;
  /** The sample of the version unless given. */
  readonly data?: Readonly<Record<string, unknown>>;
}

const PATH = '/templates/';
const pathOf = (id: string, more = ''): string => `${PATH}${encodeURIComponent(id)}/${more}`;

export class Templates {
  readonly #requests: Requests;

  constructor(requests: Requests) {
    this.#requests = requests;
  }

  /**
   * Stores a template as version 1.
   * @example const { id } = await client.templates.create('Invoice', { html: '<h1>{{ number }}</h1>' });
   * @throws {PressledgerError} `details` names the line and column of what is not Liquid
   */
  create(name: string, content: TemplateContent, { signal }: CallOptions = {}): Promise<Template> {
    return this.#requests.json('POST', PATH, { body: { name, ...content }, signal });
  }

  /** Saves another version, unless the newest one is equal. */
  save(id: string, content: TemplateContent, { signal }: CallOptions = {}): Promise<Template> {
    const options = { body: content, repeatable: true, signal };
    return this.#requests.json('POST', pathOf(id, 'versions/'), options);
  }

  get(id: string, options: CallOptions = {}): Promise<Template> {
    return this.#requests.json('GET', pathOf(id), options);
  }

  rename(id: string, name: string, { signal }: CallOptions = {}): Promise<Template> {
    return this.#requests.json('PATCH', pathOf(id), { body: { name }, repeatable: true, signal });
  }

  /** Deletes it with its versions. Conversions that were made of it stay. */
  delete(id: string, options: CallOptions = {}): Promise<void> {
    return this.#requests.remove(pathOf(id), options);
  }

  /** Retrieves a version with all that it holds. */
  version(
    id: string,
    version: number,
    options: CallOptions = {},
  ): Promise<TemplateVersion & TemplateContent> {
    return this.#requests.json('GET', pathOf(id, `versions/${version}/`), options);
  }

  /** Fills a version with data, without converting it. */
  preview(
    id: string,
    { signal, ...body }: TemplatePreview & CallOptions = {},
  ): Promise<TemplateTexts> {
    return this.#requests.json('POST', pathOf(id, 'preview/'), { body, repeatable: true, signal });
  }

  /** Lists one page of templates, newest first. */
  list(query: PageQuery = {}): Promise<Page<Template>> {
    return this.#requests.page(PATH, query, {});
  }

  /** Iterates over all templates, newest first, page by page. */
  all(query: Omit<PageQuery, 'page'> = {}) {
    return everyItem((page) => this.list({ ...query, page }));
  }

  /** Lists one page of the versions of a template, newest first. */
  listVersions(id: string, query: PageQuery = {}): Promise<Page<TemplateVersion>> {
    return this.#requests.page(pathOf(id, 'versions/'), query, {});
  }
}
