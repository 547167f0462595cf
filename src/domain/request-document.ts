/** Shortcomings that a page may have when it is printed. */
export const SHORTCOMINGS = ['resource_error', 'http_status', 'console_error', 'timeout'] as const;
export type Shortcoming = (typeof SHORTCOMINGS)[number];

/**
 * A request that nobody but its client and its renderer may read: the JSON content of the `request` blob.
 * Exactly one of `html` and `url` is there.
 */
export interface RequestDocument {
  readonly html?: string;
  /** The files that are served to `html` beside it: relative name to content in base64. */
  readonly files?: Readonly<Record<string, string>>;
  readonly url?: string;
  readonly header_html?: string;
  readonly footer_html?: string;
  readonly wait_for?: {
    readonly selector?: string;
    readonly delay_ms?: number;
    readonly network_idle?: boolean;
    /** Milliseconds of the page's own time in which its scripts may end what they draw. */
    readonly budget_ms?: number;
  };
  readonly metadata?: {
    readonly title?: string;
    readonly author?: string;
    readonly subject?: string;
    readonly keywords?: readonly string[];
  };
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: readonly RequestCookie[];
  /** A page that lacks one of these fails. */
  readonly fail_on?: readonly Shortcoming[];
}

export interface RequestCookie {
  readonly name: string;
  readonly value: string;
  readonly domain?: string;
  readonly path?: string;
  readonly secure?: boolean;
  readonly http_only?: boolean;
  readonly same_site?: 'Strict' | 'Lax' | 'None';
}
