/** `pressledger status` and `top`: what an operator sees of a service, and that looking changes nothing. */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'tap';
import { cliJson, refuses, runCli } from '../support/cli.ts';
import { eventually } from '../support/deadline.ts';
import { startNatsServer } from '../support/nats-server.ts';
import { createPlace } from '../support/place.ts';
import { createService, type Service } from '../support/service.ts';
import { onTerminal, onTerminals } from '../support/terminal.ts';
import { treeOf } from '../support/trees.ts';

interface Status {
  readonly log: { readonly position: string; readonly lag_events: number | null };
  readonly api: { readonly ready: boolean | null };
  readonly led: boolean | null;
  readonly slots: Record<'nodes' | 'total' | 'busy', number | null>;
  readonly queue: readonly { readonly waiting: number; readonly rendering: number }[] | null;
  readonly per_minute: Record<'requested' | 'completed' | 'failed', number>;
  readonly failures: readonly { readonly code: string; readonly count: number }[];
  readonly renderers: readonly { readonly completed: number; readonly failed: number }[];
  readonly not_known: readonly string[];
}

/** Settings that are not those of the service. */
const OTHERS = { PORT: '1', RENDER_CONCURRENCY: '7', RATE_LIMIT: 'off' };

async function statusOf(
  service: Service,
  env: Readonly<Record<string, string>> = OTHERS,
): Promise<Status> {
  return (await cliJson(service.place, ['status'], { env })) as Status;
}

void test('it shows a service at work and at rest', async (t) => {
  const service = createService(t);
  await refuses(t, service.place, ['status'], 1, /There is no store in/);
  await service.start();
  const client = service.client();
  await client.convert({ html: '<p>one</p>' });
  await client.convert({ html: '<p>two</p>' });
  await t.rejects(client.convert({ html: '<p>x</p>', page_ranges: '9' }));
  const running = await statusOf(service);
  t.match(running, {
    api: { ready: true },
    led: true,
    log: { lag_events: 0 },
    slots: { nodes: 1, total: 1, busy: 0 },
    queue: [],
    per_minute: { requested: 0.6, completed: 0.4, failed: 0.2 },
    renderers: [{ completed: 2, failed: 1 }],
  });
  t.equal(running.failures.length, 1);
  t.match(running.failures[0], { code: /^\w+$/, count: 1 });
  const { stdout } = await runCli(service.place, ['status'], { env: OTHERS });
  t.match(stdout, /^API node +here +ready$/m);
  t.match(stdout, /^Renderers +1 node, 1 slot: 0 busy, 1 free$/m);
  t.notMatch(stdout, /^Not known|^Limits/m, 'the service knows, whatever is set here');

  const waiting = await client.create({
    html: '<p id=a></p><script>for (;;);</script>',
    wait_for: { selector: '#never' },
  });
  const busy = await eventually(`the start of ${waiting.id}`, async () => {
    const status = await statusOf(service);
    return status.slots.busy === 1 ? status : undefined;
  });
  t.match(busy.queue, [{ waiting: 0, rendering: 1 }]);

  await service.kill();
  // SQLite's index of the WAL is made again by each reader.
  const kept = () =>
    Object.entries(treeOf(service.place.dataDir)).filter(([name]) => !name.endsWith('-shm'));
  const before = kept();
  const still = await statusOf(service);
  t.match(still, { api: { ready: null }, led: null });
  t.match(still.not_known, [/^API node: none answers/, /^leader, renderers: no service answers/]);
  t.strictSame(kept(), before, 'looking changes nothing');
});

void test('on a terminal it breaks no word', onTerminals, async (t) => {
  const service = createService(t);
  await service.start();
  await service.stop();
  const { screen } = await onTerminal(service.place, 'status');
  const lines = screen.split('\r\n');
  for (const line of lines) t.ok(line.length <= 80, line);
  const cut = lines.findIndex((line) => /^Not known {3}leader, renderers/.test(line));
  t.match(lines[cut + 1], /^ {12}\S+ /, 'the rest stands below its text');
  t.match(lines.join(' ').replaceAll(/ +/g, ' '), 'set DATA_DIR and NATS_URL as it has them');
});

void test('over NATS it shows the slots that renderers announce', async (t) => {
  const nats = await startNatsServer(t);
  const folder = join(dirname(createPlace(t).dataDir), 'shared');
  mkdirSync(folder, { mode: 0o700 });
  const service = createService(t, {
    NATS_URL: nats.url,
    BLOB_STORE_URL: `file:${folder}`,
    MASTER_KEY: '11'.repeat(32),
    RENDER_CONCURRENCY: '2',
  });
  await service.start();
  const { id } = await service.client().create({ html: '<p>one</p>' });
  await service.client().wait(id);
  const status = await statusOf(service);
  t.match(status, { led: true, slots: { nodes: 1, total: 2, busy: 0 } });
  t.match(status.not_known.join('\n'), /other API nodes: ask each/);
  // The shell of an operator who has set none of the deployment's settings but DATA_DIR.
  const unset = { NATS_URL: '', BLOB_STORE_URL: '', MASTER_KEY: '' };
  t.match(await statusOf(service, unset), { led: true, slots: { nodes: 1, total: 2, busy: 0 } });
  const told = await runCli(service.place, ['history', id], { env: unset });
  t.match([told.code, told.stderr], [0, ''], 'the service reads its log');
  t.match(
    told.stdout,
    /^\S+ {2}A PDF was requested, from HTML\. {2}\(key "\S.*" pk_live_\w{4}… of /m,
  );
  const output = join(service.place.tmpDir, 'evidence.zip');
  const proven = await cliJson(service.place, ['evidence', id, '-o', output], { env: unset });
  t.match(proven, { id, bytes: statSync(output).size, checkpoint_size: Number, absent: {} });
  await service.stop();
  t.match(await statusOf(service), { led: false, slots: { nodes: 0, total: 0 } });
  t.match(await statusOf(service, unset), { led: null }, 'not known without NATS_URL');
});

void test('top refreshes in place and leaves the terminal as it was', onTerminals, async (t) => {
  const service = createService(t);
  await service.start();
  for (const key of ['q', '\u0003']) {
    const { code, screen } = await onTerminal(service.place, 'top', [
      ['q: end', ''],
      ['q: end', key],
    ]);
    t.equal(code, 0);
    t.ok(screen.startsWith('\u001b[?1049h\u001b[?25l'), 'a screen of its own');
    t.match(screen, /Leader +yes/);
    t.equal(screen.split('\u001b[H').length, 3, 'drawn twice');
    const after = screen.slice(screen.indexOf('\u001b[?25h'));
    t.equal(after, '\u001b[?25h\u001b[?1049l', 'the cursor and the screen before are back');
    for (const frame of screen.split('\u001b[H').slice(1)) {
      const lines = frame.split('\u001b[K');
      t.ok(lines.length <= 25, 'no more than 24 lines');
      for (const line of lines) t.ok(line.trim().length <= 80, line);
    }
  }
  await refuses(t, service.place, ['top'], 2, /use 'pressledger status'/);
});
