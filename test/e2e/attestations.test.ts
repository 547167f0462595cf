/** A whole service with a witness and a timestamp authority; `openssl ts` checks what it publishes. */
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { parseCheckpoint } from '../../src/transparency-log/checkpoint.ts';
import { openNote, verifiedBy, verifierKey } from '../../src/transparency-log/signed-note.ts';
import { runCli, runCommand } from '../support/cli.ts';
import { eventually } from '../support/deadline.ts';
import { testDirectory } from '../support/directory.ts';
import { guideBlocks } from '../support/guide.ts';
import { createPlace } from '../support/place.ts';
import { Service } from '../support/service.ts';
import { startTimestampAuthority } from '../support/timestamp-authority.ts';
import { TestWitness } from '../support/witness.ts';

async function get(url: string): Promise<Buffer | undefined> {
  const answer = await fetch(url);
  const body = Buffer.from(await answer.arrayBuffer());
  return answer.ok ? body : undefined;
}

void test('what witnesses and a timestamp authority say is published', async (t) => {
  const witness = await TestWitness.start(t);
  const authority = await startTimestampAuthority(t);
  const place = createPlace(t, { CHECKPOINT_SECONDS: '1' });
  const unwitnessed = new Service(place);
  t.teardown(() => unwitnessed.kill());
  await unwitnessed.start();
  const logKey = String(await get(`${unwitnessed.url}/tlog/key`)).trim();
  await unwitnessed.stop();
  const origin = logKey.split('+')[0] ?? '';
  witness.logs.set(origin, [logKey]);

  const ofLog = verifierKey(origin, Buffer.alloc(32, 1), 0x04);
  const refused = await runCli(place, ['start'], {
    env: { WITNESSES: `${ofLog} http://w.example` },
  });
  t.match(refused, {
    code: 1,
    stderr: /^pressledger: WITNESSES names a key of pressledger\/.*this log/,
  });

  const env = { ...place.env, WITNESSES: witness.setting, TSA_URL: authority.url };
  const service = new Service({ ...place, env });
  t.teardown(() => service.kill());
  await service.start();
  const { note, timestamp } = await eventually('a checkpoint with both', async () => {
    const newest = String(await get(`${service.url}/tlog/checkpoint`));
    const { size } = parseCheckpoint(openNote(newest).text);
    const token = await get(`${service.url}/tlog/timestamp/${size}`);
    const isCosigned = verifiedBy(newest, [witness.verifierKey]).length > 0;
    return isCosigned && token ? { note: newest, timestamp: token } : undefined;
  });
  const keys = [logKey, witness.verifierKey];
  t.strictSame(verifiedBy(note, keys), keys);

  const directory = testDirectory(t);
  writeFileSync(join(directory, 'checkpoint'), note);
  writeFileSync(join(directory, 'timestamp.tst'), timestamp);
  copyFileSync(authority.certificate, join(directory, 'tsa-ca.pem'));
  const lines =
    guideBlocks('audit.md', 'sh')
      .find((block) => block.includes('openssl ts'))
      ?.split('\n') ?? [];
  const commands = lines.filter((line) => !line.startsWith('curl ')).join('\n');
  const checked = await runCommand('sh', ['-euc', commands], place.env, '', directory);
  t.match(checked.stdout, /^Verification: OK$/m);
  t.equal(checked.code, 0);
  t.equal(service.output.stderr.match(/asked again later/), null);
});
