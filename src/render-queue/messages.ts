import type {
  BlobRef,
  ConversionFailureCode,
  PdfDigest,
  PrintOptions,
  RenderTimings,
} from '../domain/events.ts';

/** The most warnings of a conversion, and the length of each. */
export const MAX_WARNINGS = 20;
export const MAX_WARNING_CHARACTERS = 300;

/** One accepted conversion, handed to a renderer node. */
export interface RenderJob {
  readonly conversionId: string;
  readonly accountId: string;
  /** The `RequestDocument` that the client sent, encrypted. */
  readonly request: BlobRef;
  /** The key of this conversion's blobs, 32 bytes in base64url. It opens no other conversion's. */
  readonly contentKey: string;
  readonly options: PrintOptions;
  /** 1 for the first try; each renderer that takes the job up again counts on. */
  readonly attempt: number;
}

interface ReportOf {
  readonly conversionId: string;
  readonly accountId: string;
  readonly renderer: string;
  readonly attempt: number;
  /** Milliseconds since the epoch, by the renderer's clock. */
  readonly at: number;
}

export interface StartedReport extends ReportOf {
  readonly kind: 'started';
}

/** The renderer stops: its start counts no longer as a try. */
export interface RequeuedReport extends ReportOf {
  readonly kind: 'requeued';
}

interface OutcomeReport extends ReportOf {
  /** The time when rendering began, like `at`. A short rendering has no report of its start alone. */
  readonly startedAt?: number;
}

export interface CompletedReport extends OutcomeReport {
  readonly kind: 'completed';
  readonly document: BlobRef;
  readonly pdf: PdfDigest;
  readonly pages: number;
  readonly timings: RenderTimings;
  /** Chrome's product and version, as it reports them. */
  readonly chrome: string;
  /** The `RenderManifest` as JSON, stored with the event: at most `MAX_MANIFEST_BYTES`. */
  readonly manifest: string;
  /** Texts for the client, about what the page lacked; absent where it lacked nothing. */
  readonly warnings?: readonly string[];
}

export interface FailedReport extends OutcomeReport {
  readonly kind: 'failed';
  readonly code: ConversionFailureCode;
  /** The text for the client: something that a person can act on. */
  readonly message: string;
}

/** A renderer node's report about a job. */
export type RenderReport = StartedReport | RequeuedReport | CompletedReport | FailedReport;
