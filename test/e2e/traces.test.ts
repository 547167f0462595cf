/** One trace from a request to its recorded outcome, over processes, and over a restart. */
import { type Test, test } from 'tap';
import { eventually } from '../support/deadline.ts';
import { KINDS, Nodes } from '../support/nodes.ts';
import { type OtlpReceiver, type Span, startOtlpReceiver } from '../support/otlp-receiver.ts';
import { type Service, startService } from '../support/service.ts';

const ROOT_SPAN = 'POST /api/v1/pdf/';
const PHASES = ['queued', 'load', 'ready', 'print', 'store'].map((phase) => `phase ${phase}`);
const SECRET = 'a-text-that-only-the-page-has';

let traces = 0;
/** A trace and a span of a client. */
function newParent(): { readonly traceId: string; readonly header: string } {
  traces += 1;
  const traceId = traces.toString(16).padStart(32, 'a');
  return { traceId, header: `00-${traceId}-00000000000000b1-01` };
}

const post = async (
  service: Service,
  query: string,
  body: object,
  traceparent: string,
): Promise<Response> =>
  await fetch(`${service.url}/api/v1/pdf/${query}`, {
    method: 'POST',
    headers: {
      'X-API-Key': service.firstStart.apiKey,
      'Content-Type': 'application/json',
      'X-Secret': SECRET,
      traceparent,
    },
    body: JSON.stringify(body),
  });

async function convert(service: Service, body: object, traceparent: string): Promise<string> {
  const answer = await post(service, '', body, traceparent);
  const text = await answer.text();
  if (answer.status !== 202) throw new Error(text);
  return (JSON.parse(text) as { readonly id: string }).id;
}

/** The spans of a trace, once it has one of that name. */
async function traceWith(
  receiver: OtlpReceiver,
  id: string,
  name: string,
): Promise<readonly Span[]> {
  return await eventually(`a span ${name}`, () => {
    const spans = receiver.spans.filter(({ traceId }) => traceId === id);
    // Parents end last, so that all below them is there.
    const whole = [ROOT_SPAN, 'render', name].every((each) =>
      spans.some((span) => span.name === each),
    );
    return whole ? spans : undefined;
  });
}

/** The names of the spans from one up to the root. */
function pathOf(span: Span, spans: readonly Span[]): readonly string[] {
  const parent = spans.find(({ id }) => id === span.parent);
  return [span.name, ...(parent === undefined ? [] : pathOf(parent, spans))];
}

const only = (spans: readonly Span[], name: string): Span => {
  const [found, ...others] = spans.filter((span) => span.name === name);
  if (found === undefined || others.length > 0) throw new Error(`Not one span ${name}.`);
  return found;
};

function checkConversion(t: Test, spans: readonly Span[]): void {
  const root = only(spans, ROOT_SPAN);
  t.equal(root.parent, '00000000000000b1', 'the parent is the span of the client');
  t.match(root.attributes, { 'http.route': '/api/v1/pdf/', 'http.response.status_code': '202' });
  for (const span of spans) {
    t.equal(pathOf(span, spans).at(-1), ROOT_SPAN, `${span.name} leads to the request`);
    t.ok(span.to >= span.from, span.name);
  }
  for (const name of PHASES) {
    t.strictSame(pathOf(only(spans, name), spans), [name, 'render', ROOT_SPAN]);
  }
  t.strictSame(pathOf(only(spans, 'queue'), spans), ['queue', ROOT_SPAN]);
  for (const kind of ['started', 'completed']) {
    const recorded = only(spans, `record ${kind}`);
    const path = [`record ${kind}`, `report ${kind}`, 'render', ROOT_SPAN];
    t.strictSame(pathOf(recorded, spans), path);
    const below = spans.filter((span) => pathOf(span, spans).includes(`record ${kind}`));
    t.ok(
      below.some(({ name }) => name === 'event store append'),
      `${kind} is appended`,
    );
  }
  const appended = spans.filter(({ name }) => name === 'event store append');
  t.ok(
    appended.some((span) => pathOf(span, spans)[1] === 'command to account'),
    'the acceptance is appended',
  );
}

interface Line {
  readonly msg: string;
  readonly trace_id?: string;
  readonly span_id?: string;
}

const linesOf = (stderr: string): readonly Line[] =>
  stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line);

for (const kind of KINDS) {
  void test(
    `${kind.name}: one trace over the API, NATS and a renderer`,
    kind.options,
    async (t) => {
      const receiver = await startOtlpReceiver(t);
      const nodes = await Nodes.start(t, kind, receiver.settings);
      const [api, renderer] = [await nodes.api(), await nodes.renderer()];
      const refused = await post(api, `?q=${SECRET}`, {}, newParent().header);
      t.equal(refused.status, 400);
      const { traceId, header } = newParent();
      const id = await convert(api, { html: `<h1>${SECRET}</h1><script>1</script>` }, header);
      const spans = await traceWith(receiver, traceId, 'record completed');
      checkConversion(t, spans);
      const roleOf = (name: string): unknown => only(spans, name).role;
      t.equal(roleOf(ROOT_SPAN), 'api');
      t.equal(roleOf('render'), 'renderer');
      t.equal(roleOf('phase print'), 'renderer');
      t.equal(roleOf('report completed'), 'renderer');
      t.equal(roleOf('record completed'), 'api');
      t.equal(only(spans, 'render').attributes['pressledger.conversion.id'], id);

      const sent = JSON.stringify(receiver.received);
      for (const text of [SECRET, api.firstStart.apiKey, api.firstStart.email, 'acct_']) {
        t.notMatch(sent, text, 'no text of a client is sent');
      }
      const lineWith = (begin: string) =>
        eventually(`a line ${begin}`, () =>
          linesOf(api.output.stderr).find(({ msg }) => msg.startsWith(begin)),
        );
      const line = await lineWith(`${id} completed`);
      t.equal(line.trace_id, traceId);
      t.match(line.span_id, /^[0-9a-f]{16}$/);
      t.equal((await lineWith(`${ROOT_SPAN} 202`)).trace_id, traceId);
      await renderer.stop();
    },
  );
}

void test('requests that are decided together are in their own traces', async (t) => {
  const receiver = await startOtlpReceiver(t);
  const service = await startService(t, receiver.settings);
  const parents = Array.from({ length: 8 }, newParent);
  const all = parents.map(({ header }) => convert(service, { html: '<h1>At once</h1>' }, header));
  await Promise.all(all);
  for (const { traceId } of parents) {
    checkConversion(t, await traceWith(receiver, traceId, 'record completed'));
  }
});

void test('a conversion that a crash interrupts goes on in its trace', async (t) => {
  const receiver = await startOtlpReceiver(t);
  const service = await startService(t, receiver.settings);
  const { traceId, header } = newParent();
  const slow = { html: '<h1>Slow</h1>', wait_for: { delay_ms: 8000, network_idle: false } };
  const id = await convert(service, slow, header);
  await eventually('its start', () =>
    receiver.spans.find((span) => span.traceId === traceId && span.name === 'record started'),
  );
  await service.kill();
  await service.start();
  const spans = await traceWith(receiver, traceId, 'record completed');
  t.equal((await service.client().wait(id)).status, 'completed');
  const renders = spans.filter(({ name }) => name === 'render');
  t.equal(renders.length, 1, 'the first died with its process');
  const starts = spans.filter(({ name }) => name === 'record started');
  t.equal(starts.length, 2);
});

void test('a failure is marked with its code, and what is not sampled is not sent', async (t) => {
  const receiver = await startOtlpReceiver(t);
  const service = await startService(t, receiver.settings);
  const [sampled, not] = [newParent(), newParent()];
  await convert(service, { html: '<p>x</p>' }, not.header.replace(/01$/, '00'));
  await convert(service, { html: '<p>one page</p>', page_ranges: '7' }, sampled.header);
  const spans = await traceWith(receiver, sampled.traceId, 'record failed');
  t.equal(only(spans, 'report failed').failure, 'page_range');
  await service.stop();
  t.notOk(receiver.spans.some(({ traceId }) => traceId === not.traceId));
});

void test('a collector that is away costs a line, and no request', async (t) => {
  const service = await startService(t, {
    // Nobody listens on port 1.
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  });
  const client = service.client();
  t.equal(
    (await client.wait((await client.create({ html: '<h1>x</h1>' })).id)).status,
    'completed',
  );
  await eventually('the line', () =>
    linesOf(service.output.stderr).find(({ msg }) => msg === 'traces cannot be sent'),
  );
  await service.stop();
});

void test('traces are sent as Protobuf unless a protocol is set', async (t) => {
  const receiver = await startOtlpReceiver(t);
  const { OTEL_EXPORTER_OTLP_PROTOCOL: _, ...settings } = receiver.settings;
  const service = await startService(t, settings);
  const { traceId, header } = newParent();
  const id = await convert(service, { html: '<h1>x</h1>' }, header);
  await service.client().wait(id);
  await service.stop();
  const sent = Buffer.concat(receiver.received as readonly Buffer[]);
  for (const part of [ROOT_SPAN, 'record completed', Buffer.from(traceId, 'hex')]) {
    t.ok(sent.includes(part), String(part));
  }
});

void test('without an endpoint nothing is traced, whatever else is set', async (t) => {
  const receiver = await startOtlpReceiver(t);
  const service = await startService(t, { ...receiver.settings, OTEL_SDK_DISABLED: 'true' });
  const { header } = newParent();
  const id = await convert(service, { html: '<h1>x</h1>' }, header);
  t.equal((await service.client().wait(id)).status, 'completed');
  await service.stop();
  t.strictSame(receiver.received, []);
  t.notMatch(service.output.stderr, /trace_id/);
});
