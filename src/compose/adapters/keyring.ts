import { type Config, ConfigError } from '../../config.ts';
import type { EventStore } from '../../event-store/port.ts';
import { FileKeyring } from '../../keyring/file.ts';
import { loadMasterKey } from '../../keyring/master-key.ts';
import type { Keyring } from '../../keyring/port.ts';
import type { NatsLink } from '../../nats/connection.ts';
import type { Openings } from '../openings.ts';
import { inDataDir } from './data-dir.ts';
import { demandNats } from './nats.ts';
import { openS3 } from './s3.ts';

export interface OpenedKeyring {
  readonly keyring: Keyring;
  readonly masterKey: Buffer;
}

/** The keyring lies where the blobs do: a node's own data directory then holds nothing that matters. */
export async function openKeyring(
  config: Config,
  openings: Openings,
  nats: NatsLink | undefined,
  store: EventStore,
): Promise<OpenedKeyring> {
  const { blobStoreUrl: url, dataDir } = config;
  if (url === undefined) {
    const masterKey = loadMasterKey(dataDir, config.masterKey);
    return { keyring: new FileKeyring(inDataDir(config, 'keyring'), masterKey), masterKey };
  }
  const { masterKey } = config;
  if (masterKey === undefined) {
    throw new ConfigError('MASTER_KEY is needed with BLOB_STORE_URL.');
  }
  const { RemoteKeyring } = await import('../../keyring/remote.ts');
  // A keyring that is missing beside events would be a lost one, not a new one.
  const create = (await store.head()) === 0n;
  const { records, recheckMs } = await openKeyRecords(config, openings, nats, url, create);
  const keyring = await RemoteKeyring.open(records, masterKey, { create, recheckMs });
  return { keyring, masterKey };
}

async function openKeyRecords(
  config: Config,
  openings: Openings,
  nats: NatsLink | undefined,
  url: string,
  create: boolean,
) {
  if (url === 'nats:') {
    const { NatsKeyRecords, NATS_RECHECK_MS } = await import('../../keyring/nats-records.ts');
    const { connection } = demandNats(nats);
    return {
      records: await NatsKeyRecords.open(connection, { create }),
      recheckMs: NATS_RECHECK_MS,
    };
  }
  const [{ S3Objects }, { S3KeyRecords, S3_RECHECK_MS }] = await Promise.all([
    import('../../blob-store/s3-objects.ts'),
    import('../../keyring/s3-records.ts'),
  ]);
  const objects = new S3Objects(await openS3(config, openings, url), 'keyring/');
  return { records: await S3KeyRecords.open(objects), recheckMs: S3_RECHECK_MS };
}
