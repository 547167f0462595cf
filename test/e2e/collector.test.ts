/** Traces as a real OpenTelemetry collector receives them, where one is named. */
import { test } from 'tap';
import { eventually } from '../support/deadline.ts';
import { findNatsServer } from '../support/nats-server.ts';
import { KINDS, Nodes } from '../support/nodes.ts';
import { type CollectedSpan, needsCollector, startCollector } from '../support/otel-collector.ts';

const ROOT_SPAN = 'POST /api/v1/pdf/';
const PARENT = '00000000000000b1';
/** The spans of every conversion, from the request to its recorded outcome. */
const NAMES = [
  ROOT_SPAN,
  'command to account',
  'event store append',
  'queue',
  'render',
  'report started',
  'record started',
  ...['queued', 'load', 'ready', 'print', 'store'].map((phase) => `phase ${phase}`),
  'report completed',
  'record completed',
];

const options =
  findNatsServer() === undefined
    ? { skip: 'there is no nats-server on this machine' }
    : needsCollector;

/** Spans whose parent is neither among them nor the client's. */
const orphansOf = (spans: readonly CollectedSpan[]): readonly CollectedSpan[] =>
  spans.filter(({ parent }) => parent !== PARENT && !spans.some(({ id }) => id === parent));

for (const [number, protocol] of (['http/protobuf', 'grpc'] as const).entries()) {
  void test(
    `a collector receives one trace of a conversion over NATS by ${protocol}`,
    options,
    async (t) => {
      const collector = await startCollector(t);
      t.comment(`OpenTelemetry collector ${collector.version}`);
      const [kind] = KINDS;
      if (kind === undefined) throw new TypeError('There is no kind of nodes.');
      const nodes = await Nodes.start(t, kind, {
        OTEL_EXPORTER_OTLP_ENDPOINT: protocol === 'grpc' ? collector.grpc : collector.http,
        OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
        OTEL_BSP_SCHEDULE_DELAY: '100',
      });
      const [api] = [await nodes.api(), await nodes.renderer()];
      const traceId = String(number + 1).padStart(32, 'c');
      const answer = await fetch(`${api.url}/api/v1/pdf/`, {
        method: 'POST',
        headers: {
          'X-API-Key': api.firstStart.apiKey,
          'Content-Type': 'application/json',
          traceparent: `00-${traceId}-${PARENT}-01`,
        },
        body: JSON.stringify({ html: '<h1>Traced</h1>' }),
      });
      t.equal(answer.status, 202);
      const spans = await eventually('the whole trace', () => {
        const found = collector.spans().filter((span) => span.traceId === traceId);
        const isWhole = NAMES.every((name) => found.some((span) => span.name === name));
        return isWhole && orphansOf(found).length === 0 ? found : undefined;
      });
      t.comment(`${spans.length} spans: ${spans.map(({ name }) => name).join(', ')}`);
      t.strictSame(
        spans.filter(({ parent }) => parent === PARENT).map(({ name }) => name),
        [ROOT_SPAN],
        'the request alone is below the span of the client',
      );
    },
  );
}
