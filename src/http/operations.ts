import type { RendererWatch } from '../render-queue/port.ts';

export interface RebuildState {
  /** Positions of the log: that which the rebuild has reached, and the one that it is to reach. */
  readonly underWay: { readonly position: bigint; readonly end: bigint } | undefined;
  /** The last one since the start of this process, in milliseconds since the Unix epoch, and why it failed. */
  readonly last: { readonly endedAt: number; readonly error: string | undefined } | undefined;
}

/** Rebuilds of this node's read models. */
export interface Rebuilds {
  state(): RebuildState;
  /** Begins one, unless one is under way. */
  start(): void;
}

/** The service around the API, for its operators. */
export interface Operations {
  readonly version: string;
  readonly renderers: RendererWatch;
  readonly rebuilds: Rebuilds;
}
