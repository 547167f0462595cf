/** `verify-pdf`: whether the service made a PDF. Only the PDF's hash leaves this machine. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Difference, mustBearSignature } from '../../verifier/verify-evidence.mjs';
import { assertFile, type CommandContext, type Run, textOption } from './command.ts';
import { counted } from '../domain/counted.ts';
import { findServiceUnlessAccount, type ProvenEvent } from './service.ts';

type Answer =
  | { readonly known: false }
  | {
      readonly known: true;
      readonly conversion: {
        readonly id: string;
        readonly status: 'completed';
        readonly created_at: string;
        readonly completed_at: string;
      };
      readonly entries: readonly ProvenEvent[];
    };

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** The answer that a service would give, of any account or of the one that is named. */
async function askStore(
  { open }: CommandContext,
  sha256: string,
  email: string | undefined,
): Promise<Answer> {
  let answer: Answer = { known: false };
  await open.withOperator(async (api) => {
    const account = email === undefined ? undefined : await api.account(email);
    const found = await api.as(account?.id).verify(sha256);
    if (!found.known) return;
    const { id, status, created_at, completed_at } = found.conversion;
    answer = { ...found, conversion: { id, status, created_at, completed_at } };
  });
  return answer;
}

/** What the events say of the signature of the PDF, if it has one. */
interface SignedFacts {
  readonly signature?: { readonly level: string; readonly certificate: string };
}

/**
 * Holds the signature of the PDF against the one that the events name.
 * @throws {Error} it is another one
 */
async function signatureIn(
  path: string,
  entries: readonly ProvenEvent[],
): Promise<SignedFacts['signature']> {
  const events = entries.map(
    ({ event }) => JSON.parse(event) as { readonly type: string; readonly data: SignedFacts },
  );
  const signature = events.find(({ type }) => type === 'ConversionCompleted')?.data.signature;
  if (signature === undefined) return undefined;
  try {
    await mustBearSignature(path, await readFile(path), events);
    return signature;
  } catch (error) {
    if (!(error instanceof Difference)) throw error;
    const message = `The signature is not the one that the log names: ${error.message}.`;
    throw new Error(message, { cause: error });
  }
}

export const verifyPdf: Run = async (invocation, context) => {
  const [path = ''] = invocation.positionals;
  const email = textOption(invocation, 'account');
  const service = await findServiceUnlessAccount(invocation, context);
  await assertFile(path);
  const sha256 = await sha256Of(path);
  const answer: Answer = service
    ? await service.client.verify(sha256)
    : await askStore(context, sha256, email);
  context.output.json(answer);
  if (!answer.known) throw new Error(`${path} is not known: no conversion has made it.`);
  const signature = await signatureIn(path, answer.entries);
  const { id, created_at, completed_at } = answer.conversion;
  context.output.line(`${path} is the PDF of ${id}.`);
  context.output.line(`  requested ${created_at}, completed ${completed_at}`);
  context.output.line(
    `  proved by ${counted(answer.entries.length, 'event')} of the log; sha256 ${sha256}`,
  );
  if (signature === undefined) return;
  const { level, certificate } = signature;
  context.output.line(
    `  signed (PAdES ${level}) by the certificate with the SHA-256 ${certificate}`,
  );
};
