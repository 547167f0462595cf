/** Gives each object and enum of the document a name: generators number what has none, and each new one moves the numbers. */
import {
  DELIVERY_FAILURES,
  DELIVERY_STATUSES,
  FAILURE_CODES,
  KEY_SCOPES,
  ROLES,
  SIGN_IN_REQUIREMENTS,
  WEBHOOK_TYPES,
} from '../../domain/choices.ts';
import { SOURCES } from '../../domain/event-summary.ts';
import { EVENT_TYPES } from '../../domain/events.ts';
import { CONFORMANCES } from '../../domain/request-document.ts';
import type { MediaTypeObject, OpenApiDocument, OperationObject, SchemaObject } from './types.ts';

/** The enums that several schemas and parameters have in common, by their values. */
const ENUMS = new Map(
  Object.entries({
    Conformance: CONFORMANCES,
    ConversionFailure: FAILURE_CODES,
    ConversionSource: Object.keys(SOURCES),
    DeliveryFailure: DELIVERY_FAILURES,
    DeliveryStatus: DELIVERY_STATUSES,
    EventType: EVENT_TYPES,
    FileDisposition: ['attachment', 'inline'],
    KeyScope: KEY_SCOPES,
    Role: ROLES,
    SignInRequirement: SIGN_IN_REQUIREMENTS,
    WebhookType: WEBHOOK_TYPES,
  }).map(([name, values]) => [JSON.stringify(values), name]),
);

type Schemas = Readonly<Record<string, SchemaObject>>;
type Content = Readonly<Record<string, MediaTypeObject>>;

const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

export const mapValues = <T, U>(
  all: Readonly<Record<string, T>>,
  map: (value: T, name: string) => U,
) => Object.fromEntries(Object.entries(all).map(([name, value]) => [name, map(value, name)]));

const isGiven = (value: unknown): boolean => value !== null;

/** What a reference says besides, about the place where it stands. */
const remarks = (schema: SchemaObject): SchemaObject =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => isRemark(key)));

const isRemark = (key: string): boolean =>
  key === 'description' || key === 'default' || key === 'examples' || key.startsWith('x-');

class SchemaNames {
  readonly schemas: Record<string, SchemaObject> = {};

  constructor(named: Schemas) {
    for (const [name, schema] of Object.entries(named)) this.#add(name, this.#inside(schema, name));
  }

  #add(name: string, schema: SchemaObject): SchemaObject {
    const known = this.schemas[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`Two schemas are called ${name}: name one of them in schemas.ts.`);
    }
    this.schemas[name] = schema;
    return { $ref: `#/components/schemas/${name}` };
  }

  /** The schema with references in the place of its parts, which are named after it and the field. */
  #inside({ properties, items, additionalProperties, anyOf, ...rest }: SchemaObject, name: string) {
    const given: SchemaObject = {
      ...rest,
      ...(properties && {
        properties: mapValues(properties, (each, field) =>
          this.refer(each, `${name}${capitalised(field)}`),
        ),
      }),
      ...(items && { items: this.refer(items, name) }),
      ...(anyOf && { anyOf: anyOf.map((each) => this.refer(each, name)) }),
      ...(additionalProperties !== undefined && {
        additionalProperties:
          typeof additionalProperties === 'object'
            ? this.refer(additionalProperties, name)
            : additionalProperties,
      }),
    };
    return given;
  }

  /** A union with an object is named, too: generators make a class of it. */
  #choice(schema: SchemaObject, name: string): SchemaObject {
    const { anyOf = [] } = schema;
    const given = anyOf.filter((each) => each.type !== 'null');
    const union = this.#add(`${name}Choice`, this.#inside({ anyOf: given }, name));
    const nullable = given.length < anyOf.length;
    return { ...remarks(schema), ...(nullable ? { oneOf: [union, { type: 'null' }] } : union) };
  }

  /** @param name of the schema, if it needs one and no other */
  refer(schema: SchemaObject, name: string): SchemaObject {
    const { type, properties, enum: values, anyOf = [] } = schema;
    if (anyOf.some(({ properties: fields }) => fields)) return this.#choice(schema, name);
    if (properties === undefined && values === undefined) return this.#inside(schema, name);
    if (Array.isArray(type)) {
      const [first = ''] = type.filter((each) => each !== undefined);
      const { examples = [], ...rest } = schema;
      const given = examples.filter(isGiven);
      const one = {
        ...rest,
        type: first,
        ...(values && { enum: values.filter(isGiven) }),
        ...(given.length > 0 && { examples: given }),
      };
      return { oneOf: [this.refer(one, name), { type: 'null' }] };
    }
    const shared = ENUMS.get(JSON.stringify(values));
    if (shared !== undefined) {
      const only = Object.fromEntries(Object.entries(schema).filter(([key]) => !isRemark(key)));
      return { ...this.#add(shared, only), ...remarks(schema) };
    }
    return this.#add(name, this.#inside(schema, name));
  }
}

function namedContent(names: SchemaNames, content: Content, name: string): Content {
  return mapValues(content, (media) => ({
    ...media,
    ...(media.schema && { schema: names.refer(media.schema, name) }),
  }));
}

function namedOperation(names: SchemaNames, operation: OperationObject, sent = 'Request') {
  const { parameters, requestBody, responses } = operation;
  const name = capitalised(operation.operationId);
  const named: OperationObject = {
    ...operation,
    ...(parameters && {
      parameters: parameters.map((each) => ({
        ...each,
        schema: names.refer(each.schema, `${name}${capitalised(each.name)}`),
      })),
    }),
    ...(requestBody && {
      requestBody: {
        ...requestBody,
        content: namedContent(names, requestBody.content, `${name}${sent}`),
      },
    }),
    responses: mapValues(responses, (response) =>
      '$ref' in response || response.content === undefined
        ? response
        : { ...response, content: namedContent(names, response.content, `${name}Answer`) },
    ),
  };
  return named;
}

/** The document with a reference to a schema in the place of each object and enum. */
export function withNames(document: OpenApiDocument): OpenApiDocument {
  const { paths, webhooks, components } = document;
  const names = new SchemaNames(components.schemas);
  const named = {
    ...document,
    paths: mapValues(paths, (item) => mapValues(item, (each) => namedOperation(names, each))),
    webhooks: mapValues(webhooks, ({ post }) => ({ post: namedOperation(names, post, 'Message') })),
  };
  return { ...named, components: { ...components, schemas: names.schemas } };
}
