/** `verify-pdf`: whether the service made a PDF. Only the PDF's hash leaves this machine. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { assertFile, type CommandContext, type Run, textOption } from './command.ts';
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
  const { id, created_at, completed_at } = answer.conversion;
  context.output.line(`${path} is the PDF of ${id}.`);
  context.output.line(`  requested ${created_at}, completed ${completed_at}`);
  context.output.line(`  proved by ${answer.entries.length} events of the log; sha256 ${sha256}`);
};
