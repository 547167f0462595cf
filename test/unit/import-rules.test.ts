import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'tap';
import { testDirectory } from '../support/directory.ts';

const ROOT = join(import.meta.dirname, '../..');
const CONFIG = join(ROOT, '.dependency-cruiser.cjs');

interface Example {
  readonly from: string;
  readonly to: string;
  /** How the import is written; default: `import '…';`. */
  readonly form?: (path: string) => string;
}

const imports = (from: string, to: string, form?: Example['form']): Example => ({
  from,
  to,
  ...(form && { form }),
});

const typeOnly = (path: string): string => `import type { X } from '${path}';`;
const exported = (path: string): string => `export { x } from '${path}';`;
const dynamic = (path: string): string => `await import('${path}');`;

/** Imports that each rule must refuse. A rule without an example is a fault of this test. */
const EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  'no-cycles': [imports('client/src/a.ts', 'client/src/b.ts')],
  'no-orphans-outside': [
    imports('src/observe/log.ts', 'test/support/log.ts'),
    imports('projections/all.ts', 'bench/measure.ts'),
    imports('src/config/config.ts', 'setup/chrome.mjs'),
  ],
  plain: [imports('src/async/with-timeout.ts', 'src/time/clock.ts', typeOnly)],
  'thread-library': [imports('src/renderer/pool.ts', 'node_modules/piscina/dist/main.js')],
  'chrome-library': [
    imports('src/renderer/trial.ts', 'node_modules/chrome-launcher/dist/index.js'),
  ],
  'domain-is-pure': [
    imports('src/domain/account.ts', 'src/time/clock.ts'),
    imports('src/domain/account.ts', 'client/src/types.ts', typeOnly),
    imports('src/domain/account.ts', 'src/event-store/port.ts', typeOnly),
    imports('src/domain/account.ts', 'src/time/ids.ts', dynamic),
  ],
  'domain-has-no-io': [imports('src/domain/page.ts', 'node:crypto')],
  'ports-know-domain-types-only': [
    imports('src/documents/port.ts', 'src/documents/files.ts'),
    imports('src/limits/rate-limiter/port.ts', 'src/time/clock.ts', typeOnly),
  ],
  'event-store': [imports('src/event-store/sqlite/store.ts', 'src/actors/system.ts')],
  'event-store-driver': [
    imports('src/event-store/kurrentdb/store.ts', 'node_modules/@eventstore/db-client/index.js'),
  ],
  metrics: [imports('src/observe/metrics/metrics.ts', 'src/http/context.ts', typeOnly)],
  tracing: [imports('src/observe/tracing/opentelemetry.ts', 'src/http/context.ts', typeOnly)],
  'tracing-driver': [imports('src/observe/log.ts', 'node_modules/@opentelemetry/api/index.js')],
  'observers-are-loaded-late': [
    imports('src/service/metrics.ts', 'src/observe/metrics/metrics.ts'),
    imports('src/observe/log.ts', 'src/observe/tracing/opentelemetry.ts'),
  ],
  'mail-sending': [imports('src/mail/smtp.ts', 'src/observe/log.ts', typeOnly)],
  'mail-library': [
    imports('src/service/adapters.ts', 'node_modules/nodemailer/dist/esm/nodemailer.js'),
  ],
  signing: [imports('src/signing/cms.ts', 'src/log/attestation/port.ts', typeOnly)],
  'signing-is-loaded-late': [imports('src/accounts/signature.ts', 'src/signing/identity.ts')],
  documents: [imports('src/documents/files.ts', 'src/event-store/sqlite/store.ts')],
  's3-driver': [
    imports('src/documents/s3-location.ts', 'node_modules/@aws-sdk/client-s3/index.js'),
    imports('src/documents/keys/s3-records.ts', 'node_modules/@smithy/types/index.js', typeOnly),
  ],
  's3-driver-is-loaded-late': [
    imports('src/documents/objects.ts', 'src/documents/s3-bucket.ts'),
    imports('src/documents/keys/s3-records.ts', 'src/documents/s3-objects.ts'),
  ],
  'rate-limiter': [imports('src/limits/rate-limiter/memory.ts', 'src/http/app.ts')],
  archive: [
    imports('src/archive/copy.ts', 'src/event-store/sqlite/store.ts'),
    imports('src/archive/backup.ts', 'src/archive/places/folder.ts', typeOnly),
    imports('src/archive/restore.ts', 'src/accounts/accounts.ts'),
  ],
  'archive-places': [imports('src/archive/places/folder.ts', 'src/event-store/port.ts')],
  keyring: [imports('src/documents/keys/file-records.ts', 'src/config/config.ts')],
  sqlite: [imports('src/sqlite/database.ts', 'src/event-store/sqlite/store.ts')],
  'render-queue': [imports('src/render-queue/in-process.ts', 'src/renderer/node.ts', exported)],
  attestation: [imports('src/log/attestation/post.ts', 'src/config/config.ts', typeOnly)],
  actors: [
    imports('src/actors/actor.ts', 'src/domain/account.ts', typeOnly),
    imports('src/actors/actor.ts', 'src/event-store/sqlite/store.ts'),
  ],
  leader: [imports('src/leader/election.ts', 'src/render-queue/port.ts', typeOnly)],
  'read-model': [imports('src/read-model/runner.ts', 'projections/all.ts')],
  'transparency-log': [
    imports('src/transparency-log/canonical-event.ts', 'src/event-store/codec.ts'),
    imports('src/transparency-log/checkpoint.ts', 'src/domain/events.ts', typeOnly),
  ],
  'transparency-log-has-no-io': [imports('src/transparency-log/published.ts', 'node:fs')],
  projections: [imports('projections/all.ts', 'src/actors/system.ts')],
  'renderer-browser-stands-alone': [
    imports('src/renderer/browser/launch.ts', 'src/renderer/chrome/tab.ts'),
  ],
  'renderer-chrome-stands-alone': [imports('src/renderer/chrome/tab.ts', 'src/renderer/pool.ts')],
  'renderer-finishing-stands-alone': [
    imports('src/renderer/finishing/stamps.ts', 'src/renderer/chrome/tab.ts'),
  ],
  pdf: [imports('src/pdf/reader.ts', 'src/renderer/browser/failure.ts')],
  'webhook-sending': [imports('src/webhooks/poster.ts', 'src/documents/keys/vault.ts', typeOnly)],
  'webhook-library': [
    imports('src/webhooks/poster.ts', 'node_modules/standardwebhooks/dist/index.js'),
  ],
  'identity-provider': [imports('src/oidc/provider.ts', 'src/config/config.ts', typeOnly)],
  'identity-provider-library': [
    imports('src/oidc/provider.ts', 'node_modules/openid-client/build/index.js'),
  ],
  templates: [imports('src/templates/threads.ts', 'src/documents/keys/vault.ts', typeOnly)],
  'template-library': [
    imports('src/templates/fill-worker.ts', 'node_modules/liquidjs/dist/liquid.node.mjs'),
  ],
  'egress-addresses': [imports('src/egress/policy.ts', 'src/renderer/egress/proxy.ts')],
  'egress-stands-alone': [imports('src/renderer/egress/proxy.ts', 'src/renderer/chrome/tab.ts')],
  nats: [imports('src/nats/connection.ts', 'src/render-queue/port.ts', typeOnly)],
  'renderer-holds-no-event-store': [
    imports('src/renderer/job.ts', 'src/event-store/port.ts', typeOnly),
    imports('src/renderer/node.ts', 'src/actors/system.ts'),
    imports('src/renderer/node.ts', 'src/documents/keys/port.ts'),
  ],
  'http-names-no-adapter': [
    imports('src/http/app.ts', 'src/limits/rate-limiter/memory.ts'),
    imports('src/http/app.ts', 'src/sqlite/database.ts'),
    imports('src/http/app.ts', 'dashboard/src/main.ts'),
  ],
  requests: [imports('src/requests/validate.ts', 'src/http/context.ts')],
  'use-cases-know-no-http': [
    imports('src/accounts/sign-in.ts', 'src/http/middleware/rate-limit.ts'),
  ],
  dashboard: [
    imports('dashboard/src/main.tsx', 'src/errors/errors.ts'),
    imports('dashboard/src/api/client.ts', 'src/http/tokens.ts', typeOnly),
  ],
  'verifier-stands-alone': [
    imports('verifier/verify-evidence.mjs', 'src/transparency-log/merkle-tree.ts'),
    imports('verifier/verify-evidence.mjs', 'node_modules/fflate/index.js'),
  ],
  'samples-stand-alone': [imports('samples/curl.ts', 'src/errors/errors.ts')],
  'client-stands-alone': [imports('client/src/client.ts', 'src/errors/errors.ts')],
  'service-is-for-main': [imports('src/leader/election.ts', 'src/service/core.ts', typeOnly)],
  'commands-are-given-service': [
    imports('src/commands/start.ts', 'src/service/for-commands.ts'),
    imports('src/commands/start.ts', 'src/service/roles.ts', dynamic),
  ],
  'commands-run-late': [
    imports('src/commands/table/log.ts', 'src/domain/events.ts'),
    imports('src/commands/convert-options.ts', 'src/accounts/accounts.ts'),
  ],
  'adapters-are-named-in-service': [
    imports('src/commands/convert.ts', 'src/documents/files.ts'),
    imports('src/accounts/accounts.ts', 'src/event-store/sqlite/store.ts', typeOnly),
    imports('src/process-managers/outcomes.ts', 'src/render-queue/in-process.ts'),
    imports('src/process-managers/refunds.ts', 'src/limits/rate-limiter/memory.ts'),
    imports('src/process-managers/attestations.ts', 'src/log/attestation/witness-client.ts'),
    imports('src/main.ts', 'src/documents/keys/file-records.ts', exported),
    imports('src/service/rendering.ts', 'src/leader/file-lease.ts'),
  ],
};

/** Closes the cycle above; a cycle is told once. */
const BACK = imports('client/src/b.ts', 'client/src/a.ts', typeOnly);

/** What the design wants to be possible, in the places that the rules speak of. */
const ALLOWED: readonly Example[] = [
  imports('src/service/adapters.ts', 'src/event-store/kurrentdb/store.ts'),
  imports('src/main.ts', 'src/service/roles.ts'),
  imports('src/http/server.ts', 'src/documents/port.ts'),
  imports('src/http/app.ts', 'dashboard/src/paths.ts'),
  imports('src/event-store/kurrentdb/store.ts', 'src/event-store/port.ts', typeOnly),
  imports('projections/accounts.ts', 'src/domain/events.ts'),
  imports('src/transparency-log/signed-note.ts', 'node:crypto'),
  imports('projections/accounts.ts', 'src/transparency-log/merkle-tree.ts'),
  imports('src/accounts/accounts.ts', 'src/transparency-log/checkpoint.ts'),
  imports('src/service/blobs.ts', 'src/documents/s3-bucket.ts', dynamic),
  imports('src/documents/keys/records.ts', 'src/documents/s3-objects.ts', typeOnly),
];

const cjs = createRequire(import.meta.url);

void test('each import rule refuses what it is there to refuse', async (t) => {
  const { forbidden: rules } = cjs(CONFIG) as { forbidden: { name: string }[] };
  t.strictSame(
    rules.map(({ name }) => name).toSorted(),
    Object.keys(EXAMPLES).toSorted(),
    'each rule has its examples',
  );

  const directory = testDirectory(t);
  const lines = new Map<string, string[]>();
  const linesOf = (path: string): string[] => {
    const known = lines.get(path) ?? ['export type X = 1; export const x = 1;'];
    lines.set(path, known);
    return known;
  };
  for (const { from, to, form } of [...Object.values(EXAMPLES).flat(), BACK, ...ALLOWED]) {
    const here = relative(dirname(from), to);
    const path = to.startsWith('node:') ? to : here.startsWith('.') ? here : `./${here}`;
    linesOf(from).push(form ? form(path) : `import '${path}';`);
    if (path !== to) linesOf(to);
  }
  for (const [path, content] of lines) {
    mkdirSync(join(directory, dirname(path)), { recursive: true });
    writeFileSync(join(directory, path), `${content.join('\n')}\n`);
  }

  const cruise = spawn(
    join(ROOT, 'node_modules/.bin/depcruise'),
    [
      'dashboard/src',
      'client/src',
      'src',
      'projections',
      'samples',
      'verifier',
      '--config',
      CONFIG,
      '--output-type',
      'json',
    ],
    { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const { summary } = JSON.parse(await text(cruise.stdout)) as {
    summary: { violations: { from: string; to: string; rule: { name: string } }[] };
  };
  const refused = new Set(
    summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`),
  );
  for (const [rule, examples] of Object.entries(EXAMPLES)) {
    for (const { from, to } of examples) {
      const line = `${rule}: ${from} → ${to.replace(/^node:/, '')}`;
      t.ok(refused.has(line), line);
    }
  }
  for (const { from, to } of ALLOWED) {
    t.notOk(
      [...refused].some((line) => line.endsWith(`: ${from} → ${to}`)),
      `${from} → ${to}`,
    );
  }
});
