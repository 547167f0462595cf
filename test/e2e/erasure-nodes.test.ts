/** Nothing of an account is left that was erased beside nodes whose documents and keys lie elsewhere. */
import { test } from 'tap';
import { eraseAndSearch, SETTINGS } from '../support/erasure.ts';
import { KINDS, type Kind, Nodes, onS3 } from '../support/nodes.ts';
import { filesBelow } from '../support/telling-texts.ts';

const [FOLDER] = KINDS;
if (FOLDER === undefined) throw new Error('There is no kind of deployment.');
const REMOTE: readonly Kind[] = [
  {
    ...FOLDER,
    name: 'with documents and keys in NATS',
    open: async () => ({ settings: { BLOB_STORE_URL: 'nats:', MASTER_KEY: '5a'.repeat(32) } }),
  },
  { ...FOLDER, name: 'with documents and keys in S3', open: onS3 },
];

for (const kind of REMOTE) {
  void test(`nothing of an erased account is found, ${kind.name}`, {
    timeout: 240_000,
  }, async (t) => {
    const nodes = await Nodes.start(t, kind, SETTINGS);
    const [api, renderer] = [await nodes.api(), await nodes.renderer()];
    const directories = [api, renderer].flatMap(({ place }) => [place.dataDir, place.tmpDir]);
    const stored = () =>
      new Map([...filesBelow(...directories, nodes.nats.storeDir), ...(nodes.s3?.objects ?? [])]);
    await eraseAndSearch(t, { api, processes: [renderer, api], stored });
  });
}
