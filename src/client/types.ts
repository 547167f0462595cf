/** The types that clients send and read. A test holds each type against the schema of the service. */

/** Either `html` or `url` is required. */
export interface ConversionOptions {
  html?: string;
  /** http or https, at most 2,048 characters. */
  url?: string;
  /** Default: A4. */
  page_size?: 'A4' | 'Letter' | 'Legal' | 'A3' | 'A5';
  landscape?: boolean;
  /** A decimal number with its unit: `px`, `cm`, `in` or `mm`. Default: `1cm`. */
  margin_top?: string;
  margin_right?: string;
  margin_bottom?: string;
  margin_left?: string;
  /** Default: false. */
  print_background?: boolean;
  /** 0.1 to 2. Default: 1. */
  scale?: number;
  /** Such as `1-5, 8`. Default: all pages. */
  page_ranges?: string;
  header_html?: string;
  footer_html?: string;
  /** The document's own `@page` size wins. Default: false. */
  prefer_css_page_size?: boolean;
  /** Default: print. */
  media?: 'print' | 'screen';
  wait_for?: {
    selector?: string;
    /** Milliseconds, at most 10,000. */
    delay_ms?: number;
    network_idle?: boolean;
  };
  /** An accessible PDF. Default: true. */
  tagged?: boolean;
  /** Bookmarks made of the headings. Default: false. */
  outline?: boolean;
  metadata?: { title?: string; author?: string; subject?: string; keywords?: string[] };
  /** Allowed with a `url` only; at most 20. */
  headers?: Record<string, string>;
  /** Allowed with a `url` only; at most 50. */
  cookies?: Cookie[];
  /** Default: true. */
  javascript?: boolean;
  /** A page that lacks one of these fails. Default: none, and they are warnings. */
  fail_on?: ('resource_error' | 'http_status' | 'console_error' | 'timeout')[];
  /** The name under which the PDF is downloaded. Default: the conversion's id. */
  filename?: string;
}

export interface Cookie {
  name: string;
  value: string;
  domain?: string;
  path?: string;
  secure?: boolean;
  http_only?: boolean;
  same_site?: 'Strict' | 'Lax' | 'None';
}

export interface AcceptedConversion {
  id: string;
  status: 'pending';
  /** Every time is ISO 8601 in UTC. */
  created_at: string;
}

export interface UnfinishedConversion {
  id: string;
  status: 'pending' | 'processing';
  created_at: string;
  file_url?: never;
  completed_at?: never;
  warnings?: never;
  error_message?: never;
}

export interface CompletedConversion {
  id: string;
  status: 'completed';
  created_at: string;
  completed_at: string;
  /** The address of the PDF. It works for an hour unless the service is set otherwise. */
  file_url: string;
  /** What was missing when the page was printed; absent where nothing was. */
  warnings?: string[];
  error_message?: never;
}

export interface FailedConversion {
  id: string;
  status: 'failed';
  created_at: string;
  error_message: string;
  file_url?: never;
  completed_at?: never;
  warnings?: never;
}

export type EndedConversion = CompletedConversion | FailedConversion;
/** `status` tells the forms apart. */
export type Conversion = UnfinishedConversion | EndedConversion;

export interface ApiKey {
  id: string;
  name: string;
  /** The first characters of the key. */
  prefix: string;
  created_at: string;
  last_used_at: string | null;
}

export interface NewApiKey {
  id: string;
  name: string;
  /** The full key: shown this once. */
  key: string;
  created_at: string;
}

export interface TokenPair {
  /** For 5 minutes. */
  access: string;
  /** Valid for a day. */
  refresh: string;
}

export interface Account {
  id: string;
  email: string;
  plan: 'free' | 'starter' | 'pro';
  credits: number;
  created_at: string;
}

export interface LedgerEntry {
  id: string;
  type: 'grant' | 'debit' | 'refund';
  /** A debit is negative. */
  amount: number;
  /** The credits after it. */
  balance: number;
  /** The conversion that was paid or refunded. */
  conversion_id?: string;
  created_at: string;
}
