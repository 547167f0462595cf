/**
 * Checks that a message is a job. Renderers share an account at the server, and one that was taken over
 * could send another something that looks like a job. The ids of a job become parts of paths there.
 */
import Type from 'typebox';
import { Compile } from 'typebox/schema';
import { blobKey } from '../domain/blob-key.ts';
import { LAST_ATTEMPT } from '../domain/conversion.ts';
import { AccountId, BlobRef, ConversionId, PrintOptions } from '../domain/events.ts';
import type { RenderJob } from './messages.ts';
import { parseJson } from './parse-json.ts';

const JOB = Compile(
  Type.Object(
    {
      conversionId: ConversionId,
      accountId: AccountId,
      request: BlobRef,
      contentKey: Type.String({ pattern: '^[0-9A-Za-z_-]{43}$' }),
      options: PrintOptions,
      attempt: Type.Integer({ minimum: 1, maximum: LAST_ATTEMPT }),
    },
    { additionalProperties: false },
  ),
);

/** @returns nothing where it is not a job, or one that asks for another conversion's document */
export function parseJob(data: Uint8Array): RenderJob | undefined {
  try {
    const job = parseJson(data);
    if (!JOB.Check(job)) return undefined;
    const { conversionId, request } = job;
    return request.key === blobKey(conversionId, 'request', request.sha256) ? job : undefined;
  } catch {
    return undefined;
  }
}
