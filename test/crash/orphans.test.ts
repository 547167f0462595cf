import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { test } from 'tap';
import { newConversionId } from '../../src/time/ids.ts';
import { eventually } from '../support/deadline.ts';
import { startService } from '../support/service.ts';

void test('a start deletes what a crash left in the blob store, and nothing else', async (t) => {
  const service = await startService(t);
  const html = `<p>kept</p><!--${'x'.repeat(100_000)}-->`;
  const { id } = await service.client().create({ html });
  t.match(await service.client().wait(id), { status: 'completed' });
  await service.kill();
  const blobs = join(service.place.dataDir, 'blobs');
  const left = (conversionId: string): string => {
    const directory = join(blobs, conversionId.slice(-2), conversionId);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `request-${'0'.repeat(64)}`), 'of a request without its event');
    return directory;
  };
  const old = left(newConversionId(Date.now() - 60 * 60 * 1000));
  const young = left(newConversionId(Date.now()));
  await service.start();
  await eventually('the deletion', () => (existsSync(old) ? undefined : true));
  t.ok(existsSync(young), 'its event might be on its way');
  const client = service.client();
  const file = await buffer(await client.download(await client.get(id)));
  t.ok(file.subarray(0, 5).equals(Buffer.from('%PDF-')));
  t.equal(readdirSync(join(blobs, id.slice(-2), id)).length, 2, 'its request and its PDF');
  t.match(await service.stop(), { code: 0 });
});
