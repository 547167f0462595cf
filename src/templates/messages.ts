/** The messages between the service and the threads that fill templates. */
import type { MessagePort } from 'node:worker_threads';

/** Texts of one template: Liquid before it is filled, HTML after. */
export interface TemplateTexts {
  readonly html: string;
  readonly header_html?: string;
  readonly footer_html?: string;
}

/** Fills a template once for each of the data, or only reads it where there are none. */
export interface FillJob {
  readonly texts: TemplateTexts;
  /** JSON Schema of the data, as JSON text. */
  readonly schema?: string;
  /** JSON texts of objects. */
  readonly data: readonly string[];
  /** Bytes of UTF-8 that each filled template may have, and all of them together. */
  readonly maxBytes: number;
  readonly maxTotalBytes: number;
}

/** What is wrong: at a place in the data, or in one of the texts, or with the schema. */
export interface FillProblem {
  /** The steps to the place: `data`, `lines`, `2`, `price`. */
  readonly path: readonly string[];
  readonly message: string;
}

export type Filled =
  | { readonly texts: TemplateTexts }
  /** At least one. */
  | { readonly problems: readonly FillProblem[] };

/** A task of a thread, which reports how far it is, and answers with what is wrong with the whole. */
export interface FillTask {
  readonly job: FillJob;
  readonly reports: MessagePort;
}

/** `filled`: for the next of the data. */
export type FillReport =
  | { readonly kind: 'begun' }
  | { readonly kind: 'filled'; readonly filled: Filled };
