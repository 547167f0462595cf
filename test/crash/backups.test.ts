/** Backups of a real service under load, and restores of them, with kills in both. */
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import type { PressledgerClient } from '../../client/src/client.ts';
import { makeSigner, P12_PASSWORD } from '../support/certificates.ts';
import { cliJson, refuses, runCli } from '../support/cli.ts';
import { eventually } from '../support/deadline.ts';
import { readLog } from '../support/invariants.ts';
import { killCommand } from '../support/killed-command.ts';
import type { Place } from '../support/place.ts';
import { Service, startService } from '../support/service.ts';

const SETTINGS = { CHECKPOINT_SECONDS: '1', RENDER_CONCURRENCY: '2', RATE_LIMIT: 'off' };
const LARGE = 'x'.repeat(80_000);

/** Sends conversions one after the other until it is stopped. @returns the ids that were accepted */
function sending(client: PressledgerClient): () => Promise<readonly string[]> {
  const ids: string[] = [];
  const stopping = new AbortController();
  const done = (async () => {
    for (let n = 0; !stopping.signal.aborted && n < 80; n += 1) {
      const { id } = await client.create({ html: `<h1>${n}</h1><!--${n % 2 ? LARGE : ''}-->` });
      ids.push(id);
      if (n % 4 === 3) await client.wait(id);
    }
  })();
  return async () => {
    stopping.abort();
    await done;
    return ids;
  };
}

/** The PDFs of conversions by their ids, as a client gets them. */
async function pdfsOf(client: PressledgerClient, ids: readonly string[]) {
  const hashes: Record<string, string> = {};
  for (const id of ids) {
    const ended = await client.wait(id);
    if (ended.status !== 'completed') throw new Error(`${id} ended as ${ended.status}`);
    const answer = await fetch(ended.file_url);
    const content = Buffer.from(await answer.arrayBuffer());
    hashes[id] = `${answer.status} ${createHash('sha256').update(content).digest('hex')}`;
  }
  return hashes;
}

/** A folder for a restore, with the master key in it. */
function emptyPlace({ dataDir, ...rest }: Place, name: string): Place {
  const own = join(rest.tmpDir, name);
  mkdirSync(own, { mode: 0o700 });
  copyFileSync(join(dataDir, 'master.key'), join(own, 'master.key'));
  return { ...rest, dataDir: own, env: { ...rest.env, DATA_DIR: own } };
}

async function started(t: Test, place: Place): Promise<Service> {
  const service = new Service(place);
  t.teardown(() => service.kill());
  await service.start();
  return service;
}

/** The documents below a folder: files of conversions. */
const documentsIn = (folder: string): number =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
        /conv_\w+\/\w+-[0-9a-f]{64}$/.test(name),
      ).length
    : 0;

/** Ends with 1, and says so in its last line. */
async function fails(t: Test, place: Place, args: readonly string[], line: RegExp): Promise<void> {
  const { code, stderr } = await runCli(place, args);
  t.equal(code, 1);
  t.match(stderr.trimEnd().split('\n').at(-1), line);
}

void test('a service under load is backed up and restored, with kills in both', {
  timeout: 280_000,
}, async (t) => {
  const service = await startService(t, SETTINGS);
  const { place } = service;
  const { apiKey } = service.firstStart;
  const [folder, keyring] = [join(place.tmpDir, 'backup'), join(place.tmpDir, 'keyring.jsonl')];
  await cliJson(place, ['account', 'create', 'b@example.com', '--plan', 'pro']);
  const made = await cliJson(place, ['key', 'create', 'b@example.com', '--name', 'b']);
  const other = service.client((made as { key: string }).key);
  const { id: ofOther } = await other.create({ html: '<p>of the other' });
  await other.wait(ofOther);

  await service.client().signature.set(makeSigner(t).p12, P12_PASSWORD);

  const stop = sending(service.client());
  let kills = 0;
  for (const count of [1, 6, 12]) {
    const isDue = () => documentsIn(folder) >= count;
    if (await killCommand(place, ['backup', folder], isDue)) kills += 1;
  }
  t.ok(kills > 0, `${kills} kills`);
  const first = (await cliJson(place, ['backup', folder])) as { events: number };
  t.match(await cliJson(place, ['backup', 'verify', folder]), { ok: true, problems: [] });
  const early = join(place.tmpDir, 'early');
  cpSync(folder, early, { recursive: true });
  const ids = await stop();
  const before = await pdfsOf(service.client(), ids);

  await cliJson(place, ['account', 'erase', 'b@example.com', '--yes']);
  await service.client().signature.remove();
  await eventually(
    'the destruction of the private key',
    () => readLog(place.dataDir).some(({ type }) => type === 'SignatureKeyDestroyed') || undefined,
  );
  await cliJson(place, ['backup', 'keyring', keyring]);
  t.equal(statSync(keyring).mode & 0o777, 0o600);
  t.notMatch(
    readFileSync(keyring, 'utf8'),
    readFileSync(join(place.dataDir, 'master.key'), 'utf8'),
  );
  t.equal((await service.stop()).code, 0);
  const last = (await cliJson(place, ['backup', folder])) as { events: number; root: string };
  t.ok(last.events > first.events);
  t.match(await cliJson(place, ['verify']), { events: last.events, root: last.root });
  t.equal(documentsIn(folder), ids.length * 3, 'what was erased has left the backup');
  t.match(await cliJson(place, ['backup', folder]), { added: { events: 0, documents: 0 } });
  t.match(await cliJson(place, ['backup', 'verify', folder]), {
    ok: true,
    events: last.events,
    documents: ids.length * 3,
  });

  // All of it, under its own name.
  const whole = emptyPlace(place, 'whole');
  const restore = ['restore', folder, '--keyring', keyring];
  await fails(t, whole, restore, /Checkpoints may have been signed after this backup/);
  t.notOk(existsSync(join(whole.dataDir, 'pressledger.db')), 'nothing was made');
  const newest = join(place.dataDir, 'transparency-log/last-checkpoint');
  restore.push('--checkpoint', newest);
  let restoreKills = 0;
  for (const count of [1, 8, 30]) {
    const isDue = () => documentsIn(join(whole.dataDir, 'blobs')) >= count;
    if (!(await killCommand(whole, restore, isDue))) break;
    restoreKills += 1;
    await refuses(t, whole, ['start'], 1, /holds a copy of the backup .* not complete/);
  }
  t.ok(restoreKills > 0, `${restoreKills} kills`);
  if (restoreKills === 3) await cliJson(whole, restore);
  t.match(await cliJson(whole, ['verify', '--documents']), { ok: true, root: last.root });
  await fails(t, whole, restore, /The event store is not empty/);
  const again = await started(t, whole);
  t.strictSame(await pdfsOf(again.client(apiKey), ids), before, 'every file, with its hash');
  const { status } = await again
    .client(apiKey)
    .wait((await again.client(apiKey).create({ html: '<p>after the restore' })).id);
  t.equal(status, 'completed');
  t.equal((await again.stop()).code, 0);
  t.match(await cliJson(whole, ['verify', '--documents', '--checkpoint', newest]), { ok: true });

  // An earlier one, from before an erasure and before checkpoints that were published.
  const old = emptyPlace(place, 'old');
  const restoreOld = ['restore', early, '--keyring', keyring, '--checkpoint', newest];
  await fails(t, old, restoreOld, /A checkpoint was signed that covers more than the/);
  const restored = (await cliJson(old, [...restoreOld, '--new-origin'])) as {
    origin: string;
    erased: string[];
    certificates: string[];
  };
  t.equal(restored.erased.length, 1);
  t.match(restored.certificates, [/^cert_/]);
  t.not(restored.origin, origin(newest));
  t.match(await cliJson(old, ['verify', '--documents']), { ok: true, origin: restored.origin });
  const continued = readLog(old.dataDir).find(({ type }) => type === 'LogContinued');
  t.match(JSON.parse(continued?.data ?? ''), {
    formerOrigin: origin(newest),
    checkpoint: readFileSync(newest, 'utf8'),
  });
  const service3 = await started(t, old);
  await eventually(
    'the erasure to be completed again',
    () => readLog(old.dataDir).some(({ type }) => type === 'ErasureCompleted') || undefined,
  );
  await t.rejects(service3.client((made as { key: string }).key).create({ html: '<p>no' }));
  await t.rejects(service3.client(apiKey).signature.get(), /no certificate/);
  const inOld = Object.keys(before).filter((id) =>
    readLog(old.dataDir).some(({ stream }) => stream === `conversion-${id}`),
  );
  const ended = await pdfsOf(service3.client(apiKey), inOld);
  t.ok(inOld.length > 0);
  t.ok(Object.values(ended).every((each) => each.startsWith('200 ')));
  t.equal((await service3.stop()).code, 0);
  t.match(await cliJson(old, ['verify', '--documents']), { ok: true, origin: restored.origin });
  await refuses(
    t,
    { ...old, env: { ...old.env, LOG_ORIGIN: origin(newest) } },
    ['start'],
    1,
    /before it was restored/,
  );
  rmSync(early, { recursive: true });
});

const origin = (checkpoint: string): string =>
  readFileSync(checkpoint, 'utf8').split('\n')[0] ?? '';
