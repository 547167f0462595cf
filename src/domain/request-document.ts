import type { InvoiceProfile } from './invoice-profiles.ts';

/** Shortcomings that a page may have when it is printed. */
export const SHORTCOMINGS = ['resource_error', 'http_status', 'console_error', 'timeout'] as const;
export type Shortcoming = (typeof SHORTCOMINGS)[number];

/** What a PDF may be made to conform to: parts and levels of PDF/A (ISO 19005), and PDF/UA-1 (ISO 14289-1). */
export const CONFORMANCES = [
  'pdfa-2b',
  'pdfa-2u',
  'pdfa-3b',
  'pdfa-3u',
  'pdfa-3a',
  'pdfua-1',
] as const;
export type Conformance = (typeof CONFORMANCES)[number];

/** Every link and text of such a PDF has a tag, or is no part of the text. */
export const needsTags = (conformance: Conformance): boolean =>
  conformance === 'pdfua-1' || conformance === 'pdfa-3a';

/** What an attached file is to the document that holds it (ISO 32000-2, 7.11.3). */
export const RELATIONSHIPS = [
  'Source',
  'Data',
  'Alternative',
  'Supplement',
  'Unspecified',
] as const;

export const ROTATIONS = [90, 180, 270] as const;
/** Degrees, clockwise. */
export type Rotation = (typeof ROTATIONS)[number];

/** What readers allow those who have no owner password; all of it unless said. */
export const PERMISSIONS = [
  'print',
  'copy',
  'modify',
  'annotate',
  'fill_forms',
  'assemble',
] as const;

export const STAMP_FITS = ['page', 'none'] as const;
/** What a stamp's size follows: that of each page, or nothing. */
export type StampFit = (typeof STAMP_FITS)[number];

/** A mark on pages: HTML, or a picture in the middle. Exactly one of both is there. */
export interface Stamp {
  readonly html?: string;
  /** Base64 of a PNG, JPEG or WebP. */
  readonly image?: string;
  /** From 0 to 1; as its content has it unless given. */
  readonly opacity?: number;
  /** All unless given. */
  readonly pages?: string;
  /** `page` unless given. */
  readonly fit?: StampFit;
}

/** At least one of the passwords is there. */
export interface Encryption {
  readonly user_password?: string;
  readonly owner_password?: string;
  readonly permissions?: { readonly [K in (typeof PERMISSIONS)[number]]?: boolean };
}

/** The place where a signature can be seen. Lengths are as those of margins, from the top left corner of the page as it is shown. */
export interface SignatureField {
  /** From 1; the last page unless given. */
  readonly page?: number;
  readonly x: string;
  readonly y: string;
  readonly width: string;
  readonly height: string;
}

/** What a signature says beside its certificate. */
export interface SignatureTexts {
  readonly reason?: string;
  readonly location?: string;
  /** It cannot be seen unless given. */
  readonly field?: SignatureField;
}

/** What is to be done with the PDF when it is printed. */
export interface PdfRequest {
  readonly conformance?: readonly Conformance[];
  /** False: a document that cannot conform is made without. */
  readonly conformance_required?: boolean;
  readonly attachments?: readonly {
    readonly filename: string;
    /** Base64. */
    readonly content: string;
    /** Media type. */
    readonly type: string;
    readonly relationship?: (typeof RELATIONSHIPS)[number];
    readonly description?: string;
  }[];
  readonly invoice?: {
    /** Base64. */
    readonly xml: string;
    readonly profile: InvoiceProfile;
  };
  /** The pages to keep, in this order. */
  readonly pages?: string;
  readonly rotate?: Rotation;
  readonly stamp?: Stamp;
  /** Excludes conformance. */
  readonly encrypt?: Encryption;
  readonly optimize?: boolean;
  /** Nothing comes after it. */
  readonly sign?: SignatureTexts;
}

/** The kinds of steps of work on documents, in no order. */
export const STEP_TYPES = [
  'merge',
  'pages',
  'rotate',
  'stamp',
  'attach',
  'metadata',
  'encrypt',
  'optimize',
] as const;

export type DocumentStep =
  | { readonly type: 'merge' | 'optimize' }
  | { readonly type: 'pages'; readonly pages: string }
  | { readonly type: 'rotate'; readonly rotate: Rotation; readonly pages?: string }
  | ({ readonly type: 'stamp' } & Stamp)
  | { readonly type: 'attach'; readonly attachments: NonNullable<PdfRequest['attachments']> }
  | ({ readonly type: 'metadata' } & NonNullable<RequestDocument['metadata']>)
  | ({ readonly type: 'encrypt' } & Encryption);

/** Work on finished PDFs: several are joined first, in their order. */
export interface DocumentWork {
  readonly sources: readonly {
    /** The PDF, in base64. */
    readonly file: string;
    /** It opens the PDF. */
    readonly password?: string;
  }[];
  readonly steps: readonly DocumentStep[];
}

/**
 * A request that nobody but its client and its renderer may read: the JSON content of the `request` blob.
 * Exactly one of `html`, `url` and `document` is there.
 */
export interface RequestDocument {
  readonly html?: string;
  /** The files that are served to `html` beside it: relative name to content in base64. */
  readonly files?: Readonly<Record<string, string>>;
  readonly url?: string;
  /** Nothing else is there beside it but what signs, in `pdf`. */
  readonly document?: DocumentWork;
  readonly header_html?: string;
  readonly footer_html?: string;
  /** A style sheet that is added to the page's own. */
  readonly css?: string;
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
  readonly pdf?: PdfRequest;
  /** The page where anybody can check the PDF; each page is printed with a link to it. */
  readonly verify_url?: string;
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
