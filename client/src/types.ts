/** The types that clients read. A test holds each type against the schema of the service. */

import type { PdfConformance } from './conversion-options.ts';

export interface AcceptedConversion {
  id: string;
  status: 'pending';
  /**
   * Every time is ISO 8601 in UTC.
   * @example '2026-11-21T08:15:30.123Z'
   */
  created_at: string;
}

/** What tells conversions apart. */
export interface ConversionNames {
  /** `document`: work on finished PDFs. Absent: a page that is printed. */
  kind?: 'document';
  /** True for a test, which an API key for tests asked for. */
  test?: boolean;
  /** The conversion whose request was asked for once more, if it is a retry. */
  retry_of?: string;
  /** The conversion whose request was rendered again, if it is to be compared with that. */
  rerender_of?: string;
  /**
   * The name that lists show: `filename`, else `title`, else host and path of the URL, else the id. In the list of
   * conversions it is always there; elsewhere if the request gave `filename`, `reference` or `tags`.
   */
  name?: string;
  /** The name of the PDF when it is downloaded, if the request gave one. */
  filename?: string;
  /** The reference of the request, if it gave one. */
  reference?: string;
  /** The tags of the request, if it gave any. */
  tags?: Record<string, string>;
  /** The title of the page when it was printed; else its first heading or words. It is there where `name` is. */
  title?: string;
  /** The template that the HTML was made of, if the request named one. */
  template?: {
    id: string;
    version: number;
    /** The SHA-256 of the data in hexadecimal digits, as JSON in the canonical form of RFC 8785. */
    data_sha256?: string;
  };
  /** The id of the batch, if the conversion was requested in one. */
  batch?: string;
  /**
   * The seconds for which it is kept after its end, if its request gave them. Lists and webhooks have those of the setting
   * of its account, too.
   */
  retention_seconds?: number;
}

export interface UnfinishedConversion extends ConversionNames {
  id: string;
  status: 'pending' | 'processing';
  created_at: string;
  file_url?: never;
  completed_at?: never;
  error_message?: never;
  warnings?: never;
  pdf?: never;
  rerender?: never;
  pages?: never;
  bytes?: never;
  sha256?: never;
  failed_at?: never;
  failure_code?: never;
  duration_ms?: never;
}

export interface CompletedConversion extends ConversionNames {
  id: string;
  status: 'completed';
  created_at: string;
  completed_at: string;
  /** The address of the PDF. It works for an hour unless the service is set otherwise. */
  file_url: string;
  /** Lists what was missing when the page was printed; absent where nothing was. */
  warnings?: string[];
  /** What was done with the PDF, if the request asked for a conformance or a signature. */
  pdf?: {
    /** What the PDF conforms to, of what was asked for. Absent if nothing was asked for. */
    conformance?: PdfConformance[];
    /** The signature, if one was asked for. */
    signature?: {
      /** The level (PAdES): B-T has a timestamp. */
      level: 'B-B' | 'B-T';
      /** The SHA-256 of the certificate that signed, in hexadecimal digits. */
      certificate: string;
    };
  };
  /** How the PDF compares with that of `rerender_of`, if it was to be compared. */
  rerender?: {
    /** True if all bytes are the same. */
    equal: boolean;
    /** The pages that show something else, at most the first 1,000. Absent if equal, and if it is not known. */
    pages?: number[];
  };
  pages: number;
  /** The size of the PDF. */
  bytes: number;
  /** The SHA-256 of the PDF, in hexadecimal digits. */
  sha256: string;
  /** The milliseconds from `created_at` to `completed_at`. */
  duration_ms: number;
  error_message?: never;
  failed_at?: never;
  failure_code?: never;
}

export interface FailedConversion extends ConversionNames {
  id: string;
  status: 'failed';
  created_at: string;
  /** The reason, in words that a person can act on. */
  error_message: string;
  failed_at: string;
  /** The reason for programs. */
  failure_code:
    | 'timeout'
    | 'address_refused'
    | 'navigation_failed'
    | 'page_status'
    | 'not_html'
    | 'selector_missing'
    | 'page_range'
    | 'page_crashed'
    | 'page_memory'
    | 'too_large'
    | 'incomplete'
    | 'not_conforming'
    | 'not_signed'
    | 'unreadable_pdf'
    | 'renderer_failed'
    | 'account_erased'
    | 'cancelled';
  /** The milliseconds from `created_at` to `failed_at`. */
  duration_ms: number;
  file_url?: never;
  completed_at?: never;
  warnings?: never;
  pdf?: never;
  rerender?: never;
  pages?: never;
  bytes?: never;
  sha256?: never;
}

export type EndedConversion = CompletedConversion | FailedConversion;
export const hasEnded = (record: { readonly status: string }): record is EndedConversion =>
  record.status === 'completed' || record.status === 'failed';

/** `status` tells the forms apart. */
export type Conversion = UnfinishedConversion | EndedConversion;

export interface UnknownPdf {
  known: false;
  conversion?: never;
  entries?: never;
}

export interface KnownPdf {
  known: true;
  /** The conversion that made the PDF. */
  conversion: CompletedConversion;
  /** Its events, which name the PDF and the request by their hashes. */
  readonly entries: readonly ProvenEvent[];
}

export type Verification = UnknownPdf | KnownPdf;

export type KeyScope = 'convert' | 'read' | 'history' | 'keys' | 'webhooks' | 'templates';

/** What bounds an API key. A key without bounds may do everything that its account may. */
export interface KeyBounds {
  /** What it may do. Absent: everything. */
  scopes?: KeyScope[];
  /** ISO 8601. Absent: it is valid until it is revoked. */
  expires_at?: string;
  /** Addresses and networks, in CIDR notation, that it may be used from. Absent: everywhere. */
  addresses?: string[];
  /** Requests in a minute, beside the limit of the account. */
  rate_limit?: number;
  /** Credits that it may use in a calendar month (UTC). */
  credit_limit?: number;
  /** A key for tests: its conversions cost nothing, have a watermark and are deleted after a day. */
  test?: boolean;
}

export interface ApiKey extends KeyBounds {
  /** With `credit_limit`: what it has used in this month. */
  credits_used?: number;
  id: string;
  name: string;
  /** The first 12 characters of the key. */
  prefix: string;
  created_at: string;
  /** At most a minute behind; null before the first use. */
  last_used_at: string | null;
  /** The member who made it; absent for the person whom the account was opened for. */
  created_by?: { id: string; name: string };
}

export interface NewApiKey extends KeyBounds {
  id: string;
  name: string;
  /** The full key. It is shown only this once. */
  key: string;
  created_at: string;
}

export interface TokenPair {
  /** Valid for 5 minutes. */
  access: string;
  /** Valid for a day. */
  refresh: string;
}

export interface Account {
  id: string;
  email: string;
  /** `free`, `starter`, `pro`, or one that the service adds. */
  plan: string;
  /** The number of conversions that can still be requested; null: the service runs without credits. */
  credits: number | null;
  /** True for an operator of the service. */
  operator: boolean;
  /** True while an operator has suspended it. */
  suspended: boolean;
  /** True while it has the password that the first start printed: until it is changed, the account cannot act as an operator. */
  must_change_password: boolean;
  /** The requests that the plan allows in a minute, with all API keys together. */
  rate_limit: number;
  created_at: string;
}

/** An event of a conversion, and the proof that the checkpoint covers it. */
export interface ProvenEvent {
  /** The number of the event in the log, from 0. */
  readonly index: number;
  /** The event in its canonical form: what is hashed. */
  readonly event: string;
  /** https://c2sp.org/tlog-proof */
  readonly proof: string;
}

export interface ConversionProof {
  readonly origin: string;
  /** The verifier key of the log, one a line where several are in force. */
  readonly key: string;
  /** https://c2sp.org/tlog-checkpoint */
  readonly checkpoint: string;
  readonly entries: readonly ProvenEvent[];
}

export interface LowCredits {
  /** Owners get a mail when fewer credits are left; 0: never; null: when less than a tenth of the last grant is. */
  below: number | null;
}

export interface PublicName {
  /** The name that people are told who check a PDF of the account in public; null: none. */
  readonly name: string | null;
}

export interface LedgerEntry {
  id: string;
  type: 'grant' | 'debit' | 'refund';
  /** A debit is negative. */
  amount: number;
  /** The credits after this entry. */
  balance: number;
  /** The conversion that was paid or refunded. */
  conversion_id?: string;
  /** The name of that conversion, as the list of conversions has it. */
  name?: string;
  created_at: string;
}
