/** A template while it is being written, and what is sent of it. */
import { api, dataOf } from '../../api/client.ts';
import { forgetTemplates, type Template, type TemplateContent } from '../../api/templates.ts';
import type { Field } from '../../request/schema.ts';
import { optionsOf, type Values } from '../../request/values.ts';
import { type Draft, objectIn, type TemplateDraft } from './request.ts';
import { t } from '../../words/words.ts';

export const NO_OBJECT = t('Must be a JSON object, such as {"number": "4711"}.');

/** @throws {Error} a text is not JSON */
function objectOf(text: string, what: string): Record<string, unknown> {
  const value = objectIn(text);
  if (value !== undefined) return value;
  throw new Error(`${what}: ${NO_OBJECT}`);
}

/** Options that a template has no place for: they come with each request. */
const OF_REQUESTS = [
  'webhook_url',
  'filename',
  'reference',
  'tags',
  'retention_seconds',
  'priority',
];

/**
 * What is saved as a version.
 * @param options the body of the options that differ from their defaults
 */
export function contentOf({ html, data, schema }: TemplateDraft, options: Values): TemplateBody {
  const { header_html, footer_html, files, ...others } = options;
  const left = Object.entries(others).filter(([name]) => !OF_REQUESTS.includes(name));
  const texts = { html, header_html, footer_html, files };
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined)),
    ...(left.length > 0 && { options: Object.fromEntries(left) }),
    ...(schema.trim() !== '' && { schema: objectOf(schema, t('Schema')) }),
    sample: objectOf(data, t('Data')),
  } as TemplateBody;
}

type TemplateBody = Pick<
  TemplateContent,
  'html' | 'header_html' | 'footer_html' | 'files' | 'options' | 'schema' | 'sample'
>;

/** What the texts make of the data. It costs nothing. */
export async function fill(draft: TemplateDraft, options: Values): Promise<Values> {
  const { html, header_html, footer_html, schema, sample } = contentOf(draft, options);
  const texts = { html, header_html, footer_html, schema, data: sample };
  const body = JSON.parse(JSON.stringify(texts)) as { html: string };
  return await dataOf(api.POST('/api/v1/templates/preview/', { body }));
}

/** Saves it as the next version of its template, or as a new one of that name. */
export async function save(
  draft: TemplateDraft,
  options: Values,
  name: string,
): Promise<TemplateDraft> {
  const body = contentOf(draft, options);
  const { saved: before } = draft;
  const saved = await dataOf(
    before === undefined
      ? api.POST('/api/v1/templates/', { body: { name, ...body } })
      : api.POST('/api/v1/templates/{id}/versions/', {
          params: { path: { id: before.id } },
          body,
        }),
  );
  await forgetTemplates();
  return { ...draft, saved };
}

const json = (value: object): string => JSON.stringify(value, null, 2);

/** A stored version as it is edited. */
export function draftOf(
  fields: readonly Field[],
  saved: Template,
  { html, header_html, footer_html, files, options, schema, sample = {} }: TemplateContent,
): Pick<Draft, 'source' | 'template' | 'options'> {
  const request: Values = { ...options, header_html, footer_html, files };
  return {
    source: 'template',
    template: { saved, html, data: json(sample), schema: schema ? json(schema) : '' },
    options: optionsOf(fields, request),
  };
}
