/** The options of a conversion, as the schema of the request in the service's OpenAPI document has them. */
import { queryOptions } from '@tanstack/react-query';
import { ApiError } from '../../api/error.ts';

type Plain = string | number | boolean;

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | null)[];
  readonly 'x-default'?: Plain;
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

interface ApiDocument {
  readonly components: { readonly schemas: Readonly<Record<string, Schema | undefined>> };
}

/** A field of the form. What is not for its kind is empty. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly description: string | undefined;
  /** The value that the service uses where none is sent. */
  readonly usual: Plain | undefined;
  readonly isRequired: boolean;
  /**
   * `choice` is one of the choices, `choices` any number of them; `texts` are a list, one a line; `record` has names and
   * values, `files` names and contents; `group` is an object, `list` several of the same fields.
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
    | 'group'
    | 'list';
  readonly choices: readonly string[];
  /** Those of a group, or of an item of a list. */
  readonly fields: readonly Field[];
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
  ['ms', '(ms)'],
]);

/** `header_html` → Header HTML, `delay_ms` → Delay (ms). */
export function labelOf(name: string): string {
  const words = name.split('_').map((word) => UPPER_CASE.get(word) ?? word);
  const text = words.join(' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

class FieldReader {
  readonly #schemas: ApiDocument['components']['schemas'];

  constructor({ components }: ApiDocument) {
    this.#schemas = components.schemas;
  }

  #resolve(schema: Schema): Schema {
    const name = schema.$ref?.split('/').at(-1);
    return name === undefined ? schema : (this.#schemas[name] ?? {});
  }

  fieldsOf(given: Schema): readonly Field[] {
    const { properties = {}, required = [] } = this.#resolve(given);
    return Object.entries(properties).map(([name, schema]) =>
      this.#field(name, this.#resolve(schema), required.includes(name)),
    );
  }

  #field(name: string, schema: Schema, isRequired: boolean): Field {
    const item = this.#resolve(schema.items ?? {});
    const kind = kindOf(schema, item);
    const { description, 'x-default': usual, minimum, maximum, maxItems, maxProperties } = schema;
    return {
      name,
      label: labelOf(name),
      description,
      usual: kind === 'switch' ? (usual ?? false) : usual,
      isRequired,
      kind,
      choices: (schema.enum ?? item.enum ?? []).filter((choice) => choice !== null),
      fields:
        kind === 'group' || kind === 'list' ? this.fieldsOf(kind === 'list' ? item : schema) : [],
      most: maxItems ?? maxProperties ?? Number.POSITIVE_INFINITY,
      minimum,
      maximum,
      isWhole: [schema.type].flat().includes('integer'),
      isLong: kind === 'texts' || (schema.maxLength ?? LONGEST_LINE + 1) > LONGEST_LINE,
    };
  }
}

function kindOf(
  { type, enum: choices, additionalProperties: values }: Schema,
  item: Schema,
): Field['kind'] {
  const is = (name: string): boolean => [type].flat().includes(name);
  if (choices !== undefined) return 'choice';
  if (is('boolean')) return 'switch';
  if (is('integer') || is('number')) return 'number';
  if (is('array')) {
    if (item.enum !== undefined) return 'choices';
    return item.properties === undefined ? 'texts' : 'list';
  }
  if (!is('object')) return 'text';
  if (typeof values !== 'object') return 'group';
  return values.contentEncoding === 'base64' ? 'files' : 'record';
}

async function readFields(signal: AbortSignal): Promise<readonly Field[]> {
  const response = await fetch('/openapi.json', { signal });
  if (!response.ok) throw await ApiError.from(response);
  const document = (await response.json()) as ApiDocument;
  const schema = document.components.schemas['ConversionRequest'];
  if (schema === undefined) throw new Error('The OpenAPI document has no ConversionRequest.');
  return new FieldReader(document).fieldsOf(schema);
}

/** The document changes only with the service's version. */
export const fieldsQuery = queryOptions({
  queryKey: ['request-fields'],
  queryFn: ({ signal }) => readFields(signal),
  staleTime: Number.POSITIVE_INFINITY,
});
