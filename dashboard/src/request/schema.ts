/** The fields of a request, as its schema in the service's OpenAPI document has them. */
import { conformanceName } from '../ui/format.ts';
import { t, translated } from '../words/words.ts';

type Plain = string | number | boolean;

/** What forms call it. */
interface Words {
  readonly 'x-label'?: string;
  readonly 'x-hint'?: string;
  readonly 'x-group'?: string;
  /** By choices. */
  readonly 'x-labels'?: Readonly<Record<string, string>>;
}

interface TypeSchema extends Words {
  readonly type: string;
  readonly needs: readonly string[];
  readonly takes: readonly string[];
  readonly isLast: boolean;
  readonly words: Readonly<Record<string, Words>>;
}

interface Schema extends Words {
  /** Its items are of these types, and have other fields for each. */
  readonly 'x-types'?: readonly TypeSchema[];
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | number | null)[];
  readonly anyOf?: readonly Schema[];
  /** A reference, or null. */
  readonly oneOf?: readonly Schema[];
  /** Where an optional field may be null, its default has this name. */
  readonly 'x-default'?: Plain;
  readonly default?: Plain;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly contentEncoding?: string;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

export interface ApiDocument {
  readonly components: { readonly schemas: Readonly<Record<string, Schema | undefined>> };
}

/** What an item of a list may be, such as a step that turns pages. */
export interface ItemType {
  readonly type: string;
  readonly label: string;
  readonly description: string | undefined;
  readonly fields: readonly Field[];
  /** The names of the fields without which it means nothing. */
  readonly needs: readonly string[];
  /** It comes after those that are not last, once. */
  readonly isLast: boolean;
}

/** A field of the form. What is not for its kind is empty. */
export interface Field {
  readonly name: string;
  /** The title of those that it stands with. */
  readonly group: string | undefined;
  readonly label: string;
  readonly description: string | undefined;
  /** The value that the service uses where none is sent. */
  readonly usual: Plain | undefined;
  readonly isRequired: boolean;
  /**
   * `choice` is one of the choices, `choices` any number of them; `texts` are a list, one a line; `record` has names and
   * values, `files` names and contents, `file` one content; `group` is an object, `list` several of the same fields.
   * `extended` is a switch with more fields while it is on.
   */
  readonly kind:
    | 'switch'
    | 'choice'
    | 'choices'
    | 'number'
    | 'text'
    | 'texts'
    | 'record'
    | 'files'
    | 'file'
    | 'group'
    | 'extended'
    | 'list';
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  /** Those of a group, of a switch that is on, or of an item of a list. */
  readonly fields: readonly Field[];
  /** Those of the items of a list; empty: all items have the same fields. */
  readonly types: readonly ItemType[];
  /** The most items of a list, or rows. */
  readonly most: number;
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly isWhole: boolean;
  readonly isLong: boolean;
}

/** A text that may be longer is written in a field of several lines. */
const LONGEST_LINE = 4096;

const UPPER_CASE = new Map([
  ['html', 'HTML'],
  ['css', 'CSS'],
  ['http', 'HTTP'],
  ['url', 'URL'],
  ['pdf', 'PDF'],
  ['xml', 'XML'],
  ['javascript', 'JavaScript'],
  ['webp', 'WebP'],
  ['png', 'PNG'],
  ['jpeg', 'JPEG'],
]);

/** `header_html` → Header HTML, `pdfa-2b` → PDF/A-2b. */
export function labelOf(name: string): string {
  const words = conformanceName(name)
    .split('_')
    .map((word) => UPPER_CASE.get(word) ?? word);
  const text = words.join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

class FieldReader {
  readonly #schemas: ApiDocument['components']['schemas'];

  constructor({ components }: ApiDocument) {
    this.#schemas = components.schemas;
  }

  /** What stands beside a reference says more about that place. */
  #resolve({ $ref, oneOf: [referred] = [], ...schema }: Schema): Schema {
    const name = ($ref ?? referred?.$ref)?.split('/').at(-1);
    const { anyOf, ...all }: Schema = { ...(name && this.#schemas[name]), ...schema };
    return anyOf === undefined ? all : { ...all, anyOf: anyOf.map((each) => this.#resolve(each)) };
  }

  fieldsOf(given: Schema): readonly Field[] {
    const { properties = {}, required = [] } = this.#resolve(given);
    return Object.entries(properties).map(([name, schema]) =>
      this.#field(name, this.#resolve(schema), required.includes(name)),
    );
  }

  #innerFields(kind: Field['kind'], schema: Schema, item: Schema): readonly Field[] {
    if (kind === 'group') return this.fieldsOf(schema);
    if (kind === 'list') return this.fieldsOf(item);
    return kind === 'extended' ? this.fieldsOf(objectIn(schema) ?? {}) : [];
  }

  #field(name: string, schema: Schema, isRequired: boolean): Field {
    const item = this.#resolve(schema.items ?? {});
    const kind = kindOf(schema, item);
    const { minimum, maximum, maxItems, maxProperties, 'x-labels': labels = {} } = schema;
    const usual = schema['x-default'] ?? schema.default;
    const choices = (schema.enum ?? item.enum ?? []).filter((choice) => choice !== null);
    const fields = this.#innerFields(kind, schema, item);
    return {
      name,
      group: schema['x-group'] && translated(schema['x-group']),
      label: translated(labelOf(name)),
      ...worded(schema),
      usual: kind === 'switch' ? (usual ?? false) : usual,
      isRequired,
      kind,
      choices: choices.map(String).map((value) => ({
        value,
        label: labels[value] === undefined ? labelOf(value) : translated(labels[value]),
      })),
      fields,
      types: (item['x-types'] ?? []).map((type) => typeOf(type, fields)),
      most: maxItems ?? maxProperties ?? Number.POSITIVE_INFINITY,
      minimum,
      maximum,
      isWhole: [schema.type].flat().includes('integer'),
      isLong: kind === 'texts' || (schema.maxLength ?? LONGEST_LINE + 1) > LONGEST_LINE,
    };
  }
}

/** The words of a schema in the language of the pages, those for programs where it has none for people. */
function worded({
  'x-label': label,
  'x-hint': hint,
  description,
}: Words & Pick<Schema, 'description'>) {
  // The field shows its default.
  const text = hint ?? description?.replace(/ Default: [^.]*\.$/, '') ?? '';
  return {
    ...(label !== undefined && { label: translated(label) }),
    description: text === '' ? undefined : translated(text),
  };
}

/** @param all the fields of items of any type */
function typeOf(schema: TypeSchema, all: readonly Field[]): ItemType {
  const { type, needs, takes, isLast, words } = schema;
  const fields = [...needs, ...takes].flatMap((name) => all.filter((field) => field.name === name));
  return {
    type,
    label: labelOf(type),
    ...worded(schema),
    fields: fields.map((field) => ({
      ...field,
      ...(words[field.name] && worded(words[field.name] ?? {})),
    })),
    needs,
    isLast,
  };
}

/** The object that may stand in the place of `true`. */
const objectIn = ({ anyOf }: Schema): Schema | undefined =>
  anyOf?.find(({ type }) => type === 'object');

function kindOf(schema: Schema, item: Schema): Field['kind'] {
  const { type, enum: choices, additionalProperties: values } = schema;
  if (objectIn(schema) !== undefined) return 'extended';
  const is = (name: string): boolean => [type].flat().includes(name);
  if (choices !== undefined) return 'choice';
  if (is('boolean')) return 'switch';
  if (is('integer') || is('number')) return 'number';
  if (is('array')) {
    if (item.enum !== undefined) return 'choices';
    return item.properties === undefined ? 'texts' : 'list';
  }
  if (!is('object')) return schema.contentEncoding === 'base64' ? 'file' : 'text';
  if (typeof values !== 'object') return 'group';
  return values.contentEncoding === 'base64' ? 'files' : 'record';
}

export type RequestName = 'ConversionRequest' | 'DocumentRequest';

/** @returns the fields of the body of a request */
export function fieldsOf(document: ApiDocument, name: RequestName): readonly Field[] {
  const schema = document.components.schemas[name];
  if (schema === undefined) throw new Error(t('The OpenAPI document has no {name}.', { name }));
  return new FieldReader(document).fieldsOf(schema);
}

export function eventTypesOf({ components: { schemas } }: ApiDocument): readonly string[] {
  return schemas['EventType']?.enum?.map(String) ?? [];
}
