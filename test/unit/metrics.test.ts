/** The metrics that there are, held against what documentation, dashboard and alerts say. */
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type Test, test } from 'tap';
import { parse } from 'yaml';
import { Metrics } from '../../src/observe/metrics/metrics.ts';
import { callObserver } from '../../src/service/observe.ts';

const ROOT = join(import.meta.dirname, '../..');
const logger = pino({ level: 'silent' });

function metricsOf(t: Test, role: 'start' | 'api' | 'renderer'): Metrics {
  const metrics = new Metrics({ role, version: '1', dataDir: tmpdir(), logger });
  t.teardown(() => metrics.close());
  return metrics;
}

const namesOf = (metrics: Metrics): readonly string[] =>
  metrics.registry.getMetricsAsArray().map(({ name }) => name);

/** The labels of a metric, which prom-client's own type does not have. */
interface Described {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames: readonly string[];
}

interface Alert {
  readonly alert: string;
  readonly annotations: Readonly<Record<string, string>>;
}

void test('docs/monitoring.md has every metric, its kind, its labels and its meaning', async (t) => {
  const page = readFileSync(join(ROOT, 'docs/monitoring.md'), 'utf8');
  const documented = page.split('\n').filter((line) => line.startsWith('| `pressledger_'));
  const { registry } = metricsOf(t, 'start');
  const all = (await registry.getMetricsAsJSON()) as unknown as readonly Described[];
  const rows = all.map(({ name, help, type }) => {
    const { labelNames } = registry.getSingleMetric(name) as unknown as Described;
    const labels = labelNames.map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${type} | ${labels} | ${help} |`;
  });
  t.strictSame(documented, rows);
});

void test('docs/monitoring.md has every alert in the words of its rule', (t) => {
  const page = readFileSync(join(ROOT, 'docs/monitoring.md'), 'utf8');
  const { groups } = parse(readFileSync(join(ROOT, 'deploy/prometheus/alerts.yml'), 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly Alert[] }[];
  };
  for (const { alert, annotations } of groups.flatMap(({ rules }) => rules)) {
    const { description = '', action = '' } = annotations;
    t.ok(page.includes(`| \`${alert}\` | ${description} | ${action} |`), alert);
  }
  t.end();
});

void test('names and units follow the conventions of Prometheus', (t) => {
  for (const name of namesOf(metricsOf(t, 'start'))) {
    t.match(name, /^pressledger_[a-z_]+$/);
    t.notMatch(name, /_(ms|milliseconds|minutes|kilobytes|mb|percent)(_|$)/, name);
  }
  t.end();
});

void test('dashboard and alerts name only metrics that exist', (t) => {
  const suffixed = namesOf(metricsOf(t, 'start')).flatMap((name) => [
    name,
    ...['_bucket', '_count', '_sum'].map((suffix) => name + suffix),
  ]);
  const known = new Set(suffixed);
  for (const file of ['deploy/grafana/pressledger.json', 'deploy/prometheus/alerts.yml']) {
    const named = readFileSync(join(ROOT, file), 'utf8').match(/pressledger_[a-z_]+/g) ?? [];
    t.ok(named.length > 10, file);
    for (const name of new Set(named)) t.ok(known.has(name), `${file}: ${name}`);
  }
  t.end();
});

void test('the dashboard shows every metric', (t) => {
  const dashboard = readFileSync(join(ROOT, 'deploy/grafana/pressledger.json'), 'utf8');
  for (const name of namesOf(metricsOf(t, 'start'))) t.ok(dashboard.includes(name), name);
  t.end();
});

void test('each role has the metrics of what it does', (t) => {
  const [api, renderer] = [namesOf(metricsOf(t, 'api')), namesOf(metricsOf(t, 'renderer'))];
  t.ok(api.includes('pressledger_conversions_accepted_total'));
  t.notOk(api.includes('pressledger_browsers'));
  t.ok(renderer.includes('pressledger_browsers'));
  t.notOk(renderer.includes('pressledger_conversions_accepted_total'));
  t.end();
});

void test('a part that does not answer keeps nothing else from being told', async (t) => {
  const metrics = metricsOf(t, 'renderer');
  metrics.onScrape(() => Promise.reject(new Error('away')));
  const stop = metrics.onScrape(() => metrics.process.ready.set(1));
  t.match(await metrics.text(), /^pressledger_ready 1$/m);
  stop();
  metrics.process.ready.set(0);
  t.match(await metrics.text(), /^pressledger_ready 0$/m);
});

void test('a call is counted with how it ended, and nothing of its error is shown', async (t) => {
  const metrics = metricsOf(t, 'renderer');
  const observe = callObserver(metrics.process.blobStore, ['read']);
  t.equal(await observe('read', () => Promise.resolve(7)), 7);
  const secret = Object.assign(new Error('secret'), { name: 'Secret"} 1' });
  await t.rejects(
    observe('read', () => Promise.reject(secret)),
    secret,
  );
  const text = await metrics.text();
  t.match(text, /^pressledger_blob_store_call_duration_seconds_count\{call="read"\} 2$/m);
  t.match(text, /^pressledger_blob_store_call_failures_total\{call="read",error="other"\} 1$/m);
  t.notMatch(text, /secret/i);
});
