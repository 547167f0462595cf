/** The documents of the template routes. */
import Type from 'typebox';
import {
  MAX_BYTES_A_DAY,
  MAX_CONTENT_BYTES,
  MAX_TEMPLATES,
  MAX_VERSIONS,
} from '../../domain/templates.ts';
import {
  PreviewRequest,
  SavedPreviewRequest,
  TEMPLATE_FIELDS,
  TemplateChange,
  TemplateName,
  TemplateRequest,
  TemplateVersionRequest,
} from '../../requests/template-schema.ts';
import { Closed, Count, example, TEMPLATE, Text, Timestamp } from '../openapi/fields.ts';
import { type OperationDoc, type ParameterDoc, wrongField } from '../openapi/operation.ts';
import { PAGE_PARAMETERS, pageOfItems } from '../pagination.ts';

/** One item of `GET /templates/`. */
export const Template = Closed({
  id: Text(TEMPLATE),
  name: TemplateName,
  version: Count('The newest version.', 3, 1),
  created_at: Timestamp('The time when the template was created.'),
  updated_at: Timestamp('The time when it was last saved or renamed.'),
});

const VERSION_FIELDS = {
  version: Count('The number of the version, from 1.', 3, 1),
  bytes: Count('The size of what it holds, as JSON.', 2048, 1),
  saved_at: Timestamp('The time when it was saved.'),
  saved_by: Type.Optional(
    Text('Ada Lovelace', 'What the person is called who saved it, or who made the key that did.'),
  ),
};

/** One item of `GET /templates/{id}/versions/`. */
export const TemplateVersion = Closed(VERSION_FIELDS);

/** The answer of `GET /templates/{id}/versions/{version}/`. */
export const TemplateContent = Closed({ ...VERSION_FIELDS, ...TEMPLATE_FIELDS });

/** The answer of a preview. */
export const TemplatePreview = Closed({
  html: Text('<h1>Invoice 4711</h1>', 'The HTML that the template makes of the data.'),
  header_html: Type.Optional(Text('<p>4711</p>', 'The same of header_html, if there is one.')),
  footer_html: Type.Optional(Text('<p>4711</p>', 'The same of footer_html, if there is one.')),
});

const versionParameter: ParameterDoc = {
  name: 'version',
  in: 'path',
  description: 'The number of the version.',
  schema: Count('The number of the version.', 3, 1),
};

const WRONG_TEXT = wrongField(
  'html',
  'Line 3, column 5: undefined filter: mony.',
  `A text is not Liquid, the sample does not fit the schema, or fields are missing, unknown or invalid; or the account has ${MAX_TEMPLATES} templates, the template ${MAX_VERSIONS} versions, or more than ${MAX_BYTES_A_DAY} bytes were saved in a day.`,
);
const WRONG_DATA = wrongField(
  'data.lines.2.price',
  'Must be a number.',
  'The data does not fit the schema, the template cannot be filled with it within its bounds, or fields are unknown or invalid.',
);
const TOO_LARGE = `The template takes more than ${MAX_CONTENT_BYTES} bytes with its files, schema and sample.`;

const template = example(Template);
const tag = 'Templates';

export const listTemplatesDoc: OperationDoc = {
  id: 'listTemplates',
  tag,
  summary: 'List templates',
  description: 'The templates of the account, newest first.',
  parameters: PAGE_PARAMETERS,
  answers: { 200: { ...pageOfItems(Template), examples: { page: [template] } } },
};

export const createTemplateDoc: OperationDoc = {
  id: 'createTemplate',
  tag,
  summary: 'Create a template',
  description:
    'Stores HTML with Liquid as version 1. It is read, and filled with the sample if there is one, before it is stored. POST /pdf/ with template and data makes a document of it.',
  body: { schema: TemplateRequest },
  answers: {
    201: { description: 'The template was created.', schema: Template },
  },
  errors: { validation_error: WRONG_TEXT, payload_too_large: TOO_LARGE },
};

export const getTemplateDoc: OperationDoc = {
  id: 'getTemplate',
  tag,
  summary: 'Retrieve a template',
  description: 'Its name and its newest version. What a version holds has an address of its own.',
  answers: { 200: { description: 'The template.', schema: Template } },
};

export const renameTemplateDoc: OperationDoc = {
  id: 'renameTemplate',
  tag,
  summary: 'Rename a template',
  body: { schema: TemplateChange },
  answers: { 200: { description: 'The renamed template.', schema: Template } },
};

export const deleteTemplateDoc: OperationDoc = {
  id: 'deleteTemplate',
  tag,
  summary: 'Delete a template',
  description:
    'Requests that name it are refused from then on. Conversions that were accepted before have its HTML and go on. Its versions stay in the log, encrypted, until the account is erased.',
  answers: { 204: { description: 'The template was deleted. There is no body.' } },
};

export const listVersionsDoc: OperationDoc = {
  id: 'listTemplateVersions',
  tag,
  summary: 'List the versions of a template',
  parameters: PAGE_PARAMETERS,
  answers: {
    200: { ...pageOfItems(TemplateVersion), examples: { page: [example(TemplateVersion)] } },
  },
};

export const saveVersionDoc: OperationDoc = {
  id: 'saveTemplateVersion',
  tag,
  summary: 'Save another version of a template',
  description:
    'Requests that name the template without a version use it from then on. Content that is equal to that of the newest version saves no other.',
  body: { schema: TemplateVersionRequest },
  answers: { 201: { description: 'The template with its newest version.', schema: Template } },
  errors: { validation_error: WRONG_TEXT, payload_too_large: TOO_LARGE },
};

export const getVersionDoc: OperationDoc = {
  id: 'getTemplateVersion',
  tag,
  summary: 'Retrieve a version of a template',
  description: 'With all that it holds.',
  parameters: [versionParameter],
  answers: { 200: { description: 'The version.', schema: TemplateContent } },
};

export const previewTemplateDoc: OperationDoc = {
  id: 'previewTemplate',
  tag,
  summary: 'Fill a template without converting it',
  description:
    'Answers with the HTML that the template makes of the data. Nothing is stored, and it costs no credit.',
  body: { schema: SavedPreviewRequest },
  answers: { 200: { description: 'The filled texts.', schema: TemplatePreview } },
  errors: { validation_error: WRONG_DATA },
};

export const previewTextDoc: OperationDoc = {
  id: 'previewTemplateText',
  tag,
  summary: 'Fill a text that is not saved',
  description: 'The same for a template that is still being written.',
  body: { schema: PreviewRequest },
  answers: { 200: { description: 'The filled texts.', schema: TemplatePreview } },
  errors: { validation_error: WRONG_DATA },
};
