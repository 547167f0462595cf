/** `evidence` and `verify-evidence`: what the log proves about a conversion, in one file, and its check. */
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Difference, describe, verifyEvidence as verify } from '../../verifier/verify-evidence.mjs';
import { conversionQueries } from '../../projections/conversions.ts';
import { recordLook } from '../accounts/accounts.ts';
import { operatorContext } from '../actors/command-context.ts';
import { gatherEvidence } from '../conversions/evidence/gather.ts';
import { errorMessage } from '../errors/error-message.ts';
import { consistentQuery } from '../read-model/consistent-query.ts';
import { assertFile, type Run, requiredOption, UsageError } from './command.ts';
import { checkOutputFile, OWNER_ONLY, writeOutputFile } from './pdf-target.ts';
import { verifierKeys } from './verify.ts';

export const evidence: Run = async (invocation, { open, output }) => {
  const [id = ''] = invocation.positionals;
  const path = requiredOption(invocation, 'output');
  await checkOutputFile(path);
  await open.withCore(async (core) => {
    const row = (await consistentQuery(core, conversionQueries)).byId(id);
    if (row) await recordLook(core, row.accountId, operatorContext(core.clock), 'account');
    const found = await gatherEvidence({ ...core, streams: core.store }, id);
    const { bytes, size, absent } = found;
    await writeOutputFile(async () => Readable.from(found.open()), path, OWNER_ONLY);
    const missing = Object.fromEntries(absent);
    output.json({ id, path, bytes, checkpoint_size: size, absent: missing });
    output.line(`The evidence of ${id} is in ${path}, under a checkpoint of ${size} events.`);
    for (const [name, reason] of absent) output.note(`It has no ${name}: ${reason}`);
  });
};

export const verifyEvidence: Run = async (invocation, { output }) => {
  const [path = ''] = invocation.positionals;
  requiredOption(invocation, 'key');
  const keys = verifierKeys(invocation, 'key');
  const witnesses = verifierKeys(invocation, 'witness');
  await assertFile(path);
  try {
    const found = await verify(await readFile(path), keys, witnesses);
    output.json(found);
    for (const line of describe(found)) output.line(line);
  } catch (error) {
    // A fault of the file is a `Difference`. A key of another type is wrong usage.
    if (!(error instanceof Difference)) throw new UsageError(errorMessage(error));
    const { at, expected, found } = error;
    output.json({ ok: false, at, expected, found });
    throw new Error(`${path} does not verify: ${error.message}`, { cause: error });
  }
};
