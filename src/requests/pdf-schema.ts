/** The schema of `pdf` in a request: what is to be done with the PDF when it is printed. */
import Type, { type Static } from 'typebox';
import { INVOICE_PROFILES } from '../domain/invoice-profiles.ts';
import {
  CONFORMANCES,
  type PERMISSIONS,
  RELATIONSHIPS,
  ROTATIONS,
  STAMP_FITS,
} from '../domain/request-document.ts';
import { LENGTH, LENGTH_FORM } from './page-schema.ts';

const MAX_ATTACHMENTS = 50;
/** A file system takes no longer name, and a PDF no longer media type. */
const MAX_NAME_CHARACTERS = 200;
const MAX_TYPE_CHARACTERS = 127;
const MAX_DESCRIPTION_CHARACTERS = 1_000;

const Attachment = Type.Object(
  {
    filename: Type.String({
      minLength: 1,
      maxLength: MAX_NAME_CHARACTERS,
      description: 'The name of the file, without a path. Each has another one.',
      examples: ['hours.csv'],
    }),
    content: Type.String({
      contentEncoding: 'base64',
      description: 'The content of the file in base64.',
    }),
    type: Type.String({
      maxLength: MAX_TYPE_CHARACTERS,
      pattern: '^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$',
      description: 'The media type of the file.',
      examples: ['text/csv'],
    }),
    relationship: Type.Optional(
      Type.Enum([...RELATIONSHIPS], {
        default: 'Unspecified',
        description: 'What the file is to the document (AFRelationship).',
      }),
    ),
    description: Type.Optional(
      Type.String({
        maxLength: MAX_DESCRIPTION_CHARACTERS,
        description: 'What a reader shows beside the name.',
        examples: ['The hours that the invoice is about'],
      }),
    ),
  },
  { additionalProperties: false },
);

const Invoice = Type.Object(
  {
    xml: Type.String({
      minLength: 1,
      contentEncoding: 'base64',
      description: 'The invoice as XML (UN/CEFACT CII) in UTF-8, in base64.',
    }),
    profile: Type.Enum(Object.keys(INVOICE_PROFILES) as (keyof typeof INVOICE_PROFILES)[], {
      description: 'The profile that the XML names as its guideline.',
      examples: ['EN 16931'],
    }),
  },
  {
    additionalProperties: false,
    description:
      'Makes the PDF an electronic invoice (Factur-X, ZUGFeRD): it contains the XML, its metadata name the profile, and it conforms to PDF/A-3b unless another level of part 3 is asked for. The XML must be well-formed CII and name the guideline of the profile. It is not checked against the XML schema and the business rules of the profile, nor against the page, and no warning says that it breaks them: check it with a validator such as Mustang first.',
  },
);

const MAX_PASSWORD_CHARACTERS = 127;
const MAX_RANGES_CHARACTERS = 256;

export const PageRanges = Type.String({
  minLength: 1,
  maxLength: MAX_RANGES_CHARACTERS,
  description: 'Numbers of pages from 1, and ranges of them.',
  examples: ['1-5, 8'],
});

export const Rotation = Type.Enum([...ROTATIONS], { description: 'Degrees, clockwise.' });

const MAX_STAMP_CHARACTERS = 262_144;

export const Stamp = Type.Object(
  {
    html: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_STAMP_CHARACTERS,
        description:
          'HTML whose first page is laid over the page, without a background unless it has one. It cannot load anything: write styles into it, and images and fonts as data: URLs. Scripts do not run. Either html or image is required.',
        examples: ['<p style="font-size: 60pt; color: red; rotate: -30deg">Draft</p>'],
      }),
    ),
    image: Type.Optional(
      Type.String({
        minLength: 1,
        contentEncoding: 'base64',
        description: 'A PNG, JPEG or WebP in base64, laid over the middle of the page.',
      }),
    ),
    opacity: Type.Optional(Type.Number({ minimum: 0, maximum: 1, default: 1 })),
    pages: Type.Optional({ ...PageRanges, description: 'The pages to stamp; all if left out.' }),
    fit: Type.Optional(
      Type.Enum([...STAMP_FITS], {
        default: 'page',
        description:
          'page prints the stamp on paper of the size of each page, and scales it to the page if its style sheet names other paper. none leaves it as large as it is, in the middle of the page.',
        examples: ['none'],
      }),
    ),
  },
  { additionalProperties: false, description: 'A watermark or stamp on pages.' },
);

const Password = (whose: string) =>
  Type.Optional(
    Type.String({ minLength: 1, maxLength: MAX_PASSWORD_CHARACTERS, description: whose }),
  );

const PERMITTED: Readonly<Record<(typeof PERMISSIONS)[number], string>> = {
  print: 'Printing.',
  copy: 'Copying text and pictures.',
  modify: 'Changes that none of the others names.',
  annotate: 'Comments.',
  fill_forms: 'Filling in forms.',
  assemble: 'Adding, removing and turning pages.',
};
const permitted = (name: (typeof PERMISSIONS)[number]) =>
  Type.Optional(Type.Boolean({ default: true, description: PERMITTED[name] }));

export const Encrypt = Type.Object(
  {
    user_password: Password('Whoever opens the PDF needs it. Anybody can open it if left out.'),
    owner_password: Password(
      'Lifts the restrictions of permissions. Nobody can lift them if left out.',
    ),
    permissions: Type.Optional(
      Type.Object(
        {
          print: permitted('print'),
          copy: permitted('copy'),
          modify: permitted('modify'),
          annotate: permitted('annotate'),
          fill_forms: permitted('fill_forms'),
          assemble: permitted('assemble'),
        },
        {
          additionalProperties: false,
          description: 'What readers allow without the owner password.',
        },
      ),
    ),
  },
  {
    additionalProperties: false,
    description: 'Encrypts the PDF (AES, 256 bits). It needs a password, or two.',
  },
);

const MAX_SIGNATURE_TEXT = 200;
const SignatureText = (description: string, example: string) =>
  Type.Optional(
    Type.String({ minLength: 1, maxLength: MAX_SIGNATURE_TEXT, description, examples: [example] }),
  );

const MAX_PAGE = 100_000;
const FieldLength = (description: string, example: string) =>
  Type.String({ ...LENGTH, description, examples: [example] });

const SignatureField = Type.Object(
  {
    page: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_PAGE,
        description:
          'The number of the page in the finished PDF, from 1; the last page if left out.',
        examples: [1],
      }),
    ),
    x: FieldLength('From the left edge of the page as it is shown, written like a margin.', '25mm'),
    y: FieldLength('From its top edge.', '230mm'),
    width: FieldLength('At least 20mm.', '80mm'),
    height: FieldLength('At least 5mm.', '25mm'),
  },
  {
    additionalProperties: false,
    description:
      'Where the signature can be seen. The field shows the name of the signer, the time in UTC, the reason and the location, in letters as large as fit.',
  },
);

const Sign = Type.Union(
  [
    Type.Boolean(),
    Type.Object(
      {
        reason: SignatureText('Why it is signed, as readers show it.', 'Approved'),
        location: SignatureText('Where it is signed.', 'Berlin'),
        field: Type.Optional(SignatureField),
      },
      { additionalProperties: false },
    ),
  ],
  {
    description:
      'Signs the PDF with the certificate of the account, else that of the service (PAdES B-B; B-T where the service has a timestamp authority). It comes after all else.',
    examples: [true],
  },
);

export const Pdf = Type.Object(
  {
    conformance: Type.Optional(
      Type.Array(Type.Enum([...CONFORMANCES]), {
        maxItems: CONFORMANCES.length,
        description:
          'What the PDF is to conform to: one part and level of PDF/A, PDF/UA-1, or both. A document that cannot conform fails, and the message says why and where.',
        examples: [['pdfa-3b', 'pdfua-1']],
      }),
    ),
    conformance_required: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'Fail if the document cannot conform. If false, the PDF is made all the same: its warnings say why, and pdf.conformance of the conversion has what it conforms to.',
      }),
    ),
    attachments: Type.Optional(
      Type.Array(Attachment, {
        maxItems: MAX_ATTACHMENTS,
        description: 'Files that lie within the PDF. PDF/A allows them in part 3.',
      }),
    ),
    invoice: Type.Optional(Invoice),
    verify_link: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Print a link and a QR code in the bottom margin of each page. They lead to the page where anybody can check the PDF, if this deployment has it.',
      }),
    ),
    pages: Type.Optional({
      ...PageRanges,
      description:
        'The pages to keep, in this order. Unlike page_ranges, which prints these pages only, it drops the tags of the document.',
    }),
    rotate: Type.Optional({ ...Rotation, description: 'Degrees to turn all pages, clockwise.' }),
    stamp: Type.Optional(Stamp),
    encrypt: Type.Optional(Encrypt),
    sign: Type.Optional(Sign),
    optimize: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Make the PDF smaller, and linearise it, so that its first page shows early.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'What is done with the PDF when it is printed.',
  },
);

export const PDF_FORMS = {
  'pdf.attachments.*.type': 'Must be a media type, such as text/csv.',
  'pdf.sign.field.x': LENGTH_FORM,
  'pdf.sign.field.y': LENGTH_FORM,
  'pdf.sign.field.width': LENGTH_FORM,
  'pdf.sign.field.height': LENGTH_FORM,
} as const;

export type Pdf = Static<typeof Pdf>;
