/** Stores of earlier releases, which this one opens, and those of newer ones, which stop it. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { type Test, test } from 'tap';
import { SCHEMA_VERSION } from '../../src/domain/events.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { cliJson, refuses } from '../support/cli.ts';
import { openPdf } from '../support/pdf.ts';
import { createService, type Service } from '../support/service.ts';
import { treeOf } from '../support/trees.ts';

const SAMPLES = join(import.meta.dirname, '../samples/stores');
const releases = readdirSync(SAMPLES).filter((name) => name.endsWith('.tar.gz'));

interface Sample {
  readonly email: string;
  readonly password: string;
  readonly api_key: string;
  readonly conversion: string;
  /** Of its PDF. */
  readonly sha256: string;
}

/** The documents of a sample are older than any usual retention. */
const KEEP = { RETENTION_SECONDS: '3153600000' };

function unpacked(t: Test, release: string): { service: Service; sample: Sample } {
  const service = createService(t, KEEP);
  const { dataDir } = service.place;
  mkdirSync(dataDir, { mode: 0o700 });
  execFileSync('tar', ['-xzf', join(SAMPLES, release), '--no-same-owner', '-C', dataDir]);
  const about = readFileSync(join(SAMPLES, release.replace('.tar.gz', '.json')), 'utf8');
  return { service, sample: JSON.parse(about) as Sample };
}

void test('a kept sample is never changed', (t) => {
  const known = readFileSync(join(SAMPLES, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
  const files = readdirSync(SAMPLES).filter((name) => name !== 'SHA256SUMS');
  const lines = files.map((name) => {
    const hash = createHash('sha256')
      .update(readFileSync(join(SAMPLES, name)))
      .digest('hex');
    return `${hash}  ${name}`;
  });
  t.strictSame(lines.toSorted(), known.toSorted());
  t.ok(releases.length > 0);
  t.end();
});

for (const release of releases) {
  void test(`a store of ${release} is opened, whole, and goes on`, async (t) => {
    const { service, sample } = unpacked(t, release);
    const { place } = service;
    const verified = await cliJson(place, ['verify', '--documents']);
    t.match(verified, { ok: true }, 'before it is started');
    await service.start();
    const client = service.client(sample.api_key);
    const record = await client.get(sample.conversion);
    t.equal(record.status, 'completed');
    const pdf = Buffer.from(await new Response(await client.download(record)).arrayBuffer());
    t.equal(createHash('sha256').update(pdf).digest('hex'), sample.sha256);
    t.match((await openPdf(pdf)).text, /A letter of an earlier release/);
    const answer = await fetch(`${service.url}/api/v1/auth/jwt/create/`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: sample.email, password: sample.password }),
    });
    t.equal(answer.status, 200, 'its owner signs in');
    t.match((await openPdf(await client.convert({ html: '<p>new</p>' }))).text, /new/);
    t.match(await cliJson(place, ['projections', 'verify']), { ok: true });
    await service.stop();
    t.match(await cliJson(place, ['verify', '--documents']), { ok: true }, 'afterwards, too');
  });
}

async function refusesNewer(t: Test, service: Service, line: RegExp): Promise<void> {
  const { place } = service;
  const before = treeOf(place.dataDir);
  for (const command of [['start'], ['account', 'list']]) {
    await refuses(t, place, command, 1, line);
  }
  t.strictSame(treeOf(place.dataDir), before, 'nothing is changed');
}

void test('a store of a newer release stops this one in one line', async (t) => {
  const [release = ''] = releases;
  const { service } = unpacked(t, release);
  const db = new Sqlite(join(service.place.dataDir, 'pressledger.db'));
  const version = Number(db.pragma('user_version', { simple: true }));
  db.pragma(`user_version = ${version + 1}`);
  db.close();
  await refusesNewer(t, service, /written by a newer release \(store version \d+.*install/);
});

void test('so does an event of a newer release', async (t) => {
  const [release = ''] = releases;
  const { service } = unpacked(t, release);
  const database = openEmbeddedDatabase(join(service.place.dataDir, 'pressledger.db'));
  const store = new SqliteEventStore(database);
  const [last] = await store.readAll({ after: (await store.head()) - 1n });
  if (last === undefined) throw new Error('The sample is empty.');
  const metadata = { ...last.metadata, schemaVersion: SCHEMA_VERSION + 1 };
  const event = { id: `${last.id.slice(0, -1)}0`, type: 'LaterEvent', data: {}, metadata };
  await store.append('later-1', [event], 'no-stream');
  await store.close();
  database.close();
  await refusesNewer(t, service, /event log was written by a newer release \(event version/);
});

void test('read models of a newer release are rebuilt', async (t) => {
  const [release = ''] = releases;
  const { service, sample } = unpacked(t, release);
  const db = new Sqlite(join(service.place.dataDir, 'read-model/g1.db'));
  db.exec('DROP TABLE checkpoints');
  db.pragma('user_version = 1000');
  db.close();
  await service.start();
  const record = await service.client(sample.api_key).get(sample.conversion);
  t.equal(record.status, 'completed');
});
