/** The schemas of fields that events of several kinds have. */
import Type, { type Static } from 'typebox';
import { BLOB_KINDS } from './blob-key.ts';
import {
  COLOR_SCHEMES,
  FORMATS,
  KEY_SCOPES,
  PAGE_SIZES,
  PLAN_NAME,
  SESSION_KINDS,
  SIGN_IN_METHODS,
} from './choices.ts';
import {
  ACCOUNT_ID,
  BATCH_ID,
  CERTIFICATE_ID,
  CONVERSION_ID,
  DELIVERY_ID,
  KEY_ID,
  LINK_ID,
  MAIL_ID,
  PASSKEY_ID,
  PERSON_ID,
  SESSION_ID,
  TEMPLATE_ID,
  WEBHOOK_ID,
} from './ids.ts';
import { CONFORMANCES } from './request-document.ts';

/** Ciphertext of a personal field; only the keyring's `unseal` reads it. */
export const Sealed = Type.String({ minLength: 1, isSealed: true });

export const AccountId = Type.String({ pattern: `^${ACCOUNT_ID}$` });
export const ConversionId = Type.String({ pattern: `^${CONVERSION_ID}$` });
export const BatchId = Type.String({ pattern: `^${BATCH_ID}$` });
export const KeyId = Type.String({ pattern: `^${KEY_ID}$` });
export const LinkId = Type.String({ pattern: `^${LINK_ID}$` });
export const PersonId = Type.String({ pattern: `^${PERSON_ID}$` });
export const PasskeyId = Type.String({ pattern: `^${PASSKEY_ID}$` });
export const SessionId = Type.String({ pattern: `^${SESSION_ID}$` });
export const WebhookId = Type.String({ pattern: `^${WEBHOOK_ID}$` });
export const TemplateId = Type.String({ pattern: `^${TEMPLATE_ID}$` });
export const CertificateId = Type.String({ pattern: `^${CERTIFICATE_ID}$` });
export const DeliveryId = Type.String({ pattern: `^${DELIVERY_ID}$` });
export const MailId = Type.String({ pattern: `^${MAIL_ID}$` });
export const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
/** The name of a log in checkpoints and keys, as signed notes allow it: without spaces and plus. */
export const Origin = Type.String({ pattern: '^[!-*,-~]{1,200}$' });
/**
 * Upper bounds hold for what is written: a number that the read model cannot store as an integer would stop
 * every projection on every node. What is stored already is read without them.
 */
export const maximum = Number.MAX_SAFE_INTEGER;
/** Milliseconds since the Unix epoch, as far as a `Date` reaches. */
export const Time = Type.Integer({ minimum: 0, maximum: 8.64e15 });
/** From 1. */
export const Count = Type.Integer({ minimum: 1, maximum });

/** Settings say which there are: a log may name one that is there no more. */
export const Plan = Type.String({ pattern: `^${PLAN_NAME}$` });
export type Plan = Static<typeof Plan>;

export const SessionKind = Type.Enum([...SESSION_KINDS]);
export type SessionKind = Static<typeof SessionKind>;

export const SignInMethods = Type.Array(Type.Enum([...SIGN_IN_METHODS]), {
  minItems: 1,
  uniqueItems: true,
});

/** What bounds an API key; absent in keys from before there were such bounds, which have none. */
export const KeyRights = Type.Object({
  /** Absent: all. */
  scopes: Type.Optional(
    Type.Array(Type.Enum([...KEY_SCOPES]), { minItems: 1, maxItems: KEY_SCOPES.length }),
  ),
  /** Absent: it is valid until it is revoked. */
  expiresAt: Type.Optional(Time),
  /** The networks that it may be used from, in CIDR notation: a JSON array. Absent: all. */
  addresses: Type.Optional(Sealed),
  /** Requests in a minute, beside those of its account. Absent: as many as the account may send. */
  rateLimit: Type.Optional(Count),
  /** Credits that it may use in a calendar month (UTC). Absent: all that the account has. */
  creditLimit: Type.Optional(Count),
  /** Its conversions are tests: they take no credit and show that they are tests. */
  isTest: Type.Optional(Type.Literal(true)),
});
export type KeyRights = Static<typeof KeyRights>;

/** The place of a blob, and the SHA-256 and the length of what is stored there: ciphertext. */
export const BlobRef = Type.Object({
  key: Type.String({ pattern: `^${CONVERSION_ID}/(${BLOB_KINDS.join('|')})-[0-9a-f]{64}$` }),
  sha256: Sha256,
  bytes: Type.Integer({ minimum: 0, maximum }),
});
export type BlobRef = Static<typeof BlobRef>;

/** The PDF itself, as clients get it. */
export const PdfDigest = Type.Object({
  sha256: Sha256,
  bytes: Type.Integer({ minimum: 0, maximum }),
});
export type PdfDigest = Static<typeof PdfDigest>;

/** What a conversion is made from: a page, or PDFs that there are already. */
export const Source = Type.Enum(['html', 'url', 'document']);
export type Source = Static<typeof Source>;

/** What a PDF conforms to. */
export const Conformances = Type.Array(Type.Enum([...CONFORMANCES]), {
  maxItems: CONFORMANCES.length,
});
export type Conformances = Static<typeof Conformances>;

/** How a PDF compares with that of the conversion whose request was rendered again. */
export const Rerender = Type.Object({
  /** True if all bytes are the same. */
  equal: Type.Boolean(),
  /** The pages that show something else, if it is known; none where only dates and the like differ. Absent if equal. */
  pages: Type.Optional(Type.Array(Count)),
});
export type Rerender = Static<typeof Rerender>;

/** The level of a PDF's signature (PAdES), and the SHA-256 of its certificate, hex. */
export const SignatureFacts = Type.Object(
  { level: Type.Enum(['B-B', 'B-T']), certificate: Sha256 },
  { additionalProperties: false },
);
export type SignatureFacts = Static<typeof SignatureFacts>;

/** What is said of a PDF that was made; each is absent where there is nothing to say. */
export const PdfFacts = Type.Object({
  /** Texts for the client, about what the page lacked: a JSON array of strings. */
  warnings: Type.Optional(Sealed),
  /** The title of the page; where it has none, its first heading or words. */
  title: Type.Optional(Sealed),
  /** What the PDF conforms to, of what was asked for. */
  conformance: Type.Optional(Conformances),
  signature: Type.Optional(SignatureFacts),
  /** How it compares with an earlier one, if it was to be compared. */
  rerender: Type.Optional(Rerender),
});
export type PdfFacts = Static<typeof PdfFacts>;

/** The window that a page sees, in CSS pixels. */
export const Viewport = Type.Object({
  width: Type.Integer(),
  height: Type.Integer(),
  device_scale_factor: Type.Number(),
});
export type Viewport = Static<typeof Viewport>;

/** The window of a request that names none, and each part of it that one leaves out. */
export const DEFAULT_VIEWPORT: Viewport = { width: 800, height: 600, device_scale_factor: 1 };

/** The options that say nothing about the client's content, with the defaults filled in. */
export const PrintOptions = Type.Object({
  format: Type.Enum([...FORMATS]),
  page_size: Type.Enum([...PAGE_SIZES]),
  /** With `height`, in the place of `page_size`. */
  width: Type.Optional(Type.String()),
  height: Type.Optional(Type.String()),
  landscape: Type.Boolean(),
  /** One page as long as the document. */
  single_page: Type.Boolean(),
  margin_top: Type.String(),
  margin_right: Type.String(),
  margin_bottom: Type.String(),
  margin_left: Type.String(),
  print_background: Type.Boolean(),
  scale: Type.Number(),
  page_ranges: Type.Optional(Type.String()),
  prefer_css_page_size: Type.Boolean(),
  media: Type.Enum(['print', 'screen']),
  color_scheme: Type.Optional(Type.Enum([...COLOR_SCHEMES])),
  viewport: Type.Optional(Viewport),
  /** As `Intl` names it. */
  timezone: Type.Optional(Type.String()),
  /** BCP 47, in its canonical form. */
  locale: Type.Optional(Type.String()),
  tagged: Type.Boolean(),
  outline: Type.Boolean(),
  javascript: Type.Boolean(),
  /** The same request gives the same bytes. */
  deterministic: Type.Boolean(),
  /** ISO 8601: where the clock of such a page begins. */
  deterministic_time: Type.Optional(Type.String()),
});
export type PrintOptions = Static<typeof PrintOptions>;

/** A stored event lacks the options that have these: a default that changes needs another version of the event. */
export const DEFAULT_OPTIONS: PrintOptions = {
  format: 'pdf',
  page_size: 'A4',
  landscape: false,
  single_page: false,
  margin_top: '1cm',
  margin_right: '1cm',
  margin_bottom: '1cm',
  margin_left: '1cm',
  print_background: false,
  scale: 1,
  prefer_css_page_size: false,
  media: 'print',
  tagged: true,
  outline: false,
  javascript: true,
  deterministic: false,
};

/** Fields of a request that say nothing of a picture: it has no paper. */
export const PDF_ALONE = [
  'page_size',
  'width',
  'height',
  'landscape',
  'single_page',
  'margin_top',
  'margin_right',
  'margin_bottom',
  'margin_left',
  'print_background',
  'scale',
  'page_ranges',
  'header_html',
  'footer_html',
  'prefer_css_page_size',
  'tagged',
  'outline',
  'metadata',
  'pdf',
] as const;

/** The options without those that do not go with the others: what a request for the same says. */
export function requestedOptions(options: PrintOptions): Partial<PrintOptions> {
  const left: readonly string[] =
    options.format !== 'pdf' ? PDF_ALONE : options.width === undefined ? [] : ['page_size'];
  return Object.fromEntries(Object.entries(options).filter(([name]) => !left.includes(name)));
}

/** The texts that the caller gave a conversion beside its content, each of them sealed. */
const RequestTexts = {
  /** The name that the PDF is to be downloaded under. */
  filename: Type.Optional(Sealed),
  /** The URL that is told of its end. */
  webhookUrl: Type.Optional(Sealed),
  /** The caller's own name for it, such as the number of an invoice. */
  reference: Type.Optional(Sealed),
  /** A JSON object of names and values. */
  tags: Type.Optional(Sealed),
  /** The host and path of the page's URL: what names it where nothing else does. */
  address: Type.Optional(Sealed),
  /**
   * The documents that it is made from, if its source is `document`: a JSON array of `{sha256, bytes, conversion?}`. The hash of
   * an upload could be guessed by who knows its content, so it is sealed.
   */
  sources: Type.Optional(Sealed),
  /** SHA-256 in hex of the data that its template was filled with, as JSON after RFC 8785. Its content could be guessed, too. */
  templateData: Type.Optional(Sealed),
};
/** What the caller said of a conversion beside its content, as it is: it is not personal. */
const RequestMarks = {
  /** The conversion whose request is asked for once more. */
  retryOf: Type.Optional(ConversionId),
  /** The conversion whose request is rendered again, to be compared with its PDF. */
  rerenderOf: Type.Optional(ConversionId),
  /** The batch that it was asked for in: its BatchRequested is of the same append. */
  batchId: Type.Optional(BatchId),
  /** The version of the template that its HTML was made of. */
  template: Type.Optional(Type.Object({ id: TemplateId, version: Count })),
  /** Absent: normal. */
  priority: Type.Optional(Type.Literal('low')),
  /**
   * Its documents are kept so long after its end, if that of the service is not shorter; 0: until the PDF was downloaded.
   * Absent: as long as the service keeps them.
   */
  retentionSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum })),
  /** `retentionSeconds` is the setting of the account, and not of the request. Absent in version 1. */
  retentionOfAccount: Type.Optional(Type.Literal(true)),
  /** The PDF is to be signed, by its account's certificate or that of the service; absent: it is not. */
  signedBy: Type.Optional(Type.Enum(['account', 'service'])),
  /** More than printing: work on the PDF that is printed. Absent: none, or the source is `document`, which is all work. */
  worksOnPdf: Type.Optional(Type.Literal(true)),
};
export const RequestFacts = Type.Object({ ...RequestTexts, ...RequestMarks });
export type RequestFacts = Static<typeof RequestFacts>;
export type RequestTexts = { readonly [K in keyof typeof RequestTexts]?: string };
export type RequestMarks = Omit<RequestFacts, keyof RequestTexts>;

/** Milliseconds spent in each phase, from taking the job to the stored file. */
export const RenderTimings = Type.Object({
  queued: Type.Number(),
  load: Type.Number(),
  ready: Type.Number(),
  print: Type.Number(),
  store: Type.Number(),
});
export type RenderTimings = Static<typeof RenderTimings>;
