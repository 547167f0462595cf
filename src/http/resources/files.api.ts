import Type from 'typebox';
import { FORMATS } from '../../domain/choices.ts';
import { Text } from '../openapi/fields.ts';
import {
  inHeader,
  inQuery,
  type OperationDoc,
  type ParameterDoc,
  wrongField,
} from '../openapi/operation.ts';

export const WRONG_LINK =
  'The link is not valid or has expired. Read the conversion again for a fresh one.';

export const WRONG_SHARE_LINK =
  'The link is not valid, was revoked or has expired. Ask for a new one where it came from.';

// Optional headers and queries have no examples: the reference page would send those with each request.

/** The parameters of a request for a PDF, with either credential. */
export const FILE_PARAMETERS: readonly ParameterDoc[] = [
  inQuery(
    'disposition',
    'inline: a browser shows the PDF; attachment: it saves the PDF.',
    Type.Enum(['attachment', 'inline'], { default: 'attachment' }),
  ),
  inHeader('Range', 'The range of bytes to send, such as bytes=0-1023 (RFC 9110, section 14).'),
  inHeader(
    'If-None-Match',
    'The ETag of a copy that the client has. If it is current, the response is 304.',
  ),
  inHeader(
    'If-Range',
    'The ETag of the copy that Range continues. If it is not current, the whole file is sent.',
  ),
];

export const FILE_ANSWERS: OperationDoc['answers'] = {
  200: {
    description: 'The PDF.',
    media: 'application/pdf',
    headers: ['Content-Disposition', 'ETag', 'Accept-Ranges', 'X-Conversion-Warnings'],
  },
  206: {
    description: 'The range that was requested.',
    media: 'application/pdf',
    headers: ['Content-Disposition', 'Content-Range', 'ETag', 'Accept-Ranges'],
  },
  304: { description: 'The copy is current. There is no body.', headers: ['ETag'] },
};

export const FILE_ERRORS: NonNullable<OperationDoc['errors']> = {
  validation_error: wrongField(
    'disposition',
    'Must be attachment or inline.',
    'The disposition is neither attachment nor inline.',
  ),
  gone: 'The file was deleted at the end of its retention period, or its account was erased.',
  range_not_satisfiable: {
    when: 'The range is outside the file.',
    headers: ['Content-Range'],
  },
};

const TOO_MANY_DOWNLOADS =
  'Too many wrong links from this address, too many downloads in a minute, or too many at the same time.';

export const getFileDoc: OperationDoc = {
  id: 'downloadFile',
  tag: 'Conversions',
  summary: 'Download a PDF by its link',
  description:
    'The link is the `file_url` of a completed conversion; its token is the credential. Wrong links count towards the rate limit of the client’s address. Downloads have a limit of their own, which the rate limit headers do not show.',
  parameters: [
    {
      name: 'format',
      in: 'path',
      required: true,
      // Not an enum: NSwag would make a type with the name Format of it.
      description: `The format of the file, as file_url has it: ${FORMATS.join(', ')}.`,
      schema: Text('pdf'),
    },
    {
      name: 'token',
      in: 'query',
      required: true,
      description: 'The token in file_url.',
      schema: Text('v4.public.eyJzdWIi'),
    },
    ...FILE_PARAMETERS,
  ],
  answers: FILE_ANSWERS,
  errors: {
    ...FILE_ERRORS,
    forbidden: {
      when: 'The link is wrong, altered or expired. Retrieve the conversion for a new one.',
      message: WRONG_LINK,
    },
    rate_limit_exceeded: TOO_MANY_DOWNLOADS,
  },
};

export const getSharedFileDoc: OperationDoc = {
  id: 'downloadSharedFile',
  tag: 'Conversions',
  summary: 'Download a file by a short link',
  description:
    'The link is the url that POST /conversions/{id}/links/ returned; it is the credential. Wrong links and downloads are counted as with file_url.',
  parameters: [
    {
      name: 'token',
      in: 'path',
      required: true,
      description: 'The secret in the link.',
      schema: Text('4kXw8Zr2Tq9mBv7Jc1Hs6N'),
    },
    ...FILE_PARAMETERS,
  ],
  answers: FILE_ANSWERS,
  errors: {
    ...FILE_ERRORS,
    forbidden: {
      when: 'The link is wrong, was revoked or has expired.',
      message: WRONG_SHARE_LINK,
    },
    gone: 'The file was deleted before the link expired, or its account was erased.',
    rate_limit_exceeded: TOO_MANY_DOWNLOADS,
  },
};
