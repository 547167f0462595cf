/** The settings that others need beside them. */
import type { Role } from './setting.ts';

/** Settings that others need, or that need others. */
type Needed = 'natsUrl' | 'blobStoreUrl' | 'masterKey' | 'awsAccessKeyId' | 'awsSecretAccessKey';

/**
 * @param blobs the value of BLOB_STORE_URL, if there is one that can be used
 * @param isGiven whether a setting has a value, also one that cannot be used
 * @returns one line for each that is missing for a process of that role
 */
export function lackingSettings(
  blobs: { readonly kind: string } | undefined,
  isGiven: (key: Needed) => boolean,
  role: Role,
): readonly string[] {
  const usesNats = isGiven('natsUrl');
  const problems: readonly (readonly [boolean, string])[] = [
    [
      role !== 'start' && !usesNats,
      `NATS_URL is needed by pressledger ${role}: it is how jobs reach renderers. For one machine, use 'pressledger start'.`,
    ],
    [
      usesNats && !isGiven('blobStoreUrl'),
      'NATS_URL needs BLOB_STORE_URL, the place that all nodes share for documents and keys: ' +
        'file:PATH (a folder that they share), nats: or s3://bucket?region=….',
    ],
    [
      role === 'start' && !usesNats && blobs?.kind === 'nats',
      'BLOB_STORE_URL is nats:, so NATS_URL is needed.',
    ],
    [
      blobs?.kind === 's3' && !(isGiven('awsAccessKeyId') && isGiven('awsSecretAccessKey')),
      'BLOB_STORE_URL needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    ],
    [
      role !== 'renderer' && isGiven('blobStoreUrl') && !isGiven('masterKey'),
      'BLOB_STORE_URL puts the accounts’ keys beside the blobs, so MASTER_KEY is needed, the same on every node.',
    ],
  ];
  return problems.flatMap(([isLacking, problem]) => (isLacking ? problem : []));
}
