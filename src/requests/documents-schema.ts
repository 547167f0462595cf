/** The schema of the body of `POST /documents/`. */
import Type, { type Static, type TProperties } from 'typebox';
import { CONVERSION_ID } from '../domain/ids.ts';
import { STEP_TYPES } from '../domain/request-document.ts';
import { Encrypt, PageRanges, Pdf, Rotation, Stamp } from './pdf-schema.ts';
import { ConversionRequest } from './schema.ts';

export const MAX_SOURCES = 100;
const MAX_STEPS = 20;
export const MAX_PARTS = 100;

const Closed = <P extends TProperties>(properties: P, description: string) =>
  Type.Object(properties, { additionalProperties: false, description });

export const Source = Closed(
  {
    file: Type.Optional(
      Type.String({ contentEncoding: 'base64', description: 'A PDF in base64.' }),
    ),
    conversion: Type.Optional(
      Type.String({
        pattern: `^${CONVERSION_ID}$`,
        description: 'The id of a completed conversion, whose PDF is taken.',
        examples: ['conv_06f3k8r1v2w9x4y5z6a7b8c9d0'],
      }),
    ),
    password: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 127,
        description: 'It opens a PDF that is encrypted.',
      }),
    ),
  },
  'A PDF: either file or conversion is required. In a form one without both is the next part named files.',
);

const { metadata } = ConversionRequest.properties;
const { title, author, subject, keywords } = metadata.properties;
const { user_password, owner_password, permissions } = Encrypt.properties;

/** One object for all types: generators of clients make empty classes of a union. */
export const Step = Closed(
  {
    type: Type.Enum([...STEP_TYPES, 'split'], {
      description:
        'merge joins the sources and is the first; pages keeps pages in this order; rotate turns pages; stamp lays HTML or a picture over pages; attach adds files; metadata sets document properties; encrypt needs a password; optimize makes the PDF smaller and linear; split makes a conversion of each part.',
      examples: ['rotate'],
    }),
    pages: Type.Optional({
      ...PageRanges,
      description:
        'Of pages: those to keep. Of rotate and stamp: those that are meant; all if left out.',
    }),
    rotate: Type.Optional({ ...Rotation, description: 'Of rotate: degrees, clockwise.' }),
    html: Type.Optional({
      ...Stamp.properties.html,
      description: 'Of stamp: HTML, as pdf.stamp has it.',
    }),
    image: Type.Optional({
      ...Stamp.properties.image,
      description: 'Of stamp: a picture, as pdf.stamp has it.',
    }),
    opacity: Type.Optional({ ...Stamp.properties.opacity, description: 'Of stamp: from 0 to 1.' }),
    fit: Type.Optional({
      ...Stamp.properties.fit,
      description: 'Of stamp: page or none, as pdf.stamp has it.',
    }),
    attachments: Pdf.properties.attachments,
    title,
    author,
    subject,
    keywords,
    user_password,
    owner_password,
    permissions,
    parts: Type.Optional(
      Type.Array(PageRanges, {
        minItems: 1,
        maxItems: MAX_PARTS,
        description: 'Of split: the pages of each part.',
        examples: [['1-2', '3-4']],
      }),
    ),
  },
  'One step of the work. Its type says which of the other fields it has.',
);

const { filename, reference, tags, webhook_url, retention_seconds, priority } =
  ConversionRequest.properties;

export const DocumentRequest = Type.Object(
  {
    sources: Type.Array(Source, {
      minItems: 1,
      maxItems: MAX_SOURCES,
      description: 'The PDFs. Several are joined in this order.',
    }),
    steps: Type.Optional(
      Type.Array(Step, {
        maxItems: MAX_STEPS,
        description: 'What is done, in this order. encrypt, optimize and split come last.',
      }),
    ),
    filename,
    reference,
    tags,
    webhook_url,
    retention_seconds,
    priority,
    pdf: Type.Optional(
      Closed({ sign: Pdf.properties.sign }, 'What the result is to be, after all steps.'),
    ),
  },
  { additionalProperties: false },
);

/** As it is stored. */
export const StoredWork = Type.Optional(
  Closed(
    { sources: DocumentRequest.properties.sources, steps: DocumentRequest.properties.steps },
    'The PDFs and the steps of work on documents.',
  ),
);

export type DocumentRequest = Static<typeof DocumentRequest>;
export type StepRequest = NonNullable<DocumentRequest['steps']>[number];
