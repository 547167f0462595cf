/** Has the service sign a finished PDF: the renderer has no key, and sends the hash of what is signed. */
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { SignatureFacts } from '../../domain/event-fields.ts';
import type { FailedOutcome, SigningRequest } from '../../render-queue/messages.ts';
import type { RenderQueue } from '../../render-queue/port.ts';
import type { RenderResult } from '../messages.ts';

type Completed = Extract<RenderResult, { kind: 'completed' }>;
export type Signed = Completed & { readonly signed?: SignatureFacts };
type Unsigned = Pick<FailedOutcome, 'kind' | 'code' | 'message' | 'retryable'>;

/** Writes the signature into the file at `path`, which is then finished. */
export async function signFile(
  queue: Pick<RenderQueue, 'sign'>,
  about: Omit<SigningRequest, 'kind' | 'digest' | 'signer'>,
  result: Completed,
  { signer, ...place }: NonNullable<Completed['signature']>,
): Promise<Signed | Unsigned> {
  const { digestAround, fillSignature } = await import('../../pdf/signature.ts');
  const content = await readFile(result.path);
  const digest = digestAround(content, place).toString('hex');
  const answer = await queue.sign({
    ...about,
    kind: 'sign',
    digest,
    ...(signer !== undefined && { signer }),
  });
  if (answer.kind === 'unsigned') {
    const { message, retryable } = answer;
    return { kind: 'failed', code: 'not_signed', message, retryable };
  }
  if (!fillSignature(content, place, Buffer.from(answer.cms, 'base64'))) {
    const message = 'The signature is larger than the room that a PDF has for it.';
    return { kind: 'failed', code: 'not_signed', message, retryable: false };
  }
  await writeFile(result.path, content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { ...result, sha256, signed: answer.facts };
}
