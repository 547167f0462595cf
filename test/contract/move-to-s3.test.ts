/** What docs/deployment.md says of moving documents and keys from DATA_DIR into S3, done here by hand. */
import { randomBytes } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { test } from 'tap';
import { FileBlobStore } from '../../src/blob-store/files.ts';
import { ObjectBlobStore } from '../../src/blob-store/remote.ts';
import { S3Bucket } from '../../src/blob-store/s3-bucket.ts';
import { S3Objects } from '../../src/blob-store/s3-objects.ts';
import { newAccountId, newConversionId } from '../../src/ids.ts';
import { FileKeyring } from '../../src/keyring/file.ts';
import { loadMasterKey } from '../../src/keyring/master-key.ts';
import { KeyErased } from '../../src/keyring/port.ts';
import { RemoteKeyring } from '../../src/keyring/remote.ts';
import { S3KeyRecords } from '../../src/keyring/s3-records.ts';
import { testDirectory } from '../support/directory.ts';
import { makingKeys } from '../support/keyring.ts';
import { s3Credentials, startS3Server } from '../support/s3-server.ts';

void test('documents and keys that were copied into S3 are read there', async (t) => {
  const dataDir = testDirectory(t);
  const [kept, erased] = [newAccountId(Date.now()), newAccountId(Date.now())];
  const keyring = makingKeys(new FileKeyring(join(dataDir, 'keyring'), loadMasterKey(dataDir)));
  const dataKey = await keyring.dataKey(kept);
  await keyring.dataKey(erased);
  await keyring.erase(erased);
  const files = await FileBlobStore.open(join(dataDir, 'blobs'));
  const content = randomBytes(200_000);
  const document = files.stage(newConversionId(Date.now()), 'document', content);
  await document.store();

  const server = await startS3Server(t);
  const client = new S3Bucket(server.location, s3Credentials);
  t.teardown(() => client.close());
  const put = (key: string, file: string): unknown =>
    server.objects.set(
      `/${server.location.bucket}/${server.location.prefix}${key}`,
      readFileSync(file),
    );
  for (const shard of globSync(join(dataDir, 'blobs/??'))) {
    for (const file of globSync(join(shard, '*/*'))) put(`blobs/${relative(shard, file)}`, file);
  }
  for (const file of globSync(join(dataDir, 'keyring/*'))) put(`keyring/${basename(file)}`, file);

  const masterKey = Buffer.from(readFileSync(join(dataDir, 'master.key'), 'utf8'), 'hex');
  const openKeyring = async () => {
    const records = await S3KeyRecords.open(new S3Objects(client, 'keyring/'));
    return RemoteKeyring.open(records, masterKey, { create: false, recheckMs: 0 });
  };
  await t.rejects(openKeyring(), {
    message:
      /^There is no keyring in the place that BLOB_STORE_URL names, [^\n]+ or move the keys /,
  });
  put('keyring/master.check', join(dataDir, 'master.check'));
  const moved = await openKeyring();
  t.ok(dataKey.equals(await moved.dataKey(kept)));
  await t.rejects(moved.dataKey(erased), KeyErased);
  const blobs = new ObjectBlobStore(new S3Objects(client, 'blobs/'));
  t.ok(content.equals(await blobs.read(document.ref)));
});
