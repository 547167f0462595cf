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

interface FieldBase {
  readonly name: string;
  readonly label: string;
  readonly description: string | undefined;
  /** The value that the service uses where none is sent. */
  readonly usual: Plain | undefined;
  readonly isRequired: boolean;
}

interface SwitchField extends FieldBase {
  readonly kind: 'switch';
}

export interface ChoiceField extends FieldBase {
  /** One of the choices, or any number of them. */
  readonly kind: 'choice' | 'choices';
  readonly choices: readonly string[];
}

export interface NumericField extends FieldBase {
  readonly kind: 'number';
  readonly minimum: number | undefined;
  readonly maximum: number | undefined;
  readonly isWhole: boolean;
}

export interface TextualField extends FieldBase {
  /** `texts` is a list, one text a line. */
  readonly kind: 'text' | 'texts';
  readonly isLong: boolean;
}

export interface RowsField extends FieldBase {
  /** Names and values, or names and contents of files. */
  readonly kind: 'record' | 'files';
  readonly most: number;
}

export interface GroupField extends FieldBase {
  readonly kind: 'group';
  readonly fields: readonly Field[];
}

export interface ListField extends FieldBase {
  readonly kind: 'list';
  readonly fields: readonly Field[];
  readonly most: number;
}

export type Field =
  | SwitchField
  | ChoiceField
  | NumericField
  | TextualField
  | RowsField
  | GroupField
  | ListField;

/** A text that may be longer is written in a field of several lines. */
const LONGEST_LINE = 4096;

const UPPER_CASE = new Map([
  ['html', 'HTML'],
  ['css', 'CSS'],
  ['http', 'HTTP'],
  ['url', 'URL'],
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
    const { description, 'x-default': usual } = schema;
    const base = { name, label: labelOf(name), description, usual, isRequired };
    const types = [schema.type].flat();
    const choices = schema.enum?.filter((choice) => choice !== null);
    if (choices !== undefined) return { ...base, kind: 'choice', choices };
    if (types.includes('boolean')) return { ...base, usual: usual ?? false, kind: 'switch' };
    if (types.includes('integer') || types.includes('number')) {
      const { minimum, maximum } = schema;
      return { ...base, kind: 'number', minimum, maximum, isWhole: types.includes('integer') };
    }
    if (types.includes('array')) return this.#list(base, schema);
    if (types.includes('object')) return this.#object(base, schema);
    const { maxLength = Number.POSITIVE_INFINITY } = schema;
    return { ...base, kind: 'text', isLong: maxLength > LONGEST_LINE };
  }

  #list(base: FieldBase, { items = {}, maxItems: most = Number.POSITIVE_INFINITY }: Schema): Field {
    const item = this.#resolve(items);
    const choices = item.enum?.filter((choice) => choice !== null);
    if (choices !== undefined) return { ...base, kind: 'choices', choices };
    if (item.properties === undefined) return { ...base, kind: 'texts', isLong: true };
    return { ...base, kind: 'list', fields: this.fieldsOf(item), most };
  }

  #object(base: FieldBase, schema: Schema): Field {
    const { additionalProperties: values, maxProperties: most = Number.POSITIVE_INFINITY } = schema;
    if (typeof values !== 'object') {
      return { ...base, kind: 'group', fields: this.fieldsOf(schema) };
    }
    return { ...base, kind: values.contentEncoding === 'base64' ? 'files' : 'record', most };
  }
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
