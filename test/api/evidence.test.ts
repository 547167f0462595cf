/** A bundle of evidence, from the log to what its verifier finds in it. */
import { writeFileSync } from 'node:fs';
import { generateKeyPairSync } from 'node:crypto';
import { test } from 'tap';
import { CheckpointSigner } from '../../src/use-cases/checkpoint-signer.ts';
import { gatherEvidence } from '../../src/use-cases/evidence/gather.ts';
import { proofOfConversion } from '../../src/use-cases/transparency-log.ts';
import { verifyEvidence, describe } from '../../verifier/verify-evidence.mjs';
import { PDF, startWithConversion } from '../support/conversion.ts';

void test('a bundle', async (t) => {
  const api = await startWithConversion(t);
  const id = await api.create();
  await api.complete(api.account.id, id, PDF, ['It lacks <b>this</b>.']);
  const { privateKey } = generateKeyPairSync('ed25519');
  let last: string | undefined;
  const signer = new CheckpointSigner({
    ...api,
    lastCheckpoint: { path: 'x', read: async () => last, write: async (note) => void (last = note) },
    signingKey: () => privateKey,
    logName: undefined,
  });
  const deps = { ...api, signer };
  const { zip } = await gatherEvidence(deps, id);
  writeFileSync('/tmp/e.zip', zip);
  const { key } = await proofOfConversion(deps, id);
  writeFileSync('/tmp/e.key', key);
  const found = verifyEvidence(zip, [key]);
  console.log(describe(found).join('\n'));
  t.same((await gatherEvidence(deps, id)).zip, zip);
});
