import { Readable } from 'node:stream';
import Type from 'typebox';
import { conversionQueries } from '../../../projections/conversions.ts';
import { gatherEvidence } from '../../conversions/evidence/gather.ts';
import { proofOfConversion } from '../../log/transparency-log.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { compile } from '../../requests/validation.ts';
import { accountInView, callerOf, pathParameter, readerOf, seesTestsOnly } from '../context.ts';
import { recordLookOfAll } from '../operator.ts';
import { Closed, Flag, Text } from '../openapi/fields.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { Conversion, completed } from './conversion-record.api.ts';
import { ownConversion, recordOf } from './conversions.ts';
import { countDownload, recordDownload } from './files.ts';
import { PROVEN_EVENT, ProvenEvent } from './transparency-log.ts';

const SHA_256 = 'a2a90d44cebfe23183b58f43f6207c819b70e0cb6d3304d93104d9173d7a7978';

/** The body of `POST /verify/`. */
export const VerifyRequest = Closed({
  sha256: Text(SHA_256, 'The SHA-256 of the PDF in hexadecimal digits.', {
    pattern: '^[0-9A-Fa-f]{64}$',
  }),
});

/** The answer of `POST /verify/`. */
export const Verification = Closed({
  known: Flag('true if a conversion of the account made exactly this PDF.', true),
  conversion: Type.Optional(Conversion),
  entries: Type.Optional(
    Type.Array(ProvenEvent, { description: 'The events of the conversion, in order.' }),
  ),
});

export const checkVerifyRequest = compile(VerifyRequest, {
  sha256: 'Must be the SHA-256 of a file: 64 hexadecimal digits.',
});

/** Tells the account whether a PDF is one of its own, and proves it. */
export const verifyPdf: Endpoint = {
  doc: {
    id: 'verifyPdf',
    tag: 'Conversions',
    summary: 'Verify a PDF',
    description:
      'Tells whether a conversion of the account made the PDF with this SHA-256, when, and proves it: the events of that conversion, as the transparency log has them, name the PDF and its request. If several conversions made the same bytes, the answer is about the first. The PDF itself is not sent.',
    body: { schema: VerifyRequest },
    answers: {
      200: {
        description: 'Only known, if it is false; else also the conversion and its proof.',
        schema: Verification,
        examples: {
          known: { known: true, conversion: completed, entries: [PROVEN_EVENT] },
          unknown: { known: false },
        },
      },
    },
  },
  handler: (deps) => async (ctx) => {
    const { sha256 } = await deps.bodies.readSmall(ctx, deps.config, checkVerifyRequest);
    const conversions = await consistentQuery(deps, conversionQueries, ctx.state.asOf);
    const row = conversions.byPdf(sha256.toLowerCase(), accountInView(ctx), seesTestsOnly(ctx));
    if (row === undefined) {
      ctx.body = { known: false };
      return;
    }
    await recordLookOfAll(ctx, deps, row);
    const { entries } = await proofOfConversion(deps, row.id);
    ctx.body = { known: true, conversion: await recordOf(ctx, deps, row), entries };
  },
};

/** Sends the bundle of evidence. It has the PDF, if there is one, so that is a download too. */
export const getEvidence: Endpoint = {
  doc: {
    id: 'getEvidence',
    tag: 'Conversions',
    summary: 'Download the evidence of a conversion',
    description:
      'One ZIP file that proves what happened to the conversion without this service: its events with proofs, the signed checkpoint, the PDF, the request, the manifest, a report to read, and a text that says how to check it. It has what is still stored, and says what is not. An API key does not get a request that holds headers, cookies or passwords, and an auditor gets no document unless an owner has granted it. It counts as a download of the PDF.',
    answers: {
      200: {
        description: 'The bundle.',
        media: 'application/zip',
        headers: ['Content-Disposition'],
      },
    },
    errors: {
      rate_limit_exceeded:
        'More requests than a minute allows, or too many downloads of this address at a time.',
    },
  },
  handler: (deps) => async (ctx) => {
    const conversionId = pathParameter(ctx, 'id');
    const { accountId } = await ownConversion(ctx, deps, conversionId, ctx.state.asOf);
    countDownload(ctx, deps, accountId);
    const { bytes, open, isDelivered } = await gatherEvidence(deps, conversionId, {
      // As of the request alone.
      maySeeSecrets: callerOf(ctx).actor.kind !== 'key',
      ...readerOf(ctx),
    });
    const isSent = ctx.method !== 'HEAD';
    // Before the first byte, as for the PDF alone.
    if (isSent && isDelivered) {
      await recordDownload(ctx, deps, { accountId, conversionId });
    }
    ctx.status = 200;
    ctx.set('Cache-Control', 'private, no-cache');
    ctx.attachment(`${conversionId}.evidence.zip`);
    if (isSent) ctx.body = Readable.from(open(), { objectMode: false });
    ctx.type = 'application/zip';
    ctx.length = bytes;
  },
};
