import { ConversionRequest } from '../../requests/schema.ts';
import { AS_OF, WRONG_MOMENT } from '../as-of.ts';
import { idempotencyKeyParameter } from '../idempotency-key.ts';
import { JSON_OR_FORM } from '../middleware/body.ts';
import { inHeader, type OperationDoc, type ParameterDoc } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOfItems } from '../pagination.ts';
import { testParameter } from '../test-query.ts';
import { MAX_WAIT_SECONDS } from '../waiting.ts';
import { CONVERSION_FILTER_PARAMETERS } from './conversion-filter.ts';
import {
  Conversion,
  completed,
  failed,
  ID,
  pending,
  processing,
  shownName as name,
} from './conversion-record.api.ts';
import { FILE_ANSWERS, FILE_ERRORS, FILE_PARAMETERS } from './files.api.ts';

// Optional headers have no examples: the reference page would send those with each request.

export const prefer = (more = ''): ParameterDoc =>
  inHeader(
    'Prefer',
    `Waits for the end of the conversion: wait=30 delays the response until then, by at most 30 seconds (RFC 7240). The longest wait is ${MAX_WAIT_SECONDS} seconds. ${more}`.trim(),
  );

const HTML = { html: '<h1>Invoice 4711</h1>', page_size: 'A4' };

/** The answers to a request for a conversion. */
export const REQUESTED = {
  200: {
    description:
      'The conversion ended within the time of Prefer: wait. The body is the conversion, or the PDF (application/pdf) if the client accepts that.',
    schema: Conversion,
    examples: { completed, failed },
    media: 'application/pdf',
    headers: ['Location', 'Preference-Applied', 'Idempotent-Replayed', 'X-Conversion-Warnings'],
  },
  202: {
    description:
      'The request was accepted and stored. The status is pending, and the response has no fields but id, status and created_at.',
    // The same as of 200: generators of clients take one type for all successes, or throw the others.
    schema: Conversion,
    examples: { pending },
    headers: ['Location', 'Retry-After', 'Preference-Applied', 'Idempotent-Replayed'],
  },
} satisfies OperationDoc['answers'];

export const createConversionDoc: OperationDoc = {
  id: 'createConversion',
  tag: 'Conversions',
  summary: 'Create a conversion',
  description:
    'Converts HTML or a web page to a PDF. The response comes at once; the PDF is made afterwards: retrieve the conversion until its status is completed or failed. A conversion costs one credit, which is refunded if it fails. To get the PDF with this one request, send `Prefer: wait=30` and `Accept: application/pdf`. To send style sheets, images, fonts or scripts with the page, use `files`, or send a form: parts named `files` with their file names, one of them `index.html`, and each option as a field.',
  parameters: [
    idempotencyKeyParameter('gets the same response, and no further credit is taken'),
    prefer(
      'With Accept: application/pdf, the response is the PDF itself. If the conversion takes longer, the response is 202 and the conversion goes on.',
    ),
    testParameter,
  ],
  body: {
    schema: ConversionRequest,
    form: 'The page as a part named files with the file name index.html, header_html and footer_html as header.html and footer.html if wanted, and the files that it refers to by relative URLs as further parts named files, with these as file names: curl names a file without its folders, so say files=@img/logo.png;filename=img/logo.png. Each other field of ConversionRequest is a part of its name, a list or object as JSON.',
    sample: { ...HTML, filename: 'Invoice 4711' },
    examples: {
      html: HTML,
      files: {
        html: '<link rel="stylesheet" href="style.css"><h1>Invoice 4711</h1>',
        files: { 'style.css': 'aDEgeyBjb2xvcjogdGVhbCB9' },
      },
      url: { url: 'https://example.com/', landscape: true, print_background: true },
      options: {
        html: '<h1>Report</h1><h2>Figures</h2>',
        margin_top: '25mm',
        footer_html:
          '<span style="font-size: 8pt"><span class="pageNumber"></span>/<span class="totalPages"></span></span>',
        outline: true,
        metadata: { title: 'Report', keywords: ['figures', '2026'] },
      },
    },
  },
  answers: REQUESTED,
  errors: {
    validation_error: {
      when: 'The body is not a JSON object, a field or the Idempotency-Key is invalid, or a query parameter is unknown. details lists all of them.',
      message: 'scale: Must be at most 2. See details for one more field.',
      details: {
        scale: ['Must be at most 2.'],
        pageSize: ['Is not a known field. Did you mean page_size?'],
      },
    },
    insufficient_credits:
      'The account has no credits left, or the API key has used all of its own for this month.',
    conversion_failed: {
      when: 'The request waited for the PDF, and the conversion failed. The credit is refunded.',
      message: 'The page answered with status 404.',
    },
    gone: 'The PDF of an earlier request with this Idempotency-Key has been deleted.',
    payload_too_large: {
      when: 'The body or its html is larger than the service accepts.',
      message: 'The request body is larger than 10 MiB, the most that is accepted.',
    },
    unsupported_media_type: {
      when: 'The body is neither application/json in UTF-8 nor multipart/form-data, or it is compressed.',
      message: JSON_OR_FORM,
    },
    rate_limit_exceeded:
      'The rate limit was exceeded; the documents of the account use all of its storage; its unfinished conversions take its share of the queue; or it asks for work on the PDF (`pdf`), and such work that failed has taken all the time of a minute that it may.',
  },
};

export const getConversionDoc: OperationDoc = {
  id: 'getConversion',
  tag: 'Conversions',
  summary: 'Retrieve a conversion',
  description:
    'Retrieve it once a second until `status` is `completed` or `failed`, or send `Prefer: wait` to get the response when the conversion has ended. Most conversions take a few seconds. With `as_of`, the response is the conversion as it was then; `file_url` is a link to the file as it is now, which may have been deleted since.',
  parameters: [prefer('It has no effect with as_of.'), AS_OF],
  answers: {
    200: {
      description: 'The conversion. Its status decides which fields it has.',
      schema: Conversion,
      examples: { pending, processing, completed, failed },
      headers: ['Preference-Applied', 'Pressledger-As-Of'],
    },
  },
  errors: {
    validation_error: WRONG_MOMENT,
    not_found: {
      when: 'The account has no conversion with this id, or had none at the moment of as_of.',
      message: 'There is no such conversion.',
    },
  },
};

export const getConversionFileDoc: OperationDoc = {
  id: 'getConversionFile',
  tag: 'Conversions',
  summary: 'Download the PDF of a conversion',
  description:
    'The same file as at `file_url`, with the credential of the account. `Prefer: wait` waits until it is there.',
  parameters: [prefer(), ...FILE_PARAMETERS],
  answers: FILE_ANSWERS,
  errors: {
    ...FILE_ERRORS,
    not_ready: 'The conversion has not ended yet.',
    conversion_failed: {
      when: 'The conversion has failed: the message says why.',
      message: 'The page answered with status 404.',
    },
    rate_limit_exceeded:
      'More requests than a minute allows, or too many downloads of this address at a time.',
  },
};

export const listConversionsDoc: OperationDoc = {
  id: 'listConversions',
  tag: 'Conversions',
  summary: 'List conversions',
  description:
    'All conversions of the account, newest first unless order is oldest, or those that all given filters let through. With `Accept: text/csv`, the response is all of these as one table, whatever the page.',
  parameters: [...PAGE_PARAMETERS, ...CONVERSION_FILTER_PARAMETERS, AS_OF],
  answers: {
    200: {
      ...pageOfItems(Conversion, ['Pressledger-As-Of']),
      description: 'One page of the list.',
      examples: {
        conversions: [pending, processing, failed, completed].map((record, n) => ({
          ...record,
          id: `${ID.slice(0, -1)}${3 - n}`,
          name,
        })),
      },
      media: 'text/csv',
    },
  },
};
