/**
 * How a completed conversion came about: the content of its `manifest` blob, as JSON. The event holds the
 * blob's hash; the blob goes with the conversion's others, for it names what a client's page fetched.
 */
import type { PrintOptions, RenderTimings } from './events.ts';

/** No manifest is larger: lists are cut, and say by how much. */
export const MAX_MANIFEST_BYTES = 256 * 1024;

export interface RenderManifest extends PageManifest {
  readonly version: 1;
  readonly conversion_id: string;
  readonly renderer: string;
  readonly attempt: number;
  /** The encrypted form, as the event names it. */
  readonly request: { readonly sha256: string; readonly bytes: number };
  readonly options: PrintOptions;
  /** The PDF itself. */
  readonly document: { readonly sha256: string; readonly bytes: number; readonly pages: number };
  readonly timings: ManifestTimings;
}

/** Milliseconds. */
export interface ManifestTimings extends Pick<RenderTimings, 'load' | 'ready' | 'print' | 'store'> {
  /** From acceptance to the renderer's hands, by the two clocks; with earlier tries, theirs too. */
  readonly queue: number;
  /** From there to a tab that is ready for the document. */
  readonly start: number;
}

/** What the worker that drove Chrome knows. */
export interface PageManifest {
  readonly chrome: ManifestChrome;
  /** Names of the fonts that the PDF holds glyphs of, as the PDF has them. */
  readonly fonts: readonly string[];
  /** What was fetched or asked for, in order; the client's HTML is not among them. */
  readonly resources: readonly ManifestResource[];
  readonly resources_left_out: number;
  /** Encrypted connections by host, whoever opened them. */
  readonly tunnels: readonly { readonly host: string; readonly bytes: number }[];
  readonly console_errors: readonly ManifestError[];
  readonly console_errors_left_out: number;
  /** What the document was waited for, in order. */
  readonly waits: readonly ManifestWait[];
}

export interface ManifestChrome {
  readonly product: string;
  /** Of Chrome's sources. */
  readonly revision: string;
  readonly sandboxed: boolean;
  readonly flags: readonly string[];
}

export interface ManifestResource {
  /** Where the answer came from in the end. */
  readonly url: string;
  /** The addresses that led there, with the status of each. */
  readonly redirects?: readonly { readonly url: string; readonly status: number }[];
  /** Chrome's name of its kind, such as `Image`; absent for what only the proxy saw. */
  readonly kind?: string;
  /** Absent where there was no answer. */
  readonly status?: number;
  /** Media type. */
  readonly type?: string;
  /** Of the content in the form that was hashed. */
  readonly bytes: number;
  /** Hex; absent where the body did not come to its end, or was too large to hash. */
  readonly sha256?: string;
  /**
   * What was hashed: `received`, as it came, its content coding (`encoding`) included; `decoded`, without
   * that; `text`, decoded and in UTF-8.
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
  'scroll',
  'fonts',
  'images',
  'frames',
] as const;

export interface ManifestWait {
  readonly for: (typeof WAITS)[number];
  readonly ms: number;
  /** The wait was given up at its cap. */
  readonly capped?: true;
}
