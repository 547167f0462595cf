import Type from 'typebox';
import type { OperationDoc, ParameterDoc } from '../openapi/operation.ts';

// Optional headers and queries have no examples: the reference page would send those with each request.

/** What a request for a PDF may say of it, with either credential. */
export const FILE_PARAMETERS: readonly ParameterDoc[] = [
  {
    name: 'disposition',
    in: 'query',
    description: 'inline has a browser show the PDF, and not save it.',
    schema: Type.Enum(['attachment', 'inline'], { default: 'attachment' }),
  },
  {
    name: 'Range',
    in: 'header',
    description: 'One range of bytes, such as bytes=0-1023 (RFC 9110, section 14).',
    schema: Type.String(),
  },
  {
    name: 'If-None-Match',
    in: 'header',
    description: 'The ETag of a copy that is there already.',
    schema: Type.String(),
  },
  {
    name: 'If-Range',
    in: 'header',
    description: 'The ETag of the copy that Range is to go on with.',
    schema: Type.String(),
  },
];

export const FILE_ANSWERS: OperationDoc['answers'] = {
  200: {
    description: 'The PDF.',
    media: 'application/pdf',
    headers: ['Content-Disposition', 'ETag', 'Accept-Ranges'],
  },
  206: {
    description: 'The part that Range asked for.',
    media: 'application/pdf',
    headers: ['Content-Disposition', 'Content-Range', 'ETag', 'Accept-Ranges'],
  },
  304: { description: 'The copy is the same. No body.', headers: ['ETag'] },
};

export const FILE_ERRORS: NonNullable<OperationDoc['errors']> = {
  validation_error: {
    when: 'The disposition is neither attachment nor inline.',
    message: 'disposition: Must be attachment or inline.',
    details: { disposition: ['Must be attachment or inline.'] },
  },
  gone: { when: 'The file was deleted when its retention ended, or its account was erased.' },
  range_not_satisfiable: {
    when: 'The file does not have this range of bytes.',
    headers: ['Content-Range'],
  },
};

export const getFileDoc: OperationDoc = {
  id: 'getFile',
  tag: 'Conversions',
  summary: 'Download the PDF',
  description:
    'Its address is the `file_url` of the completed record, and the token in it is the credential. A wrong link counts against the client’s address. A good one counts in a window of its own, for downloads from that address, which the rate limit headers do not show.',
  parameters: [
    {
      name: 'id',
      in: 'path',
      description: 'The conversion’s id.',
      schema: Type.String({ examples: ['conv_06f3k8r1v2w9x4y5z6a7b8c9d0'] }),
    },
    {
      name: 'token',
      in: 'query',
      required: true,
      description: 'As file_url has it.',
      schema: Type.String({ examples: ['v4.public.eyJzdWIi'] }),
    },
    ...FILE_PARAMETERS,
  ],
  answers: FILE_ANSWERS,
  errors: {
    ...FILE_ERRORS,
    forbidden: {
      when: 'The link is wrong, altered or has expired: read the record for a fresh one.',
    },
    not_found: { when: 'There is no file under this id.', message: 'There is no such file.' },
    rate_limit_exceeded: {
      when: 'Too many wrong links from this address, or more downloads than its share, in a minute or at a time.',
    },
  },
};
