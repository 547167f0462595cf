/** Traces by the OpenTelemetry SDK, which reads the standard `OTEL_*` variables by itself. */
import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { setGlobalErrorHandler } from '@opentelemetry/core';
import {
  defaultResource,
  envDetector,
  hostDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { withTimeout } from '../../async/with-timeout.ts';
import { errorMessage } from '../../errors/error-message.ts';
import type { Logger } from '../log.ts';
import { LogThrottle } from '../log-throttle.ts';
import type { Attributes, OpenSpan, SpanOptions, Tracing } from './port.ts';

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
} as const;

/** A collector that does not answer must not hold up the end. */
const CLOSE_MS = 3_000;

const isSampled = (span: Span): boolean =>
  (span.spanContext().traceFlags & TraceFlags.SAMPLED) !== 0;

function traceParentOf(span: Span | undefined): string | undefined {
  if (span === undefined || !isSampled(span)) return undefined;
  const { traceId, spanId } = span.spanContext();
  return `00-${traceId}-${spanId}-01`;
}

/** Not `propagation`, which follows OTEL_PROPAGATORS: nodes must understand each other. */
function contextOf(traceParent: string): Context {
  const [, traceId = '', spanId = '', flags = '0'] = traceParent.split('-');
  const traceFlags = Number.parseInt(flags, 16);
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

class Open implements OpenSpan {
  readonly #span: Span;
  readonly #context: Context;
  readonly traceParent: string | undefined;

  constructor(span: Span, around: Context) {
    this.#span = span;
    this.#context = trace.setSpan(around, span);
    this.traceParent = traceParentOf(span);
  }

  within<T>(work: () => T): T {
    return context.with(this.#context, work);
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes);
  }

  rename(name: string): void {
    this.#span.updateName(name);
  }

  fail(reason: string): void {
    this.#span.setStatus({ code: SpanStatusCode.ERROR, message: reason });
  }

  end(): void {
    this.#span.end();
  }
}

class OpenTelemetry implements Tracing {
  readonly #sdk: NodeSDK;
  readonly #tracer = trace.getTracer('pressledger');

  constructor(sdk: NodeSDK) {
    this.#sdk = sdk;
  }

  begin(name: string, { kind, parent, attributes }: SpanOptions = {}): OpenSpan {
    const around = parent === undefined ? context.active() : contextOf(parent);
    const options = { ...(kind && { kind: KINDS[kind] }), ...(attributes && { attributes }) };
    return new Open(this.#tracer.startSpan(name, options, around), around);
  }

  async span<T>(
    name: string,
    options: SpanOptions,
    work: (span: OpenSpan) => Promise<T>,
  ): Promise<T> {
    const span = this.begin(name, options);
    try {
      return await span.within(() => work(span));
    } catch (error) {
      span.fail(error instanceof Error ? error.name : 'error');
      throw error;
    } finally {
      span.end();
    }
  }

  record(
    name: string,
    from: number,
    to: number,
    { parent, attributes = {} }: Omit<SpanOptions, 'kind'> = {},
  ): void {
    const around = parent === undefined ? context.active() : contextOf(parent);
    this.#tracer.startSpan(name, { startTime: from, attributes }, around).end(Math.max(from, to));
  }

  outside<T>(work: () => T): T {
    return context.with(ROOT_CONTEXT, work);
  }

  remoteParent(
    headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  ): string | undefined {
    const found = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, headers));
    if (found === undefined) return undefined;
    const flags = found.traceFlags.toString(16).padStart(2, '0');
    return `00-${found.traceId}-${found.spanId}-${flags}`;
  }

  current(): string | undefined {
    return traceParentOf(trace.getActiveSpan());
  }

  logFields() {
    const span = trace.getActiveSpan()?.spanContext();
    return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
  }

  async close(): Promise<void> {
    await withTimeout(CLOSE_MS, this.#sdk.shutdown()).catch(() => {});
  }
}

export function startOpenTelemetry(version: string, role: string, logger: Logger): Tracing {
  const failures = new LogThrottle();
  setGlobalErrorHandler((failure) => {
    const reason = failure instanceof Error ? errorMessage(failure) : 'unknown';
    failures.log((suppressed) => logger.warn({ reason, suppressed }, 'traces cannot be sent'));
  });
  const own = {
    'service.name': 'pressledger',
    'service.version': version,
    'pressledger.role': role,
  };
  const sdk = new NodeSDK({
    resource: defaultResource().merge(resourceFromAttributes(own)),
    // Not the one of the process: it tells the command line and the user.
    resourceDetectors: [serviceInstanceIdDetector, hostDetector, envDetector],
    // Traces alone: metrics are Prometheus' and logs go to standard error.
    metricReaders: [],
    logRecordProcessors: [],
    instrumentations: [],
  });
  sdk.start();
  return new OpenTelemetry(sdk);
}
