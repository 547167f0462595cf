import Type from 'typebox';
import { CONVERSION } from '../openapi/fields.ts';
import { inQuery, type OperationDoc, wrongField } from '../openapi/operation.ts';

/** As many as a page of the list has. */
export const MAX_ZIPPED = 100;

export const NO_PDF = 'None of the conversions has a PDF: all have failed.';
export const NONE_READY = 'None of the conversions has completed yet. Ask again when one has.';
export const DELETED = 'The PDFs of the conversions are deleted.';
export const TOO_LARGE =
  'The PDFs have more than 4 GB together, which one ZIP file does not hold. Download them one by one.';
export const WRONG_ZIPPED = `Must be given 1 to ${MAX_ZIPPED} times, each time the id of a conversion.`;

export const ZIP_ANSWERS: OperationDoc['answers'] = {
  200: {
    description: 'The ZIP file.',
    media: 'application/zip',
    headers: ['Content-Disposition'],
  },
};

export const ZIP_ERRORS: NonNullable<OperationDoc['errors']> = {
  conversion_failed: { when: 'All of the conversions failed.', message: NO_PDF },
  gone: { when: 'All of the PDFs are deleted.', message: DELETED },
  payload_too_large: { when: 'The PDFs are more than a ZIP file holds.', message: TOO_LARGE },
  rate_limit_exceeded:
    'More requests than a minute allows, or too many downloads of this address at a time.',
};

export const getConversionsZipDoc: OperationDoc = {
  id: 'getConversionsZip',
  tag: 'Conversions',
  summary: 'Download the PDFs of several conversions',
  description:
    'One ZIP file with the PDF of each named conversion that completed, named by its filename, else by its id. It counts as a download of each. Those that have no PDF, or none any more, are left out.',
  parameters: [
    {
      ...inQuery(
        'id',
        `The id of a conversion. Give it once for each, at most ${MAX_ZIPPED} times.`,
        Type.Array(Type.String(), { minItems: 1, maxItems: MAX_ZIPPED, examples: [[CONVERSION]] }),
      ),
      required: true,
    },
  ],
  answers: ZIP_ANSWERS,
  errors: {
    ...ZIP_ERRORS,
    validation_error: wrongField('id', WRONG_ZIPPED, 'A query parameter is unknown or invalid.'),
    not_found: {
      when: 'The account has no conversion of one of the ids. Nothing is sent.',
      message: 'There is no such conversion.',
    },
    not_ready: { when: 'None of the conversions has completed yet.', message: NONE_READY },
  },
};
