/**
 * Traces: which step of a conversion took how long, over all processes. A span may have times, ids and codes
 * as attributes, and nothing that a client wrote: no HTML, no query, no header.
 */
export type Attributes = Readonly<Record<string, string | number>>;

export interface SpanOptions {
  readonly kind?: 'server' | 'client' | 'consumer';
  /** A W3C `traceparent`; default: the span around, if there is one. */
  readonly parent?: string | undefined;
  readonly attributes?: Attributes;
}

/** A span under way. */
export interface OpenSpan {
  /** Its name for other processes, a W3C `traceparent`; absent where it is not recorded. */
  readonly traceParent: string | undefined;
  /** Calls `work`; spans that begin in it, also later, are children of this one. */
  within<T>(work: () => T): T;
  set(attributes: Attributes): void;
  rename(name: string): void;
  /** @param reason a code or an error's name, never its text: that may quote a client */
  fail(reason: string): void;
  end(): void;
}

export interface Tracing {
  begin(name: string, options?: SpanOptions): OpenSpan;
  /** Does the work in a span, which ends with it; a rejection marks it as failed. */
  span<T>(name: string, options: SpanOptions, work: (span: OpenSpan) => Promise<T>): Promise<T>;
  /** Records a span that is over. Times are milliseconds since the epoch. */
  record(name: string, from: number, to: number, options?: Omit<SpanOptions, 'kind'>): void;
  /** Calls `work` without a span around it: it belongs to no trace. */
  outside<T>(work: () => T): T;
  /** The span of a client that a request's headers name, as a W3C `traceparent`. */
  remoteParent(
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  ): string | undefined;
  /** The span around as a W3C `traceparent`; absent where none is recorded. */
  current(): string | undefined;
  /** Names the span around in a log line. */
  logFields(): { readonly trace_id?: string; readonly span_id?: string };
  /** Sends what is left, and ends. */
  close(): Promise<void>;
}
