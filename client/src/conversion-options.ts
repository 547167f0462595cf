/** The types of a request for a conversion. A test holds each type against the schema of the service. */

/** The document: its HTML, the address of a page, or a template and the data that it is filled with. */
export type ConversionSource = HtmlSource | UrlSource | TemplateSource;

export interface HtmlSource {
  /**
   * The HTML to print, with at least one element.
   * @example '<h1>Invoice 4711</h1>'
   */
  html: string;
  /**
   * The files that the page refers to: relative name to content in base64, at most 200.
   * @example { 'style.css': 'cHtjb2xvcjpyZWR9' }
   */
  files?: Readonly<Record<string, string>>;
  url?: never;
  template?: never;
  data?: never;
}

export interface UrlSource {
  /**
   * The http or https address of the page to print, at most 2,048 characters.
   * @example 'https://example.com/report?month=11'
   */
  url: string;
  html?: never;
  files?: never;
  template?: never;
  data?: never;
}

export interface TemplateSource {
  /**
   * The id of a stored template: its newest version, or the one after an @.
   * @example 'tmpl_06f3k8r1v2w9x4y5z6a7b8c9d0@3'
   */
  template: string;
  /**
   * The data that it is filled with. It fits the schema of the template.
   * @example { number: '4711' }
   */
  data?: Readonly<Record<string, unknown>>;
  /** Files beside those of the template. */
  files?: Readonly<Record<string, string>>;
  html?: never;
  url?: never;
}

/**
 * The body of a conversion request.
 * @example { html: '<h1>Invoice 4711</h1>', page_size: 'Letter', margin_top: '25mm' }
 */
export type ConversionOptions = ConversionSource & PrintOptions;

/** How the document is printed. Every option may be left out. */
export interface PrintOptions {
  /**
   * A PDF, or a picture of the whole page as a screen shows it, as wide as the `viewport`. Options of paper and of PDFs do not
   * go with a picture, and its `media` is `screen` unless given.
   * @default 'pdf'
   */
  format?: 'pdf' | 'png' | 'jpeg' | 'webp';
  /**
   * The paper size.
   * @default 'A4'
   */
  page_size?: 'A4' | 'Letter' | 'Legal' | 'A3' | 'A5';
  /**
   * The width of the paper, written like a margin, from `10mm` to `5000mm`. Goes with `height` or `single_page`, and not
   * with `page_size`.
   * @example '80mm'
   */
  width?: string;
  /**
   * The height of the paper, with `width`.
   * @example '200mm'
   */
  height?: string;
  /**
   * Prints in landscape orientation.
   * @default false
   */
  landscape?: boolean;
  /**
   * Prints on one page that is as long as the document, at most 5 m.
   * @default false
   */
  single_page?: boolean;
  /**
   * The top margin: a decimal number with the unit `px`, `cm`, `in` or `mm`.
   * @default '1cm'
   * @example '25mm'
   */
  margin_top?: string;
  /**
   * The right margin, written like `margin_top`.
   * @default '1cm'
   */
  margin_right?: string;
  /**
   * The bottom margin, written like `margin_top`.
   * @default '1cm'
   */
  margin_bottom?: string;
  /**
   * The left margin, written like `margin_top`.
   * @default '1cm'
   */
  margin_left?: string;
  /**
   * Prints background colours and images.
   * @default false
   */
  print_background?: boolean;
  /**
   * Scales the content, from 0.1 to 2.
   * @default 1
   */
  scale?: number;
  /**
   * The pages to keep; all of them if left out.
   * @example '1-5, 8'
   */
  page_ranges?: string;
  /**
   * HTML printed in the top margin of each page. Elements of the classes `date`, `title`, `url`,
   * `pageNumber` and `totalPages` are filled in.
   * @example '<span class="title"></span>'
   */
  header_html?: string;
  /**
   * HTML printed in the bottom margin of each page, like `header_html`.
   * @example '<span class="pageNumber"></span> of <span class="totalPages"></span>'
   */
  footer_html?: string;
  /**
   * Lets the document's own `@page` size win over `page_size`.
   * @default false
   */
  prefer_css_page_size?: boolean;
  /**
   * The media type that style sheets see.
   * @default 'print'
   */
  media?: 'print' | 'screen';
  /**
   * A style sheet that is added to the page after its own, at most 1 MiB.
   * @example 'nav, .cookie-banner { display: none }'
   */
  css?: string;
  /**
   * The colour scheme that the page finds preferred.
   * @default 'light'
   */
  color_scheme?: 'light' | 'dark';
  /**
   * The window that scripts and style sheets for the screen see, in CSS pixels, each side from 50 to 5,000. A part that is
   * left out is that of 800 × 600 with one pixel of the screen for each.
   * @example { width: 1280, height: 720, device_scale_factor: 2 }
   */
  viewport?: { width?: number; height?: number; device_scale_factor?: number };
  /**
   * The time zone of the page's clock, by its name in the IANA database.
   * @example 'Europe/Zurich'
   */
  timezone?: string;
  /**
   * The language of the browser (BCP 47), by which scripts write dates and numbers.
   * @example 'de-CH'
   */
  locale?: string;
  /** Waits for all that is given. What the page's scripts draw and fetch within `budget_ms` is waited for without it. */
  wait_for?: {
    /**
     * A CSS selector. If no element ever matches, the conversion fails.
     * @example '#chart svg'
     */
    selector?: string;
    /**
     * Milliseconds, from 0 to 10,000.
     * @example 500
     */
    delay_ms?: number;
    /**
     * Waits until the network is quiet, within limits.
     * @default false
     */
    network_idle?: boolean;
    /**
     * Milliseconds of the page's own time in which its scripts may end what they draw, from 0 to 60,000. The
     * clock of the page runs ahead, so this costs little real time. 0 prints at once.
     * @default 5000
     * @example 10000
     */
    budget_ms?: number;
  };
  /**
   * Makes an accessible (tagged) PDF.
   * @default true
   */
  tagged?: boolean;
  /**
   * Makes bookmarks from the headings.
   * @default false
   */
  outline?: boolean;
  /**
   * The document properties of the PDF.
   * @example { title: 'Invoice 4711', author: 'Example Ltd', keywords: ['invoice', '2026'] }
   */
  metadata?: { title?: string; author?: string; subject?: string; keywords?: string[] };
  /**
   * Headers sent with the request for `url`, at most 20. Allowed with `url` only.
   * @example { 'Accept-Language': 'de' }
   */
  headers?: Record<string, string>;
  /**
   * Cookies set before `url` is opened, at most 50. Allowed with `url` only.
   * @example [{ name: 'session', value: 'abc123' }]
   */
  cookies?: Cookie[];
  /**
   * Lets the page run scripts.
   * @default true
   */
  javascript?: boolean;
  /**
   * The same request gives the same bytes, on the same Chrome and fonts: time stands still, and random numbers follow from
   * the request.
   * @default false
   */
  deterministic?: boolean;
  /**
   * The time at which the clock of a deterministic document begins, and its PDF is dated to.
   * @default '2000-01-01T00:00:00Z'
   * @example '2026-11-26T12:00:00Z'
   */
  deterministic_time?: string;
  /** The name under which the PDF is downloaded. Default: the conversion's id. */
  filename?: string;
  /**
   * Your own name for the document, by which the conversion is found. Several may have the same.
   * @example 'Order 2026-4711'
   */
  reference?: string;
  /**
   * Names and values by which the conversion is found, at most 20. A name has 1 to 40 of the characters a-z, 0-9, _ and -.
   * @example { customer: 'Example Ltd', month: '2026-11' }
   */
  tags?: Readonly<Record<string, string>>;
  /**
   * `low` waits behind the conversions of the account that are normal, also those that come later.
   * @default 'normal'
   */
  priority?: 'normal' | 'low';
  /**
   * How long the PDF and the stored request are kept after the end, at most as long as those of the account's other
   * conversions. 0: until the first complete download, at most an hour.
   * @example 3600
   */
  retention_seconds?: number;
  /**
   * The https address that is told when the conversion has ended, signed with the default secret of the account.
   * @example 'https://example.com/hooks/pdf'
   */
  webhook_url?: string;
  /** What is done with the PDF when it is printed. */
  pdf?: PdfOptions;
  /** A page that lacks one of these fails. Default: none, and they are warnings. */
  fail_on?: ('resource_error' | 'http_status' | 'console_error' | 'timeout')[];
}

export interface Cookie {
  name: string;
  value: string;
  /** The host of `url` unless given. */
  domain?: string;
  /** @default '/' */
  path?: string;
  /** @default false */
  secure?: boolean;
  /** @default false */
  http_only?: boolean;
  same_site?: 'Strict' | 'Lax' | 'None';
}

export type PdfConformance = 'pdfa-2b' | 'pdfa-2u' | 'pdfa-3b' | 'pdfa-3u' | 'pdfa-3a' | 'pdfua-1';

export interface PdfOptions {
  /**
   * What the PDF is to conform to: one part and level of PDF/A, PDF/UA-1, or both. A document that cannot conform fails.
   * @example ['pdfa-3b', 'pdfua-1']
   */
  conformance?: PdfConformance[];
  /**
   * `false`: a document that cannot conform is made without, and its warnings say why.
   * @default true
   */
  conformance_required?: boolean;
  /** Files that lie within the PDF, at most 50. */
  attachments?: PdfAttachment[];
  /**
   * Makes the PDF an electronic invoice (Factur-X, ZUGFeRD), which conforms to PDF/A-3b at least. The XML is not checked
   * against the schema and the business rules of its profile.
   */
  invoice?: {
    /** The invoice as XML (UN/CEFACT CII) in UTF-8, in base64. */
    xml: string;
    /** The profile that the XML names as its guideline. */
    profile: 'MINIMUM' | 'BASIC WL' | 'BASIC' | 'EN 16931' | 'EXTENDED' | 'XRECHNUNG';
  };
  /**
   * Print a link and a QR code in the bottom margin of each page, which lead to the page where anybody can check the PDF.
   * @default false
   */
  verify_link?: boolean;
  /**
   * The pages to keep, in this order. Unlike `page_ranges` it drops the tags of the document.
   * @example '3, 1-2'
   */
  pages?: string;
  /** Degrees to turn all pages, clockwise. */
  rotate?: 90 | 180 | 270;
  /** A watermark or stamp on pages. */
  stamp?: PdfStamp;
  /** Encrypts the PDF. Not with `conformance` or `invoice`. */
  encrypt?: PdfEncryption;
  /**
   * Make the PDF smaller, and linearise it, so that its first page shows early.
   * @default false
   */
  optimize?: boolean;
  /**
   * Signs the PDF with the certificate of the account, else with that of the service.
   * @example true
   */
  sign?: boolean | PdfSignature;
}

/** What a signature says beside its certificate. */
export interface PdfSignature {
  /** Why it is signed, as readers show it. */
  reason?: string;
  /** Where it is signed. */
  location?: string;
  /** Where the signature can be seen. It is not on any page if left out. */
  field?: PdfSignatureField;
}

/**
 * It shows the name of the signer, the time in UTC, the reason and the location, in letters as large as fit. Lengths are
 * written like `margin_top`, from the top left corner of the page as it is shown.
 * @example { x: '120mm', y: '250mm', width: '70mm', height: '25mm' }
 */
export interface PdfSignatureField {
  /** The number of the page in the finished PDF, from 1; the last page if left out. */
  page?: number;
  x: string;
  y: string;
  /** At least `20mm`. */
  width: string;
  /** At least `5mm`. */
  height: string;
}

/** Exactly one of `html` and `image` is given. */
export interface PdfStamp {
  /** HTML that loads nothing and runs no scripts. Its first page is laid over the page. */
  html?: string;
  /** A PNG, JPEG or WebP in base64, laid over the middle of the page. */
  image?: string;
  /**
   * From 0 to 1.
   * @default 1
   */
  opacity?: number;
  /** The pages to stamp; all if left out. */
  pages?: string;
  /**
   * `page` prints it on paper of the size of each page. `none` leaves it as large as it is, in the middle of the page.
   * @default 'page'
   */
  fit?: 'page' | 'none';
}

/** AES with 256 bits. At least one password is needed. */
export interface PdfEncryption {
  /** Whoever opens the PDF needs it. */
  user_password?: string;
  /** Lifts the restrictions of `permissions`. */
  owner_password?: string;
  /** What readers allow without the owner password: all that is not `false`. */
  permissions?: {
    print?: boolean;
    copy?: boolean;
    modify?: boolean;
    annotate?: boolean;
    fill_forms?: boolean;
    assemble?: boolean;
  };
}

export interface PdfAttachment {
  /** The name of the file, without a path. */
  filename: string;
  /** The content of the file in base64. */
  content: string;
  /**
   * The media type of the file.
   * @example 'text/csv'
   */
  type: string;
  /**
   * What the file is to the document.
   * @default 'Unspecified'
   */
  relationship?: 'Source' | 'Data' | 'Alternative' | 'Supplement' | 'Unspecified';
  /** What a reader shows beside the name. */
  description?: string;
}
