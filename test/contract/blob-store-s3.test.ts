import { ObjectBlobStore } from '../../src/blob-store/remote.ts';
import { S3Client } from '../../src/blob-store/s3-client.ts';
import { S3Objects } from '../../src/blob-store/s3-objects.ts';
import { s3Credentials, startS3Server } from '../support/s3-server.ts';
import { runBlobStoreContract } from './blob-store-contract.ts';

for (const [name, key] of [
  ['S3', undefined],
  ['S3, encrypted', Buffer.alloc(32, 9)],
] as const) {
  runBlobStoreContract({
    name,
    open: async (t) => {
      const { location } = await startS3Server(t);
      const client = new S3Client(location, s3Credentials);
      const store = await ObjectBlobStore.open(new S3Objects(client, 'blobs/'), key);
      return { store, dir: t.testdir(), close: async () => client.close() };
    },
  });
}
