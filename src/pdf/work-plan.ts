/** The work on finished PDFs, as it is handed to the thread that does it. */
import type {
  Encryption,
  RequestDocument,
  Rotation,
  StampFit,
} from '../domain/request-document.ts';
import type { Attachment } from './attachments.ts';
import type { Size } from './page-geometry.ts';

export interface WorkSource {
  readonly content: Uint8Array;
  readonly password?: string | undefined;
}

export type WorkStep =
  /** The pages to keep, in this order: numbers from 1 and ranges of them. */
  | { readonly type: 'pages'; readonly pages: string }
  /** Degrees, clockwise; all pages unless some are named. */
  | { readonly type: 'rotate'; readonly rotate: Rotation; readonly pages?: string | undefined }
  /** The first page of another PDF, or HTML that is printed for them, laid over pages. */
  | {
      readonly type: 'stamp';
      readonly stamp: Uint8Array | PrintedStamp;
      readonly pages?: string | undefined;
    }
  /**
   * The first page of another PDF, laid over all pages, so that nothing in a stranger's PDF hides it: neither boxes, nor a
   * clip that its content leaves, nor annotations.
   */
  | { readonly type: 'watermark'; readonly stamp: Uint8Array }
  | { readonly type: 'attach'; readonly attachments: readonly Attachment[] }
  | { readonly type: 'metadata'; readonly metadata: NonNullable<RequestDocument['metadata']> };

/** A stamp that is printed when the sizes of its pages are known. */
export interface PrintedStamp {
  readonly html: string;
  /**
   * `page`: it is printed on paper of the size of each page. `none`: it is printed once, and lies in the middle of each page
   * in its own size.
   */
  readonly fit: StampFit;
}

/**
 * Prints HTML on paper of each size; undefined is its own size.
 * @param end aborted when the work has ended without it
 */
export type PrintStamp = (
  html: string,
  papers: readonly (Size | undefined)[],
  end: AbortSignal,
) => Promise<readonly Uint8Array[]>;

/** Several sources are joined first. Encryption and optimising come last. */
export interface Work {
  readonly sources: readonly WorkSource[];
  readonly steps: readonly WorkStep[];
  /** The sources were finished before: a signature in them is not a place that is kept for ours. */
  readonly areFinished?: boolean | undefined;
  readonly encrypt?: Encryption | undefined;
  readonly optimize?: boolean | undefined;
}

export type WorkFault =
  | 'unreadable_pdf'
  | 'too_large'
  | 'page_range'
  | 'timeout'
  | 'cancelled'
  | 'renderer_failed';

/** The work cannot be done: the text is for the client. */
export class WorkFailure extends Error {
  override readonly name = 'WorkFailure';
  readonly fault: WorkFault;

  constructor(fault: WorkFault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}

/** A run of qpdf that the thread asks for, by the names of files in the folder of the work. */
export interface QpdfRun {
  /** The job, which writes to qpdf's standard output. */
  readonly jobFile: string;
  readonly outputFile: string;
}

/** What the thread that works on a PDF asks for; the answer to the first is a `QpdfEnd`, to the second the PDFs. */
export type WorkQuestion =
  | ({ readonly kind: 'run' } & QpdfRun)
  | {
      readonly kind: 'print';
      readonly html: string;
      readonly papers: readonly (Size | undefined)[];
    };

/** The end of such a run. */
export interface QpdfEnd {
  readonly status: number | null;
  readonly signal: string | null;
  /** Its complaints. */
  readonly said: string;
}

export interface WorkResult {
  readonly content: Uint8Array;
  readonly pages: number;
  /** Its title, as its metadata say; empty where it has none. */
  readonly title: string;
  /** The sources that were damaged and have been repaired, from 1. */
  readonly repaired: readonly number[];
  /** The sources that were signed, from 1: the signatures are removed. */
  readonly signed: readonly number[];
  /** The program that did it, such as `qpdf/11.3.0`. */
  readonly program: string;
}

export type WorkAnswer =
  | { readonly kind: 'done'; readonly result: WorkResult }
  | { readonly kind: 'failed'; readonly fault: WorkFault; readonly message: string };
