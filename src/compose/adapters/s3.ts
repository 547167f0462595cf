import type { Config } from '../../config.ts';
import type { Openings } from '../openings.ts';

/** The settings were checked when they were read. */
export async function openS3(config: Config, openings: Openings, url: string) {
  const [{ S3Bucket }, { parseS3Url }] = await Promise.all([
    import('../../blob-store/s3-bucket.ts'),
    import('../../blob-store/s3-location.ts'),
  ]);
  const {
    awsAccessKeyId: id = '',
    awsSecretAccessKey: secret = '',
    awsSessionToken: token,
  } = config;
  const credentials = { accessKeyId: id, secretAccessKey: secret };
  const bucket = new S3Bucket(
    parseS3Url(url),
    token === undefined ? credentials : { ...credentials, sessionToken: token },
  );
  openings.add({ close: async () => bucket.close() });
  return bucket;
}
