/** deploy/kubernetes, held against the product. */

import { BlockList } from 'node:net';
import { test } from 'tap';
import { readConfig } from '../../src/config/config.ts';
import { isPublicAddress } from '../../src/egress/policy.ts';
import { jobsStream, RENDERERS } from '../../src/render-queue/nats/streams.ts';
import {
  type Container,
  type Manifest,
  read,
  readDockerfile,
  readManifests,
} from '../support/deployment.ts';

interface Pod {
  readonly enableServiceLinks: boolean;
  readonly automountServiceAccountToken: boolean;
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly containers: readonly [Container];
}

function named(file: string, kind: string): Manifest {
  const found = readManifests(file).find((each) => each.kind === kind);
  if (!found) throw new Error(`there is no ${kind} in ${file}`);
  return found;
}

const podOf = (file: string): Pod =>
  (named(file, 'Deployment').spec as { template: { spec: Pod } }).template.spec;

/** With the prefix, under which an unknown name is refused; secrets as the example has them. */
function settingsOf({ env, envFrom }: Container) {
  const example = readManifests('secrets.example.yaml');
  const secrets = envFrom.map(({ secretRef }) => {
    const found = example.find(({ metadata }) => metadata.name === secretRef.name);
    if (!found?.stringData) throw new Error(`there is no secret ${secretRef.name}`);
    return found.stringData;
  });
  const all = Object.assign({}, ...secrets) as Record<string, string>;
  for (const { name, value } of env) all[name] = value;
  return {
    names: Object.keys(all),
    config: readConfig(
      Object.fromEntries(
        Object.entries(all).map(([name, value]) => [`PRESSLEDGER_${name}`, value]),
      ),
    ),
  };
}

void test('each role runs as in its image, with settings that can be used', (t) => {
  for (const role of ['api', 'renderer']) {
    const [container] = podOf(`${role}.yaml`).containers;
    const { config } = settingsOf(container);
    t.strictSame(container.args, [role]);
    t.equal(container.ports[0]?.containerPort, 8080);
    t.match(config.natsUrl, `nats://${role}:`);
    t.strictSame(config.blobStoreUrl, { kind: 'nats' });
    t.match(config.dataDir, /^\/data\/\w+$/, 'an emptyDir may be written by everybody');
    t.ok(readDockerfile().get('base')?.lines.includes('EXPOSE 8080'));
  }
  const api = settingsOf(podOf('api.yaml').containers[0]);
  t.match(api.config.eventStoreUrl, /^kurrentdb:.*tls=true/);
  t.ok(api.names.includes('MASTER_KEY'));
  const renderer = settingsOf(podOf('renderer.yaml').containers[0]);
  for (const name of ['EVENT_STORE_URL', 'MASTER_KEY']) t.notOk(renderer.names.includes(name));
  t.end();
});

void test('pods are confined', (t) => {
  for (const file of ['api.yaml', 'renderer.yaml']) {
    const pod = podOf(file);
    // Without this a service named pressledger… would stop the start as an unknown setting.
    t.equal(pod.enableServiceLinks, false, file);
    t.throws(() => readConfig({ PRESSLEDGER_SERVICE_HOST: '10.0.0.1' }));
    t.equal(pod.automountServiceAccountToken, false);
    t.match(pod.securityContext, { runAsNonRoot: true, runAsUser: 1000 });
    t.match(pod.containers[0].securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    t.match(pod.containers[0].resources.limits.memory, /^\dGi$/);
  }
  t.match(podOf('renderer.yaml').securityContext, {
    seccompProfile: { type: 'Localhost', localhostProfile: 'pressledger/chrome-seccomp.json' },
  });
  t.end();
});

const pathsOf = ({ startupProbe, readinessProbe, livenessProbe }: Container): string[] =>
  [startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet.path);

void test('probes ask what they should, and a stop has its time', (t) => {
  const [api] = podOf('api.yaml').containers;
  t.strictSame(pathsOf(api), ['/healthz', '/healthz', '/healthz']);
  const pod = podOf('renderer.yaml');
  t.strictSame(pathsOf(pod.containers[0]), ['/readyz', '/readyz', '/healthz']);
  const { renderTimeoutMs } = settingsOf(pod.containers[0]).config;
  t.equal(pod.terminationGracePeriodSeconds * 1000, renderTimeoutMs + 15_000);
  t.end();
});

void test('KEDA watches the queue that renderers take from', (t) => {
  const { spec } = named('keda.yaml', 'ScaledObject');
  const { renderConcurrency } = settingsOf(podOf('renderer.yaml').containers[0]).config;
  t.match(spec, {
    scaleTargetRef: { name: named('renderer.yaml', 'Deployment').metadata.name },
    triggers: [
      {
        type: 'nats-jetstream',
        metadata: {
          stream: jobsStream('pressledger'),
          consumer: RENDERERS,
          lagThreshold: String(renderConcurrency),
        },
      },
    ],
  });
  const [{ metadata }] = (spec as { triggers: [{ metadata: { account: string } }] }).triggers;
  t.match(read('deploy/nats-accounts.conf'), new RegExp(`^  ${metadata.account} \\{$`, 'm'));
  t.notOk('replicas' in (named('renderer.yaml', 'Deployment').spec as object), 'KEDA counts');
  t.end();
});

interface Rule {
  readonly to: readonly {
    readonly ipBlock?: { readonly cidr: string; readonly except: readonly string[] };
  }[];
}

void test('the network refuses renderers the addresses that their proxy refuses', (t) => {
  // The renderers' is the first.
  const { egress } = named('network-policies.yaml', 'NetworkPolicy').spec as {
    egress: readonly Rule[];
  };
  const refused = new BlockList();
  for (const { ipBlock } of egress.flatMap(({ to }) => to)) {
    for (const subnet of ipBlock?.except ?? []) {
      const [network = '', bits] = subnet.split('/');
      refused.addSubnet(network, Number(bits), network.includes(':') ? 'ipv6' : 'ipv4');
      t.notOk(isPublicAddress(network), subnet);
    }
  }
  for (let first = 0; first < 256; first += 1) {
    for (const rest of ['.0.0.1', '.64.0.1', '.168.0.1', '.168.1.1', '.254.169.254', '.31.255.1']) {
      const ip = `${first}${rest}`;
      if (refused.check(ip) === isPublicAddress(ip)) t.fail(ip);
    }
  }
  for (const ip of ['2001::1', '2001:db8::1', '2002:a00:1::', '3fff::1', '2620:4f:8000::1']) {
    t.ok(refused.check(ip, 'ipv6'), ip);
  }
  t.notOk(refused.check('2606:4700::1111', 'ipv6'));
  t.end();
});
