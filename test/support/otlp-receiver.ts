/** A receiver of OTLP over HTTP: what an OpenTelemetry collector gets. It reads JSON, and keeps Protobuf as it is. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer, json } from 'node:stream/consumers';
import type { Test } from 'tap';

type Value = Readonly<Record<string, string | number | boolean>>;
type Attributes = readonly { readonly key: string; readonly value: Value }[];

/** https://github.com/open-telemetry/opentelemetry-proto/blob/main/opentelemetry/proto/trace/v1/trace.proto */
interface TracesData {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly {
      readonly spans: readonly {
        readonly traceId: string;
        readonly spanId: string;
        readonly parentSpanId?: string;
        readonly name: string;
        readonly kind: number;
        readonly startTimeUnixNano: string;
        readonly endTimeUnixNano: string;
        readonly attributes: Attributes;
        readonly status: { readonly code?: number; readonly message?: string };
      }[];
    }[];
  }[];
}

export interface Span {
  readonly traceId: string;
  readonly id: string;
  readonly parent: string | undefined;
  readonly name: string;
  /** Nanoseconds since the epoch. */
  readonly from: bigint;
  readonly to: bigint;
  /** The role of the process that sent it. */
  readonly role: unknown;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly failure: string | undefined;
}

const ERROR = 2;

const toRecord = (attributes: Attributes): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

function spansOf({ resourceSpans }: TracesData): readonly Span[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: span.traceId,
        id: span.spanId,
        parent: span.parentSpanId,
        name: span.name,
        from: BigInt(span.startTimeUnixNano),
        to: BigInt(span.endTimeUnixNano),
        role: toRecord(resource.attributes)['pressledger.role'],
        attributes: toRecord(span.attributes),
        failure: span.status.code === ERROR ? (span.status.message ?? '') : undefined,
      })),
    ),
  );
}

export interface OtlpReceiver {
  /** For a process that sends its traces here, soon. */
  readonly settings: Readonly<Record<string, string>>;
  readonly spans: readonly Span[];
  /** Everything that was sent, as it was. */
  readonly received: readonly unknown[];
}

export async function startOtlpReceiver(t: Test): Promise<OtlpReceiver> {
  const spans: Span[] = [];
  const received: unknown[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      if (request.headers['content-type'] === 'application/x-protobuf') {
        received.push(await buffer(request));
        response.writeHead(200).end();
        return;
      }
      const data = await json(request);
      received.push(data);
      if (request.url === '/v1/traces') spans.push(...spansOf(data as TracesData));
      response.writeHead(request.url === '/v1/traces' ? 200 : 404).end('{}');
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const settings = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  };
  return { settings, spans, received };
}
