/** `evidence` and `verify-evidence`: what the log proves about a conversion, in one file, and its check. */
import { readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { Difference, describe, verifyEvidence as verify } from '../../verifier/verify-evidence.mjs';
import { errorMessage } from '../errors/error-message.ts';
import { assertFile, type Run, requiredOption, UsageError } from './command.ts';
import { counted } from '../domain/counted.ts';
import { checkOutputFile, OWNER_ONLY, writeOutputFile } from './pdf-target.ts';
import { verifierKeys } from './verify.ts';

export const evidence: Run = async (invocation, { open, output }) => {
  const [id = ''] = invocation.positionals;
  const path = requiredOption(invocation, 'output');
  await checkOutputFile(path);
  await open.withOperator(async (api) => {
    const { size, absent, content } = await api.evidence(id);
    await writeOutputFile(async () => Readable.fromWeb(content), path, OWNER_ONLY);
    const { size: bytes } = await stat(path);
    output.json({ id, path, bytes, checkpoint_size: size, absent });
    output.line(
      `The evidence of ${id} is in ${path}, under a checkpoint of ${counted(size, 'event')}.`,
    );
    for (const [name, reason] of Object.entries(absent))
      output.note(`It has no ${name}: ${reason}`);
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
