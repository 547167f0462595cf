/**
 * How a conversion was rendered: the JSON content of its `manifest` blob. The event holds the
 * blob's hash; the blob goes with the conversion's others, for it names what a client's page fetched.
 */
import type { PrintOptions, RenderTimings } from './event-fields.ts';
import type { Conformance, RequestDocument } from './request-document.ts';

/** No manifest is larger: lists are cut, and say by how much. */
export const MAX_MANIFEST_BYTES = 256 * 1024;
/** The most warnings of a conversion, and the length of each. */
export const MAX_WARNINGS = 20;
export const MAX_WARNING_CHARACTERS = 300;

export interface RenderManifest extends Omit<PageManifest, 'wait_for'> {
  readonly version: 1;
  readonly conversion_id: string;
  readonly renderer: string;
  readonly attempt: number;
  /** The encrypted form, as the event names it. */
  readonly request: { readonly sha256: string; readonly bytes: number };
  readonly options: PrintOptions & Pick<RequestDocument, 'wait_for'>;
  /** The PDF itself. */
  readonly document: {
    readonly sha256: string;
    readonly bytes: number;
    readonly pages: number;
    /** What it conforms to, if anything was asked for. */
    readonly conformance?: readonly Conformance[];
  };
  readonly timings: ManifestTimings;
}

/** Milliseconds. */
export interface ManifestTimings extends Pick<RenderTimings, 'load' | 'ready' | 'print' | 'store'> {
  /** The time from acceptance until the renderer has the job, by the two clocks. Includes earlier tries. */
  readonly queue: number;
  /** The time from then until a tab is ready for the document. */
  readonly start: number;
}

/** The part of the manifest that the worker that drove Chrome knows. */
export interface PageManifest extends Pick<RequestDocument, 'wait_for'> {
  readonly chrome: ManifestChrome;
  /** Names of the fonts that the PDF holds glyphs of, as the PDF has them. */
  readonly fonts: readonly string[];
  /** Of a deterministic document: the files of those fonts that are installed. Others are among the resources. */
  readonly font_files?: readonly ManifestFontFile[];
  /** The resources that were fetched or asked for, in order. The client's HTML is not among them. */
  readonly resources: readonly ManifestResource[];
  readonly resources_left_out: number;
  /** Encrypted connections by host, of all parts of the page. */
  readonly tunnels: readonly { readonly host: string; readonly bytes: number }[];
  readonly console_errors: readonly ManifestError[];
  readonly console_errors_left_out: number;
  /** The waits for the document, in order. */
  readonly waits: readonly ManifestWait[];
}

export interface ManifestFontFile {
  /** As in `fonts`. */
  readonly name: string;
  /** The file's name, without its folder. */
  readonly file: string;
  /** Hex. */
  readonly sha256: string;
}

export interface ManifestChrome {
  readonly product: string;
  /** The revision of Chrome's sources. */
  readonly revision: string;
  readonly sandboxed: boolean;
  readonly flags: readonly string[];
}

export interface ManifestResource {
  /** The address that the answer came from in the end; for a file that came with the page, its relative URL. */
  readonly url: string;
  /** The addresses that led there, with the status of each. */
  readonly redirects?: readonly { readonly url: string; readonly status: number }[];
  /** Chrome's name of its kind, such as `Image`; absent for what only the proxy saw. */
  readonly kind?: string;
  /** Absent if there was no answer. */
  readonly status?: number;
  /** Media type. */
  readonly type?: string;
  /** The length of the content in the form that was hashed. */
  readonly bytes: number;
  /** Hex; absent where the body did not come to its end, or was too large to hash. */
  readonly sha256?: string;
  /**
   * The form that was hashed: `received`, as it came, its content coding (`encoding`) included;
   * `decoded`, without that; `text`, decoded and in UTF-8.
   */
  readonly hashed?: 'received' | 'decoded' | 'text';
  readonly encoding?: string;
  /** Why there is no answer, or not all of it. */
  readonly error?: string;
}

export interface ManifestError {
  readonly text: string;
  /** Address and line, where known. */
  readonly at?: string;
}

const WAITS = [
  'load',
  'selector',
  'delay',
  'network_idle',
  'requests',
  'view',
  'drawing',
  'timers',
  'fonts',
  'images',
] as const;

export interface ManifestWait {
  readonly for: (typeof WAITS)[number];
  readonly ms: number;
  /** The wait was given up at its cap. */
  readonly capped?: true;
}
