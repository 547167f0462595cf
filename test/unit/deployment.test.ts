/** docker-compose.yml, the Dockerfile and what lies in deploy/, held against the product. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { FONT_PACKAGES } from '../../setup/apt.mjs';
import { readConfig } from '../../src/config/config.ts';
import { BUDGETS } from '../../src/limits/budgets.ts';
import { MAX_WARM_BYTES } from '../../src/renderer/browser/memory.ts';
import {
  type ComposeService,
  ROOT,
  read,
  readCompose,
  readDockerfile,
} from '../support/deployment.ts';

const SECRETS = {
  MASTER_KEY: 'a1'.repeat(32),
  NATS_API_PASSWORD: 'c3',
  NATS_RENDERER_PASSWORD: 'd4',
};
const compose = readCompose(SECRETS);
const { services } = compose;
const stages = readDockerfile();

function service(name: string): ComposeService {
  const found = services[name];
  if (!found) throw new Error(`there is no service ${name}`);
  return found;
}

/** Both with the prefix, under which an unknown name is refused. */
function settingsOf(environment: Readonly<Record<string, string>>) {
  return readConfig(
    Object.fromEntries(
      Object.entries(environment).map(([name, value]) => [`PRESSLEDGER_${name}`, value]),
    ),
  );
}

/** What the image of a service sets and what the compose file sets on top of it. */
function environmentOf(name: string): Record<string, string> {
  const base = stages.get('base')?.lines.find((line) => line.startsWith('ENV ')) ?? '';
  const pairs = [...base.matchAll(/(\w+)=(\S+)/g)].map(([, key = '', value = '']) => [key, value]);
  const { NODE_ENV: _, HOME: __, ...image } = Object.fromEntries(pairs) as Record<string, string>;
  return { ...image, ...service(name).environment };
}

void test('every variable of a role is a setting that can be used', (t) => {
  const api = settingsOf(environmentOf('api'));
  t.match(api, { host: '0.0.0.0', port: 8080, dataDir: '/data', firstAccountEmail: '' });
  t.equal(api.natsUrl, 'nats://api:c3@nats:4222');
  t.equal(api.masterKey?.toString('hex'), SECRETS.MASTER_KEY);
  const renderer = settingsOf(environmentOf('renderer'));
  t.equal(renderer.natsUrl, 'nats://renderer:d4@nats:4222');
  t.strictSame(renderer.blobStoreUrl, api.blobStoreUrl);
  t.equal(renderer.allowPrivateNetwork, false);
  t.throws(() => settingsOf({ NATS_URI: 'x' }), /not a setting/);
  t.end();
});

void test('a renderer has no secret of the api and no way to the event store', (t) => {
  const renderer = service('renderer');
  const names = Object.keys(renderer.environment ?? {});
  for (const name of ['EVENT_STORE_URL', 'MASTER_KEY']) t.notOk(names.includes(name), name);
  const values = JSON.stringify(renderer.environment);
  t.notMatch(values, SECRETS.MASTER_KEY);
  t.notMatch(values, SECRETS.NATS_API_PASSWORD);
  const { networks } = service('kurrentdb');
  t.strictSame(
    renderer.networks.filter((name) => networks.includes(name)),
    [],
  );
  t.strictSame(networks, ['store']);
  t.ok(compose.networks['store']?.internal);
  t.ok(compose.networks['queue']?.internal);
  t.end();
});

void test('nothing starts without its secrets, and none has a default', (t) => {
  for (const name of Object.keys(SECRETS)) {
    t.throws(() => readCompose({ ...SECRETS, [name]: '' }), new RegExp(`^${name}: .*\\.env`));
  }
  const empty = [...read('.env.example').matchAll(/^(\w+)=(.*)$/gm)];
  t.strictSame(
    empty.map(([, name]) => name),
    Object.keys(SECRETS),
  );
  for (const [line, name, value] of empty) t.equal(value, '', `${name}: ${line}`);
  const mentioned = [...read('docker-compose.yml').matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
  for (const name of new Set(mentioned)) {
    t.match(read('.env.example'), new RegExp(`^(# )?${name}=`, 'm'), `${name} is explained`);
  }
  t.match(read('.gitignore'), /^\.env$/m);
  t.end();
});

void test('every service is confined, bounded and watched', (t) => {
  t.strictSame(Object.keys(services), ['kurrentdb', 'nats', 'api', 'renderer']);
  for (const [name, each] of Object.entries(services)) {
    const lines = each.build ? (stages.get(each.build.target)?.lines ?? []) : [];
    t.strictSame(each.cap_drop, ['ALL'], name);
    t.ok(each.security_opt.includes('no-new-privileges:true'), name);
    t.match(each.mem_limit, /^\d+g$/, name);
    t.ok(each.healthcheck ?? lines.some((line) => line.startsWith('HEALTHCHECK ')), name);
    for (const volume of each.volumes ?? []) {
      const [source = '', target] = volume.split(':');
      if (target !== undefined) t.ok(source in compose.volumes, `${name}: ${source}`);
    }
    if (!each.build) continue;
    t.equal(each.read_only, true, name);
    t.ok(lines.includes('USER 1000:1000'), `${name} is not root`);
    t.ok(
      !lines.slice(lines.indexOf('USER 1000:1000')).some((line) => line.startsWith('RUN')),
      name,
    );
  }
  t.end();
});

void test('renderers can be as many as wanted, and have time to end', (t) => {
  const renderer = service('renderer');
  t.equal(renderer.container_name, undefined);
  t.equal(renderer.ports, undefined);
  t.strictSame(renderer.volumes ?? [], []);
  const { renderTimeoutMs, renderConcurrency } = settingsOf(environmentOf('renderer'));
  t.equal(Number.parseInt(renderer.stop_grace_period, 10) * 1000, renderTimeoutMs + 15_000);
  const page = (BUDGETS.maxPageMemoryBytes.default + MAX_WARM_BYTES) / 2 ** 30;
  const needed = renderConcurrency * page + 1;
  t.equal(Number.parseInt(renderer.mem_limit, 10), needed, 'what each Chrome may use, and 1 GiB');
  t.end();
});

void test('the images run a role each, with what it needs', (t) => {
  for (const role of ['api', 'renderer']) {
    const lines = stages.get(role)?.lines ?? [];
    t.ok(lines.includes(`CMD ["${role}"]`), role);
    t.ok(lines.some((line) => /^ENTRYPOINT \[.*"\/app\/bin\/pressledger"\]$/.test(line)));
    const help = spawnSync(join(ROOT, 'bin/pressledger'), [role, '--help'], { encoding: 'utf8' });
    t.equal(help.status, 0, help.stderr);
    const health = lines.find((line) => line.startsWith('HEALTHCHECK'));
    t.match(health, `"/app/deploy/healthcheck.mjs", "${role === 'api' ? '/healthz' : '/readyz'}"`);
  }
  const one = stages.get('all');
  t.equal([...stages.keys()].at(-1), 'all', 'a build without a target makes it');
  t.equal(one?.from, 'renderer', 'it has Chrome, and does not run as root');
  t.ok(one?.lines.includes('CMD ["start"]'));
  t.match(one?.lines.join('\n'), '"/app/deploy/healthcheck.mjs", "/healthz"');
  const apt = stages.get('renderer')?.lines.find((line) => line.includes('apt-get install')) ?? '';
  for (const name of ['chromium-headless-shell', 'qpdf', 'fontconfig', ...FONT_PACKAGES]) {
    t.match(apt, new RegExp(` ${name}( |$)`), name);
  }
  t.notMatch(stages.get('api')?.lines.join('\n'), /apt-get|chrom/);
  t.equal(stages.get('base')?.lines.includes('EXPOSE 8080'), true);
  t.match(service('api').ports?.[0], /:8080$/);
  t.end();
});

void test('what the images are made of reaches the build, and nothing else does', (t) => {
  const [first, ...rest] = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  t.equal(first, '*');
  const let_in = rest.map((line) => line.replace('!', ''));
  for (const path of [
    'bin',
    'client',
    'tsconfig.json',
    'src',
    'projections',
    'samples',
    'verifier',
    'setup/with-node',
    'package-lock.json',
  ]) {
    t.ok(let_in.includes(path), path);
  }
  for (const path of let_in) t.ok(existsSync(join(ROOT, path)), path);
  const copies = [...stages.values()].flatMap(({ lines }) =>
    lines.filter((line) => /^COPY (?!--from)/.test(line)),
  );
  const sources = copies.flatMap((line) => line.split(' ').slice(1, -1));
  const isLetIn = (path: string) =>
    let_in.some((one) => path === one || path.startsWith(`${one}/`));
  for (const path of sources) t.ok(path === '.' || isLetIn(path), path);
  const conf = read('deploy/nats.conf');
  t.match(conf, 'include "./nats-accounts.conf"');
  for (const [, name = ''] of read('deploy/nats-accounts.conf').matchAll(/\$(NATS_\w+)/g)) {
    t.match(service('nats').environment?.[name], /^"\w+"$/, `${name} is text, whatever its digits`);
  }
  t.end();
});

void test('README says how the one container is built and run', (t) => {
  const readme = read('README.md');
  t.match(readme, /^docker build --target all --tag pressledger \.$/m);
  const run = /^docker run ([^]*?[^\\])$/m.exec(readme)?.[1] ?? '';
  t.match(run, / pressledger$/);
  const { port, dataDir, renderTimeoutMs } = settingsOf(environmentOf('api'));
  t.match(run, `--publish 127.0.0.1:8080:${port}`);
  t.match(run, `--volume pressledger:${dataDir}`);
  t.match(run, '--restart unless-stopped');
  t.match(run, `--stop-timeout ${renderTimeoutMs / 1000 + 15}`);
  const profile = /seccomp=(\S+)/.exec(run)?.[1] ?? '';
  t.ok(existsSync(join(ROOT, profile)), profile);
  t.end();
});

void test('the examples for systemd and for proxies fit the service', (t) => {
  const unit = new Map(
    [...read('deploy/pressledger.service').matchAll(/^(\w+)=(.*)$/gm)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  );
  const pairs = (unit.get('Environment') ?? '').split(' ').map((pair) => pair.split('='));
  const {
    NODE_ENV: _,
    NODE_COMPILE_CACHE: cache,
    ...env
  } = Object.fromEntries(pairs) as Record<string, string>;
  const { dataDir, renderTimeoutMs, maxBodyBytes, port } = settingsOf(env);
  t.equal(cache, `/var/cache/${unit.get('CacheDirectory')}`);
  t.equal(dataDir, `/var/lib/${unit.get('StateDirectory')}`);
  t.equal(Number(unit.get('TimeoutStopSec')) * 1000, renderTimeoutMs + 15_000);
  t.match(unit.get('ExecStart'), /\/bin\/pressledger start$/);
  t.not(unit.get('User'), 'root');
  t.match(read('deploy/pressledger.sysusers.conf'), new RegExp(`^u ${unit.get('User')} `, 'm'));
  const [, envFile] = /^-(.+)$/.exec(unit.get('EnvironmentFile') ?? '') ?? [];
  t.match(read('deploy/pressledger.tmpfiles.conf'), `f ${envFile} 0600 root root`);
  // Chrome's sandbox makes them.
  t.match(unit.get('RestrictNamespaces'), /^user pid net$/);
  for (const name of ['MemoryDenyWriteExecute', 'PrivateUsers', 'ProtectControlGroups']) {
    t.notOk(unit.has(name), name);
  }
  const nginx = read('deploy/nginx.conf');
  t.ok(Number(/client_max_body_size (\d+)m/.exec(nginx)?.[1]) * 2 ** 20 > maxBodyBytes);
  t.ok(Number(/proxy_read_timeout (\d+)s/.exec(nginx)?.[1]) > 30, 'longer than a client may wait');
  t.match(nginx, `proxy_pass http://127.0.0.1:${port};`);
  t.match(read('deploy/Caddyfile'), `reverse_proxy 127.0.0.1:${port}\n`);
  t.end();
});
