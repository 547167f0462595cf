/**
 * A real S3 server, where S3_TEST_URL names a bucket that is for tests (`s3://bucket?endpoint=…`), with
 * AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Each opening has a folder of its own.
 */
import { randomBytes } from 'node:crypto';
import { S3Bucket } from '../../src/documents/s3-bucket.ts';
import { parseS3Url } from '../../src/documents/s3-location.ts';

const { S3_TEST_URL: url = '', AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env;

/** Options of a test that needs the server: without one it is reported as skipped, with the reason. */
export const needsS3Server = url === '' ? { skip: 'S3_TEST_URL names no S3 server' } : {};

export function realS3Bucket(): S3Bucket {
  const location = parseS3Url(url);
  const prefix = `${location.prefix}test-${randomBytes(8).toString('hex')}/`;
  return new S3Bucket(
    { ...location, prefix },
    { accessKeyId: AWS_ACCESS_KEY_ID ?? '', secretAccessKey: AWS_SECRET_ACCESS_KEY ?? '' },
  );
}
