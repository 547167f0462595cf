import type { Static, TObject } from 'typebox';
import Type, { type TSchema } from 'typebox';
import type { TValidationError } from 'typebox/error';
import { Compile, type Validator } from 'typebox/schema';
import { Settings } from 'typebox/system';
import { type ErrorDetails, ServiceError } from '../errors/errors.ts';
import { suggest } from '../text/suggest.ts';

/** Fields named in one answer: a body of a million faults is not sent back to its sender. */
const MAX_FIELDS = 200;
/** Fewer, so that they never crowd out what is wrong with fields that are known. */
const MAX_UNKNOWN = 100;
const MAX_NAME_CHARACTERS = 100;
/** Fields with the same fault that the message names; the others are in the details. */
const MAX_NAMED = 3;

/** Names as other languages write them: `pageSize`, `page-size`. */
const inSnakeCase = (name: string): string =>
  name
    .slice(0, MAX_NAME_CHARACTERS)
    .replaceAll(/-|(?<=[a-z])(?=[A-Z])/g, '_')
    .toLowerCase();

/** The validation issues of a request, gathered field by field so that one answer names all of them. */
export class ValidationIssues {
  readonly #fields = new Map<string, string[]>();
  /** The first step of each field's name, also of fields that the answer has no room for. */
  readonly #concerned = new Set<string>();
  readonly #maxFields: number;
  #unknown = 0;
  /** Faults of fields that the answer has no room for. */
  #unnamed = 0;

  /** @param maxFields fields that the answer names, at most */
  constructor(maxFields = MAX_FIELDS) {
    this.#maxFields = maxFields;
  }

  get any(): boolean {
    return this.#concerned.size > 0;
  }

  /** Fields that the answer has room for. */
  get room(): number {
    return this.#maxFields - this.#fields.size;
  }

  add(field: string, message: string): void {
    this.#concern(field);
    const name =
      field.length > MAX_NAME_CHARACTERS ? `${field.slice(0, MAX_NAME_CHARACTERS)}…` : field;
    const known = this.#fields.get(name);
    if (known !== undefined) {
      if (!known.includes(message)) known.push(message);
    } else if (this.room > 0) this.#fields.set(name, [message]);
    else this.#unnamed += 1;
  }

  /** @param known the names that there are in its place, one of which may be meant */
  addUnknown(
    path: readonly string[],
    known: readonly string[],
    kind: 'field' | 'query parameter' = 'field',
  ): void {
    const field = path.join('.');
    this.#unknown += 1;
    if (this.#unknown > MAX_UNKNOWN || this.room <= 0) {
      this.#unnamed += 1;
      return this.#concern(field);
    }
    const near = suggest(inSnakeCase(path.at(-1) ?? ''), known);
    const others = kind === 'field' ? '' : ` Known: ${known.join(', ')}.`;
    const hint = near === undefined ? others : ` Did you mean ${near}?`;
    this.add(field, `Is not a known ${kind}.${hint}`);
  }

  /** Takes over what was found wrong with a part of the body. */
  addWithin(place: string, found: ValidationIssues): void {
    for (const [field, messages] of found.#fields) {
      for (const message of messages) this.add(`${place}.${field}`, message);
    }
    this.#unnamed += found.#unnamed;
    this.#concern(place);
  }

  /** True where something is wrong with the field of the body or within it. */
  has(field: string): boolean {
    return this.#concerned.has(field);
  }

  /** @throws {ServiceError} `validation_error`, where anything was added */
  throwIfAny(): void {
    const [first] = this.#fields;
    if (first === undefined) return;
    const [, [message = '']] = first;
    const fields = [...this.#fields];
    const same = fields.filter(([, each]) => each.includes(message)).map(([name]) => name);
    // A message about several fields together names them itself.
    const namesThem = same.length > 1 && same.every((name) => message.includes(name));
    const named = namesThem ? message : `${same.slice(0, MAX_NAMED).join(', ')}: ${message}`;
    const more = fields.length - (namesThem ? same.length : Math.min(same.length, MAX_NAMED));
    const inDetails =
      more === 0
        ? ''
        : ` See details for ${more === 1 ? 'one more field' : `${more} more fields`}.`;
    const others =
      this.#unnamed === 0 ? '' : ` Not listed: ${plural(this.#unnamed, 'more mistake')}.`;
    throw new ServiceError('validation_error', `${named}${inDetails}${others}`, {
      details: Object.fromEntries(this.#fields) satisfies ErrorDetails,
    });
  }

  #concern(field: string): void {
    this.#concerned.add(field.split('.', 1)[0] ?? field);
  }
}

/**
 * Returns what `read` makes of a request, unless it finds something wrong.
 * @throws {ServiceError} `validation_error`, which names all of it
 */
export function validated<T>(read: (issues: ValidationIssues) => T): T {
  const issues = new ValidationIssues();
  const value = read(issues);
  issues.throwIfAny();
  return value;
}

/** The longest name in a record, such as a header's, that is looked at. */
const MAX_RECORD_NAME_CHARACTERS = 256;

function limitOf(schema: TSchema, bound: 'maxLength' | 'maxItems' | 'maxProperties'): number {
  const limit: unknown = Reflect.get(schema, bound);
  return typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY;
}

/** Text that no document and no log can hold is refused wherever it stands. */
function checkText(text: string, issues: ValidationIssues, path: readonly string[]): void {
  if (!text.isWellFormed()) issues.add(path.join('.'), 'Must be well-formed Unicode.');
  if (text.includes('\0')) issues.add(path.join('.'), 'Must not contain the character NUL.');
}

/** A character is one unit of UTF-16 or two; none is left in halves. */
function cutText(text: string, limit: number): string {
  const most = 2 * limit + 2;
  return text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}

/**
 * Keeps of a value what its schema knows, and of what is too long or too many no more than it takes to
 * see that. A checker of schemas walks everything, and would spend its errors on a thousand unknown fields:
 * those are named in `issues` here, as is text that nothing may hold. A list or object where there must be none comes
 * back empty. A field that is null is left out: serialisers of many languages write one for each field that is not given.
 */
export function stripUnknown(
  schema: TSchema,
  value: unknown,
  issues: ValidationIssues,
  path: readonly string[] = [],
): unknown {
  const within = (inner: TSchema, each: unknown, step: string): unknown =>
    stripUnknown(inner, each, issues, [...path, step]);

  if (typeof value === 'string') {
    const text = cutText(value, limitOf(schema, 'maxLength'));
    checkText(text, issues, path);
    return text;
  }
  if (typeof value !== 'object' || value === null) return value;
  const object = Type.IsUnion(schema)
    ? schema.anyOf.find((each) => Type.IsObject(each))
    : undefined;
  if (object !== undefined) return stripUnknown(object, value, issues, path);
  if (Array.isArray(value)) {
    if (!Type.IsArray(schema)) return [];
    const first: unknown[] = value.slice(0, limitOf(schema, 'maxItems') + 1);
    return first.map((each, n) => within(schema.items, each, String(n)));
  }
  const entries = Object.entries(value);
  if (Type.IsObject(schema)) {
    const { properties } = schema;
    const known: [string, unknown][] = [];
    for (const [name, each] of entries) {
      const inner = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (inner !== undefined) {
        if (each !== null) known.push([name, within(inner, each, name)]);
      } else if (Reflect.get(schema, 'additionalProperties') !== true) {
        issues.addUnknown([...path, name], Object.keys(properties));
      }
    }
    return Object.fromEntries(known);
  }
  if (Type.IsRecord(schema)) {
    const given = entries.filter(([, each]) => each !== null);
    const first = given.slice(0, limitOf(schema, 'maxProperties') + 1);
    const known = first.map(
      ([name, each]) => [cutText(name, MAX_RECORD_NAME_CHARACTERS), each] as const,
    );
    for (const [name, each] of known) {
      if (typeof each === 'string') checkText(each, issues, [...path, name]);
    }
    return Object.fromEntries(known);
  }
  return {};
}

// The default of 8 would hide the ninth mistake of a request.
Settings.Set({ maxErrors: 200 });

const article = (type: string): string => (/^[aeio]/.test(type) ? `an ${type}` : `a ${type}`);
const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;
const TYPE_NAMES: Readonly<Record<string, string>> = { integer: 'whole number' };

/** The client's text for a bound that was crossed. */
const BOUNDS: Readonly<Record<string, (limit: number) => string>> = {
  minimum: (limit) => `Must be at least ${limit}.`,
  maximum: (limit) => `Must be at most ${limit}.`,
  minLength: (limit) =>
    limit === 1 ? 'Must not be empty.' : `Must have at least ${plural(limit, 'character')}.`,
  maxLength: (limit) => `Must have at most ${plural(limit, 'character')}.`,
  minItems: (limit) => `Must have at least ${plural(limit, 'item')}.`,
  maxItems: (limit) => `Must have at most ${plural(limit, 'item')}.`,
  maxProperties: (limit) => `Must have at most ${limit} entries.`,
};

function messageOf(error: TValidationError): string {
  if (error.keyword === 'type') {
    const type = String(error.params.type);
    return `Must be ${article(TYPE_NAMES[type] ?? type)}.`;
  }
  if (error.keyword === 'anyOf') return 'Must be true, false or an object.';
  if (error.keyword === 'enum') return `Must be one of ${error.params.allowedValues.join(', ')}.`;
  if (error.keyword === 'uniqueItems') return 'Must name each item once.';
  const bound = BOUNDS[error.keyword];
  if (bound !== undefined && 'limit' in error.params) return bound(Number(error.params.limit));
  return 'Does not have the right form.';
}

/** `/wait_for/selector` → `wait_for.selector`. */
function fieldName(pointer: string, ...more: string[]): string {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return [...steps, ...more].join('.');
}

/**
 * Of a field that is a boolean or an object, the errors of the choice that was not made are left out, and those of the
 * object say what is wrong with it.
 */
const isOfChoice =
  (body: unknown) =>
  ({ keyword, instancePath, schemaPath }: TValidationError): boolean => {
    const branch = /\/anyOf\/\d+$/.test(schemaPath);
    if (keyword !== 'anyOf' && !branch) return true;
    const value = instancePath
      .split('/')
      .slice(1)
      .reduce<unknown>((each, step) => Reflect.get(Object(each) as object, step), body);
    const isObject = typeof value === 'object' && value !== null;
    return keyword === 'anyOf' ? !isObject : isObject && keyword !== 'type';
  };

function addError(issues: ValidationIssues, error: TValidationError): void {
  if (error.keyword === 'required') {
    for (const name of error.params.requiredProperties) {
      issues.add(fieldName(error.instancePath, name), 'Is required.');
    }
  } else issues.add(fieldName(error.instancePath), messageOf(error));
}

export type Check<S extends TObject> = (body: object, issues: ValidationIssues) => Static<S>;

/**
 * Returns a check by a schema of closed objects, and of those that say that they are open, which is compiled when it is first needed. The check adds to `issues` all that is wrong at the same
 * time, and its work is bounded by the schema, whatever the body holds. It returns the fields that are
 * given. One that `issues` has may be of any type.
 * @param forms field name (`*` for any item) → what its pattern demands, in words
 */
export function compile<const S extends TObject>(
  schema: S,
  forms: Readonly<Record<string, string>> = {},
): Check<S> {
  let validator: Validator<S> | undefined;
  return (body, issues) => {
    validator ??= Compile(schema);
    const known = stripUnknown(schema, body, issues);
    if (validator.Check(known)) return known;
    const [, errors] = validator.Errors(known);
    for (const error of errors.filter(isOfChoice(known))) {
      const field = fieldName(error.instancePath);
      const form = forms[field.replaceAll(/\.\d+(?=\.|$)/g, '.*')];
      if (error.keyword === 'pattern' && form !== undefined) issues.add(field, form);
      else addError(issues, error);
    }
    if (!issues.any) throw new ServiceError('validation_error');
    return known as Static<S>;
  };
}
