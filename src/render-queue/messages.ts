/**
 * The messages of the render queue, and the checks of those that come from another node. Nodes that run
 * strangers' pages may be taken over. So a message counts only if it is exactly of its form, and speaks of
 * nothing but its own conversion.
 */
import Type, { type Static, type TProperties } from 'typebox';
import { Compile } from 'typebox/schema';
import { blobKey } from '../domain/blob-key.ts';
import { FAILURE_CODES } from '../domain/choices.ts';
import { MAX_ATTEMPTS } from '../domain/conversion.ts';
import {
  AccountId,
  BlobRef,
  Conformances,
  ConversionId,
  PdfDigest,
  PrintOptions,
  type RenderTimings,
  Sha256,
  SignatureFacts,
  Time,
} from '../domain/event-fields.ts';
import {
  MAX_MANIFEST_BYTES,
  MAX_WARNING_CHARACTERS,
  MAX_WARNINGS,
} from '../domain/render-manifest.ts';

/** The most that is kept of a page's title. */
export const MAX_TITLE_CHARACTERS = 300;

/** The most that is stored of a picture, encrypted. */
export const MAX_PICTURE_BYTES = 300_000;

const MAX_PAGES = 1_000_000;
/** The most pages that are named of those that differ from an earlier PDF's. */
export const MAX_DIFFERING_PAGES = 1_000;
/** Counts against its account's storage. No PDF of ours comes near. */
const DocumentBytes = Type.Integer({ minimum: 0, maximum: 2 ** 30 });
/** Characters: a message may quote a selector, a host or Chrome's own words. */
const MAX_MESSAGE = 8192;
const Milliseconds = Type.Number({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const exactly = <T extends TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });

/** The span that a message belongs to, where it is traced: https://www.w3.org/TR/trace-context/ */
const Trace = Type.Optional(Type.String({ pattern: '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' }));

/** The name of who signs, as the PDF shows it. A certificate has room for no longer one. */
const SignerName = Type.Optional(Type.String({ maxLength: 8192 }));

/** 32 bytes in base64url. */
const ContentKey = Type.String({ pattern: '^[0-9A-Za-z_-]{43}$' });

const Job = exactly({
  conversionId: ConversionId,
  accountId: AccountId,
  /** The `RequestDocument` that the client sent, encrypted. */
  request: BlobRef,
  /** The key of this conversion's blobs. It opens no other conversion's. */
  contentKey: ContentKey,
  /** The PDF of its account that it is compared with; `document` and its key only as long as that is stored. */
  original: Type.Optional(
    exactly({
      conversionId: ConversionId,
      sha256: Sha256,
      document: Type.Optional(BlobRef),
      contentKey: Type.Optional(ContentKey),
    }),
  ),
  options: PrintOptions,
  /** False: nobody has had it before, as far as is known. */
  retry: Type.Boolean(),
  /** The name in the certificate that is to sign; absent where nothing is to be signed. */
  signer: SignerName,
  /** What is made shows that it is a test. */
  isTest: Type.Optional(Type.Literal(true)),
  /** It waits behind its account's others. */
  priority: Type.Optional(Type.Literal('low')),
  trace: Trace,
});

/** One accepted conversion, handed to a renderer node. */
export type RenderJob = Static<typeof Job>;

const COMMON = {
  conversionId: ConversionId,
  accountId: AccountId,
  /** The name has no slash: it is a part of the id of what is recorded, as is `delivery`. */
  renderer: Type.String({ pattern: '^[0-9A-Za-z_.-]{1,100}$' }),
  /** The renderer's name for this delivery of the job: one try. */
  delivery: Type.String({ pattern: '^[0-9A-Za-z_-]{1,64}$' }),
  /** Milliseconds since the epoch, by the renderer's clock. */
  at: Time,
  trace: Trace,
};
const OUTCOME = { ...COMMON, attempt: Type.Integer({ minimum: 1, maximum: MAX_ATTEMPTS }) };

const Started = exactly({ ...COMMON, kind: Type.Literal('started') });
const Requeued = exactly({ ...OUTCOME, kind: Type.Literal('requeued') });
const Completed = exactly({
  ...OUTCOME,
  kind: Type.Literal('completed'),
  document: exactly({ ...BlobRef.properties, bytes: DocumentBytes }),
  pdf: exactly({ ...PdfDigest.properties, bytes: DocumentBytes }),
  pages: Type.Integer({ minimum: 1, maximum: MAX_PAGES }),
  timings: exactly({
    queued: Milliseconds,
    load: Milliseconds,
    ready: Milliseconds,
    print: Milliseconds,
    store: Milliseconds,
  } satisfies Record<keyof RenderTimings, typeof Milliseconds>),
  /** Chrome's product and version, as it reports them. */
  chrome: Type.String({ maxLength: 256 }),
  /** The `RenderManifest` as JSON, stored with the event: at most `MAX_MANIFEST_BYTES`. */
  manifest: Type.String({ maxLength: MAX_MANIFEST_BYTES }),
  /** Texts for the client, about what the page lacked; absent where it lacked nothing. */
  warnings: Type.Optional(
    Type.Array(Type.String({ maxLength: MAX_WARNING_CHARACTERS }), {
      minItems: 1,
      maxItems: MAX_WARNINGS,
    }),
  ),
  /** What the PDF conforms to, of what was asked for; absent where nothing was. */
  conformance: Type.Optional(Conformances),
  /** The pages that differ from those of the PDF that it is compared with; absent where that is not known. */
  differingPages: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1, maximum: MAX_PAGES }), { maxItems: MAX_DIFFERING_PAGES }),
  ),
  /** The signature of the PDF, as the service said when it made it. */
  signature: Type.Optional(SignatureFacts),
  /** The title of the page, else its first heading or words, in one line; absent where it has none. */
  title: Type.Optional(Type.String({ minLength: 1, maxLength: MAX_TITLE_CHARACTERS })),
});
const Failed = exactly({
  ...OUTCOME,
  kind: Type.Literal('failed'),
  code: Type.Enum([...FAILURE_CODES]),
  /** The text for the client: something that a person can act on. */
  message: Type.String({ maxLength: MAX_MESSAGE }),
  /** True if it may be no fault of the document, so that another try is in order. */
  retryable: Type.Boolean(),
  /** The picture of the page, a JPEG; absent where there is none. */
  picture: Type.Optional(
    exactly({
      ...BlobRef.properties,
      bytes: Type.Integer({ minimum: 1, maximum: MAX_PICTURE_BYTES }),
    }),
  ),
});

const Signing = exactly({
  ...COMMON,
  kind: Type.Literal('sign'),
  /** SHA-256 of what is to be signed, hex. */
  digest: Sha256,
  /** The name that the PDF shows as that of the signer; absent where it shows none. */
  signer: SignerName,
});

/** A renderer has a PDF that is to be signed, and no key. */
export type SigningRequest = Static<typeof Signing>;
export type SigningAnswer =
  | {
      readonly kind: 'signed';
      /** A CMS signature, DER in base64. */
      readonly cms: string;
      readonly facts: SignatureFacts;
    }
  /** Nothing is signed. The message is for the client. */
  | { readonly kind: 'unsigned'; readonly message: string; readonly retryable: boolean };

/** A renderer has a job, and a slot for it: it counts as a try. */
export type RenderStart = Static<typeof Started>;
/** The renderer gives the job back as it came: its start counts no longer as a try. */
export type RequeuedOutcome = Static<typeof Requeued>;
export type CompletedOutcome = Static<typeof Completed>;
export type FailedOutcome = Static<typeof Failed>;
/** The end of a delivery that was started. */
export type RenderOutcome = RequeuedOutcome | CompletedOutcome | FailedOutcome;
export type RenderReport = RenderStart | RenderOutcome;

const Progress = Type.Union([
  exactly({
    kind: Type.Literal('started'),
    conversionId: ConversionId,
    delivery: COMMON.delivery,
  }),
  /** It is not recorded yet. */
  exactly({
    kind: Type.Literal('failed'),
    conversionId: ConversionId,
    delivery: COMMON.delivery,
    code: Type.Enum([...FAILURE_CODES]),
  }),
  /** It comes again. */
  exactly({ kind: Type.Literal('waiting'), conversionId: ConversionId }),
  /** The log has the end of its conversion, and it has left the queue. */
  exactly({ kind: Type.Literal('ended'), conversionId: ConversionId }),
]);

/** How far a job is, as who records its reports tells who publishes jobs. */
export type JobProgress = Static<typeof Progress>;

/** The answer to a report that is recorded. */
export interface Recorded {
  /** True if the conversion has ended by the log: the job is needed no more. */
  readonly ended: boolean;
  /** The number of this try, from 1; 0 where it is none. */
  readonly attempt: number;
}

const isJob = Compile(Job);
const isStarted = Compile(Started);
const isRequeued = Compile(Requeued);
const isCompleted = Compile(Completed);
const isFailed = Compile(Failed);
const isSigning = Compile(Signing);
const isProgress = Compile(Progress);

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** @returns undefined where it is not JSON in UTF-8 */
function parseJson(data: Uint8Array): unknown {
  try {
    return JSON.parse(UTF8.decode(data)) as unknown;
  } catch {
    return undefined;
  }
}

/** @returns undefined where it is not a job, or one that asks for another conversion's document */
export function parseJob(data: Uint8Array): RenderJob | undefined {
  const job = parseJson(data);
  if (!isJob.Check(job)) return undefined;
  const { conversionId, request, original } = job;
  if (request.key !== blobKey(conversionId, 'request', request.sha256)) return undefined;
  const { document } = original ?? {};
  if (original === undefined || document === undefined) return job;
  return document.key === blobKey(original.conversionId, 'document', document.sha256)
    ? job
    : undefined;
}

/** @returns undefined where it is not a report */
export function parseReport(data: Uint8Array): RenderReport | undefined {
  const report = parseJson(data);
  if (isStarted.Check(report) || isRequeued.Check(report)) return report;
  if (isFailed.Check(report)) return hasOwnPicture(report) ? report : undefined;
  return isCompleted.Check(report) && isCoherent(report) ? report : undefined;
}

/** @returns undefined where it asks for no signature */
export function parseSigning(data: Uint8Array): SigningRequest | undefined {
  const request = parseJson(data);
  return isSigning.Check(request) ? request : undefined;
}

/** @returns undefined where it tells of no job */
export function parseProgress(data: Uint8Array): JobProgress | undefined {
  const progress = parseJson(data);
  return isProgress.Check(progress) ? progress : undefined;
}

/** Checks that another conversion's blob would not be served as its picture. */
const hasOwnPicture = ({ conversionId, picture }: FailedOutcome): boolean =>
  picture === undefined || picture.key === blobKey(conversionId, 'picture', picture.sha256);

/** Checks what a schema cannot say. */
function isCoherent({ conversionId, document, manifest }: CompletedOutcome): boolean {
  // Another conversion's PDF would be served as this one's.
  if (document.key !== blobKey(conversionId, 'document', document.sha256)) return false;
  const bytes = Buffer.from(manifest);
  if (bytes.length > MAX_MANIFEST_BYTES) return false;
  const content = parseJson(bytes);
  return typeof content === 'object' && content !== null && !Array.isArray(content);
}
