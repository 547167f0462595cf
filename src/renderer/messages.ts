/** Every message between the main thread and a render worker. */
import type { MessagePort } from 'node:worker_threads';
import type { ConversionFailureCode } from '../domain/choices.ts';
import type { PrintOptions } from '../domain/event-fields.ts';
import type { PageManifest } from '../domain/render-manifest.ts';
import type { Conformance, RequestDocument } from '../domain/request-document.ts';
import type { LaunchedChrome } from './browser/launch.ts';
import type { PdfFile } from '../pdf/finish.ts';
import type { SignaturePlace } from '../pdf/signature.ts';

/** Settings that a worker is started with. */
export interface WorkerSettings {
  readonly chromePath: string;
  /** The directory for profiles. Everything below it may be removed when the node ends. */
  readonly directory: string;
  readonly allowPrivateNetwork: boolean;
  readonly egressPorts: readonly number[];
  /** The memory that one page may use beside what a warm browser holds. */
  readonly maxPageMemoryBytes: number;
}

export interface RenderTask {
  readonly conversionId: string;
  /** Its documents may follow each other in one tab; nobody else's ever do. */
  readonly accountId: string;
  readonly request: RequestDocument;
  readonly options: PrintOptions;
  /** The name of who signs, where the PDF is to be signed. */
  readonly signer?: string | undefined;
  /** What is made is to show that it is a test. */
  readonly isTest?: boolean | undefined;
  /** A picture is wanted if there is a page and no PDF of it. */
  readonly pictures: boolean;
  /** Milliseconds that remain of the conversion's time. */
  readonly deadlineMs: number;
  /** A file that is not there yet; the PDF is written to it. */
  readonly outputPath: string;
}

/** A worker is asked for one at a time. */
export type WorkerTask =
  /** Start Chrome now rather than with the first document. */
  | { readonly kind: 'warmUp' }
  /**
   * A message to the worker by the port: nobody needs the document any more, and its answer is to come at once, whatever it
   * is. A message from it: the document's time begins, for Chrome is ready.
   */
  | { readonly kind: 'render'; readonly task: RenderTask; readonly port: MessagePort }
  /** End Chrome: the thread is about to go, and only it can see its child end. */
  | { readonly kind: 'shutDown' };

export interface RenderedDocument extends PdfFile {
  /** Milliseconds of each phase. */
  readonly timings: { readonly load: number; readonly ready: number; readonly print: number };
  /** The title that the page had when it was printed, else its first heading or words; empty if it had none of them. */
  readonly title: string;
  /** What the PDF conforms to, of what was asked for; undefined where nothing was. */
  readonly conformance?: readonly Conformance[];
  /** Why it does not conform to the rest, in words for the client. */
  readonly shortfalls?: readonly string[];
  /** The place that waits for a signature, and the name that the PDF shows as that of its signer. */
  readonly signature?: SignaturePlace & { readonly signer?: string };
  /** The tools and resources that the page was made with. */
  readonly page: PageManifest;
}

/** The page or its request is at fault. */
export interface Failed {
  readonly kind: 'failed';
  readonly code: ConversionFailureCode;
  /** The client's text. */
  readonly message: string;
  /** A JPEG of the page, if one was wanted and could be taken. */
  readonly picture?: Uint8Array;
}

/** Browser, tab or worker died through no proven fault of the page: worth another try. */
export interface Crashed {
  readonly kind: 'crashed';
  /** The failure that it is when no further try follows. */
  readonly code: 'page_crashed' | 'renderer_failed';
  /** A text for the log. */
  readonly message: string;
}

export type RenderResult = (RenderedDocument & { readonly kind: 'completed' }) | Failed | Crashed;

export type ChromeInfo = Pick<LaunchedChrome, 'product' | 'sandboxNote'>;

/** Answers `warmUp`. The error is for the operator. */
export type WarmUpResult =
  | { readonly kind: 'warm'; readonly chrome: ChromeInfo }
  | { readonly kind: 'cold'; readonly message: string };

/** The answer to a task. */
export type WorkerMessage = RenderResult | WarmUpResult | { readonly kind: 'down' };

/** What a worker sends unasked, so that the main thread can end a Chrome without it. */
export type WorkerNotice =
  /** The process id is that of its process group, too. */
  | {
      readonly kind: 'chromeStarted' | 'chromeEnded';
      readonly pid: number;
      readonly thread: number;
    }
  | { readonly kind: 'chromeMissing'; readonly message: string };
