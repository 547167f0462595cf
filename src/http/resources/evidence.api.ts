import Type from 'typebox';
import type { OperationDoc } from '../openapi/operation.ts';
import { Conversion, completed } from './conversions.api.ts';
import { PROVEN_EVENT, ProvenEvent } from './transparency-log.api.ts';

const closed = { additionalProperties: false } as const;
const SHA_256 = 'a2a90d44cebfe23183b58f43f6207c819b70e0cb6d3304d93104d9173d7a7978';

/** The body of `POST /verify/`. */
export const VerifyRequest = Type.Object(
  {
    sha256: Type.String({
      pattern: '^[0-9A-Fa-f]{64}$',
      description: 'The SHA-256 of the PDF in hexadecimal digits.',
      examples: [SHA_256],
    }),
  },
  closed,
);

/** The answer of `POST /verify/`. */
export const Verification = Type.Object(
  {
    known: Type.Boolean({
      description: 'true if a conversion of the account made exactly this PDF.',
      examples: [true],
    }),
    conversion: Type.Optional(Conversion),
    entries: Type.Optional(
      Type.Array(ProvenEvent, { description: 'The events of the conversion, in order.' }),
    ),
  },
  closed,
);

export const verifyPdfDoc: OperationDoc = {
  id: 'verifyPdf',
  tag: 'Conversions',
  summary: 'Verify a PDF',
  description:
    'Tells whether a conversion of the account made the PDF with this SHA-256, when, and proves it: the events of that conversion, as the transparency log has them, name the PDF and its request. If several conversions made the same bytes, the answer is about the first. The PDF itself is not sent.',
  body: { schema: VerifyRequest, examples: { pdf: { sha256: SHA_256 } } },
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
};

export const getEvidenceDoc: OperationDoc = {
  id: 'getEvidence',
  tag: 'Conversions',
  summary: 'Download the evidence of a conversion',
  description:
    'One ZIP file that proves what happened to the conversion without this service: its events with proofs, the signed checkpoint, the PDF, the request, the manifest, a report to read, and a text that says how to check it. It has what is still stored, and says what is not. It counts as a download of the PDF.',
  parameters: [
    {
      name: 'id',
      in: 'path',
      description: 'The id of the conversion.',
      schema: Type.String({ examples: ['conv_06f3k8r1v2w9x4y5z6a7b8c9d0'] }),
    },
  ],
  answers: {
    200: {
      description: 'The bundle.',
      media: 'application/zip',
      headers: ['Content-Disposition'],
    },
  },
  errors: {
    not_found: {
      when: 'The account has no conversion with this id.',
      message: 'There is no such conversion.',
    },
    rate_limit_exceeded: {
      when: 'More requests than a minute allows, or too many downloads of this address at a time.',
    },
  },
};
