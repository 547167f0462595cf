/** A schema as a table: one row for each field, however deep, with its type, bounds and default. */
import type { SchemaObject } from '../types.ts';
import { html, type Html, prose } from './html.ts';

type Schemas = Readonly<Record<string, SchemaObject>>;

/** The schema that a reference names; its name where it has one. */
export function resolve(
  schema: SchemaObject,
  schemas: Schemas,
): { readonly name?: string; readonly schema: SchemaObject } {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined ? { schema } : { name, schema: schemas[name] ?? {} };
}

const shown = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

const number = (value: number): string => value.toLocaleString('en');

const between = (
  least: number | undefined,
  most: number | undefined,
  unit: string,
): readonly string[] => {
  if (least !== undefined && most !== undefined) {
    const range = least === most ? number(most) : `${number(least)} to ${number(most)}`;
    return [`${range}${unit}`];
  }
  if (least !== undefined) return [`at least ${number(least)}${unit}`];
  return most === undefined ? [] : [`at most ${number(most)}${unit}`];
};

function typeName(schema: SchemaObject): string {
  if (schema.const !== undefined) return `always ${shown(schema.const)}`;
  if (schema.enum !== undefined) return `one of ${schema.enum.map(shown).join(', ')}`;
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeName).join(' or ');
  return schema.type ?? 'any';
}

/** `string, 1 to 255 characters` */
export function kindOf(schema: SchemaObject): string {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems, maxProperties } = schema;
  return [
    typeName(schema),
    ...between(minLength, maxLength, ' characters'),
    ...between(minimum, maximum, ''),
    ...between(minItems, maxItems, ' items'),
    ...between(undefined, maxProperties, ' entries'),
  ].join(', ');
}

export function row(
  name: string,
  schema: SchemaObject,
  { required, description = '' }: { required: boolean; description?: string | undefined },
): Html {
  const usual =
    schema.default === undefined
      ? undefined
      : html` <span class="default">default <code>${shown(schema.default)}</code></span>`;
  const need = required ? html` <span class="required">required</span>` : undefined;
  return html`<tr>
<th scope="row"><code>${name}</code>${need}</th>
<td><span class="kind">${kindOf(schema)}</span>${usual}${
    description === '' ? undefined : html`<div>${prose(description)}</div>`
  }</td>
</tr>`;
}

function rowsOf(schema: SchemaObject, schemas: Schemas, prefix: string): readonly Html[] {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).flatMap(([name, each]) => {
    const field = resolve(each, schemas).schema;
    const path = prefix + name;
    const own = row(path, field, {
      required: required.includes(name),
      description: field.description,
    });
    return [own, ...within(field, schemas, path)];
  });
}

function within(field: SchemaObject, schemas: Schemas, path: string): readonly Html[] {
  const items = field.items && resolve(field.items, schemas).schema;
  if (items?.properties) return rowsOf(items, schemas, `${path}[].`);
  if (items) return [row(`${path}[]`, items, { required: false })];
  const [value] = Object.values(field.patternProperties ?? {});
  if (value) return [row(`${path}.*`, value, { required: false })];
  return rowsOf(field, schemas, `${path}.`);
}

export const rowsTable = (rows: readonly Html[]): Html =>
  html`<table class="fields"><tbody>${rows}</tbody></table>`;

/** The fields of a body; of each of its forms, where it has several. */
export function fieldsOf(schema: SchemaObject, schemas: Schemas): Html {
  const { name, schema: found } = resolve(schema, schemas);
  if (found.type === 'array' && found.items) {
    return html`<p>An array of:</p>${fieldsOf(found.items, schemas)}`;
  }
  if (found.anyOf) {
    return html`${found.anyOf.map(
      (form) => html`<h6>${resolve(form, schemas).name}</h6>${fieldsOf(form, schemas)}`,
    )}`;
  }
  return html`${rowsTable(rowsOf(found, schemas, ''))}${
    name === 'ConversionRequest'
      ? html`<p>Either <code>html</code> or <code>url</code> is required.</p>`
      : undefined
  }`;
}
