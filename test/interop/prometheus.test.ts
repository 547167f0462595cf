/** Metrics and deploy/prometheus, checked by Prometheus' own tool: when each alert fires, and when it does not. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { parse } from 'yaml';
import { testDirectory } from '../support/directory.ts';
import { lacks } from '../support/lacks.ts';
import { scrape } from '../support/metrics.ts';
import { startService } from '../support/service.ts';

const needsPromtool = { skip: lacks('promtool', ['promtool', '--version']) };

/** Its exit status, and all that it says. */
function promtool(
  args: readonly string[],
  input = '',
): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { status, said: stdout + stderr };
}

const ROOT = join(import.meta.dirname, '../..');
const RULES = join(ROOT, 'deploy/prometheus/alerts.yml');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const { groups } = parse(readFileSync(RULES, 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);

/** Series by name, each with its values of one minute after the other: `START+STEPxMINUTES`. */
type Series = Readonly<Record<string, string>>;

interface Case {
  readonly fires: Series;
  readonly quiet: Series;
  /** Another state in which the alert is quiet. */
  readonly quietToo?: Series;
  /** Labels of the alert beside those of its rule. */
  readonly labels?: Readonly<Record<string, string>>;
}

const NODE = '{job="pressledger",instance="a"}';
const OTHER = '{job="pressledger",instance="b"}';
const node = { job: 'pressledger', instance: 'a' };
const labelled = (labels: string): string => `{job="pressledger",instance="a",${labels}}`;

const CASES: Readonly<Record<string, Case>> = {
  PressledgerDown: {
    fires: { [`up${NODE}`]: '0x30' },
    quiet: { [`up${NODE}`]: '1x30' },
    labels: node,
  },
  PressledgerNotReady: {
    fires: { [`pressledger_ready${NODE}`]: '0x30' },
    quiet: { [`pressledger_ready${NODE}`]: '1x30' },
    labels: node,
  },
  PressledgerNoLeader: {
    fires: { [`pressledger_leader${NODE}`]: '0x30', [`pressledger_leader${OTHER}`]: '0x30' },
    quiet: { [`pressledger_leader${NODE}`]: '0x30', [`pressledger_leader${OTHER}`]: '1x30' },
  },
  PressledgerTwoLeaders: {
    fires: { [`pressledger_leader${NODE}`]: '1x30', [`pressledger_leader${OTHER}`]: '1x30' },
    quiet: { [`pressledger_leader${NODE}`]: '0x30', [`pressledger_leader${OTHER}`]: '1x30' },
  },
  PressledgerNobodyRenders: {
    fires: { [`pressledger_queue_conversions${labelled('state="waiting"')}`]: '3x30' },
    quiet: {
      [`pressledger_queue_conversions${labelled('state="waiting"')}`]: '3x30',
      [`pressledger_render_slots${OTHER}`]: '2x30',
    },
  },
  PressledgerQueueIsOld: {
    fires: { [`pressledger_queue_oldest_age_seconds${NODE}`]: '130+60x30' },
    quiet: { [`pressledger_queue_oldest_age_seconds${NODE}`]: '100x30' },
  },
  PressledgerRenderingFails: {
    fires: {
      [`pressledger_conversions_failed_total${labelled('reason="page_crashed"')}`]: '0+5x30',
      [`pressledger_conversions_accepted_total${NODE}`]: '0+100x30',
    },
    quiet: {
      [`pressledger_conversions_failed_total${labelled('reason="timeout"')}`]: '0+50x30',
      [`pressledger_conversions_failed_total${labelled('reason="page_crashed"')}`]: '0+1x30',
      [`pressledger_conversions_accepted_total${NODE}`]: '0+100x30',
    },
    // One crash where little is converted.
    quietToo: {
      [`pressledger_conversions_failed_total${labelled('reason="page_crashed"')}`]: '0x18 1x12',
      [`pressledger_conversions_accepted_total${NODE}`]: '0+1x30',
    },
  },
  PressledgerServerErrors: {
    fires: {
      [`pressledger_http_request_duration_seconds_count${labelled('route="/x/",status="503"')}`]:
        '0+2x30',
      [`pressledger_http_request_duration_seconds_count${labelled('route="/x/",status="200"')}`]:
        '0+100x30',
    },
    quiet: {
      [`pressledger_http_request_duration_seconds_count${labelled('route="/readyz",status="503"')}`]:
        '0+20x30',
      [`pressledger_http_request_duration_seconds_count${labelled('route="/x/",status="200"')}`]:
        '0+100x30',
    },
  },
  PressledgerRefuses: {
    fires: { [`pressledger_refusals_total${labelled('bound="max_bodies_bytes"')}`]: '0+10x30' },
    quiet: { [`pressledger_refusals_total${labelled('bound="max_bodies_bytes"')}`]: '0+5x30' },
    labels: { bound: 'max_bodies_bytes' },
  },
  PressledgerEventStoreFails: {
    fires: {
      [`pressledger_event_store_call_failures_total${labelled('call="append",error="unavailable"')}`]:
        '0+1x30',
    },
    quiet: {
      [`pressledger_event_store_call_failures_total${labelled('call="append",error="conflict"')}`]:
        '0+9x30',
    },
    labels: { call: 'append' },
  },
  PressledgerAppendsAreSlow: {
    fires: {
      [`pressledger_event_store_call_duration_seconds_bucket${labelled('call="append",le="1"')}`]:
        '0+90x30',
      [`pressledger_event_store_call_duration_seconds_bucket${labelled('call="append",le="2.5"')}`]:
        '0+100x30',
      [`pressledger_event_store_call_duration_seconds_bucket${labelled('call="append",le="+Inf"')}`]:
        '0+100x30',
    },
    quiet: {
      [`pressledger_event_store_call_duration_seconds_bucket${labelled('call="append",le="1"')}`]:
        '0+100x30',
      [`pressledger_event_store_call_duration_seconds_bucket${labelled('call="append",le="+Inf"')}`]:
        '0+100x30',
    },
  },
  PressledgerBlobStoreFails: {
    fires: {
      [`pressledger_blob_store_call_failures_total${labelled('call="read",error="unavailable"')}`]:
        '0+1x30',
    },
    quiet: {
      [`pressledger_blob_store_call_failures_total${labelled('call="read",error="not_found"')}`]:
        '0+9x30',
    },
    labels: { call: 'read' },
  },
  PressledgerNatsIsAway: {
    fires: { [`pressledger_nats_up${NODE}`]: '0x30' },
    quiet: { [`pressledger_nats_up${NODE}`]: '1x30' },
    labels: node,
  },
  PressledgerReadModelsLag: {
    fires: { [`pressledger_projection_lag_seconds${NODE}`]: '31+60x30' },
    quiet: { [`pressledger_projection_lag_seconds${NODE}`]: '29x30' },
    labels: node,
  },
  PressledgerEventLoopIsBlocked: {
    fires: {
      [`pressledger_event_loop_delay_seconds_bucket${labelled('le="0.5"')}`]: '0+90x30',
      [`pressledger_event_loop_delay_seconds_bucket${labelled('le="1"')}`]: '0+100x30',
      [`pressledger_event_loop_delay_seconds_bucket${labelled('le="+Inf"')}`]: '0+100x30',
    },
    quiet: {
      [`pressledger_event_loop_delay_seconds_bucket${labelled('le="0.5"')}`]: '0+100x30',
      [`pressledger_event_loop_delay_seconds_bucket${labelled('le="+Inf"')}`]: '0+100x30',
    },
    labels: { instance: 'a' },
  },
  PressledgerBrowsersAreReplaced: {
    fires: { [`pressledger_browser_starts_total${NODE}`]: '2+3x30' },
    quiet: { [`pressledger_browser_starts_total${NODE}`]: '2+1x30' },
    labels: { instance: 'a' },
  },
  PressledgerDiskIsFull: {
    fires: { [`pressledger_data_dir_free_bytes${NODE}`]: '1000000000x30' },
    quiet: { [`pressledger_data_dir_free_bytes${NODE}`]: '90000000000x30' },
    labels: node,
  },
  PressledgerMailWaits: {
    fires: { [`pressledger_mails_oldest_age_seconds${NODE}`]: '2000+60x30' },
    quiet: { [`pressledger_mails_oldest_age_seconds${NODE}`]: '1700x30' },
  },
  PressledgerBackupIsOld: {
    // Prometheus' tests begin in 1970.
    fires: {
      [`pressledger_keyring_copy_timestamp_seconds${NODE}`]: '0x30',
      [`pressledger_verified_backup_timestamp_seconds${NODE}`]: '-700000x30',
    },
    quiet: {
      [`pressledger_keyring_copy_timestamp_seconds${NODE}`]: '-80000x30',
      [`pressledger_verified_backup_timestamp_seconds${NODE}`]: '-600000x30',
    },
  },
};

const withMinutes = (series: Series) =>
  Object.entries(series).map(([name, values]) => ({
    series: name,
    values: values.replace(/^(\d+)x/, '$1+0x'),
  }));

/** A file for `promtool test rules`; JSON is YAML. */
function testFile() {
  const tests = rules.flatMap(({ alert, labels, annotations }) => {
    const { fires, quiet, quietToo, labels: own = {} } = CASES[alert] ?? { fires: {}, quiet: {} };
    const expected = { exp_labels: { ...labels, ...own }, exp_annotations: annotations };
    const at = { eval_time: '25m', alertname: alert };
    return [
      {
        name: `${alert} fires`,
        interval: '1m',
        input_series: withMinutes(fires),
        alert_rule_test: [{ ...at, exp_alerts: [expected] }],
      },
      ...[quiet, quietToo ?? []].flat().map((series) => ({
        name: `${alert} is quiet`,
        interval: '1m',
        input_series: withMinutes(series),
        alert_rule_test: [{ ...at, exp_alerts: [] }],
      })),
    ];
  });
  return { rule_files: [RULES], evaluation_interval: '1m', tests };
}

void test('each alert has a case, and says what it means and what to do', (t) => {
  t.strictSame(Object.keys(CASES).toSorted(), rules.map(({ alert }) => alert).toSorted());
  for (const { alert, labels, annotations } of rules) {
    t.match(labels['severity'], /^(critical|warning)$/, alert);
    t.strictSame(Object.keys(annotations), ['summary', 'description', 'action'], alert);
  }
  t.end();
});

void test('Prometheus takes the rules and the configuration', needsPromtool, (t) => {
  for (const args of [
    ['check', 'rules', RULES],
    ['check', 'config', join(ROOT, 'deploy/prometheus/prometheus.yml')],
  ]) {
    const { status, said } = promtool(args);
    t.equal(status, 0, said);
  }
  t.end();
});

void test('each alert fires when it should, and not otherwise', needsPromtool, (t) => {
  const file = join(testDirectory(t), 'alerts.test.json');
  writeFileSync(file, JSON.stringify(testFile()));
  const { status, said } = promtool(['test', 'rules', file]);
  t.equal(status, 0, said);
  t.end();
});

void test('Prometheus takes what is told without a remark', needsPromtool, async (t) => {
  const service = await startService(t, { METRICS_PORT: '0' });
  const client = service.client();
  await client.wait((await client.create({ html: '<h1>Checked</h1>' })).id);
  const { status, said } = promtool(['check', 'metrics'], (await scrape(service)).text);
  t.equal(status, 0, said);
  t.equal(said, '');
});
