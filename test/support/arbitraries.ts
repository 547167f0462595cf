/** Values made from a TypeBox schema: such as it wants, nearly such, and nothing like it. */
import fc from 'fast-check';
import type { TSchema } from 'typebox';

/** The parts of JSON Schema that the request schemas use. */
interface Shape {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Shape;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Shape>>;
}

/** Longer is a matter of the body limit, which has tests of its own. */
const LONGEST = 40;

/** Names and texts that have broken parsers, databases and prototypes. */
const NASTY = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'x\udfff',
  '\u202e\u2028\ufeff',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  "'; DROP TABLE events; --",
  '../../etc/passwd',
  '%00%ff',
  '{{7*7}}${7*7}',
  'a\r\nX-Injected: 1',
  '1e999',
  'NaN',
  'null',
  '🂡'.repeat(20),
  'x'.repeat(5000),
] as const;

export const nastyText = fc.constantFrom(...NASTY);

const NUMBERS = [
  -1,
  -0,
  0,
  0.5,
  5e-324,
  2 ** 31,
  2 ** 53 + 2,
  1e21,
  -1e308,
  1.7976931348623157e308,
];

export const wild: fc.Arbitrary<unknown> = fc.oneof(
  nastyText,
  fc.constantFrom(...NUMBERS),
  fc.constantFrom(null, true, false, [], {}, [[]], [null]),
  fc.string({ unit: 'binary', maxLength: LONGEST }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(nastyText, fc.oneof(nastyText, fc.constant({}), fc.constant(1)), { maxKeys: 4 }),
);

function text({ pattern, minLength = 0, maxLength = LONGEST }: Shape): fc.Arbitrary<string> {
  if (pattern !== undefined) {
    return fc.stringMatching(new RegExp(pattern)).map((value) => value.slice(0, maxLength));
  }
  const bounds = { minLength, maxLength: Math.min(maxLength, Math.max(minLength, LONGEST)) };
  return fc.oneof(fc.string(bounds), fc.string({ ...bounds, unit: 'grapheme' }));
}

function make(shape: Shape): fc.Arbitrary<unknown> {
  if (shape.enum !== undefined) return fc.constantFrom(...shape.enum);
  switch (shape.type) {
    case 'boolean':
      return fc.boolean();
    case 'string':
      return text(shape);
    case 'integer':
      return fc.integer({ min: shape.minimum ?? -1000, max: shape.maximum ?? 1000 });
    case 'number':
      return fc.double({ min: shape.minimum ?? -1e6, max: shape.maximum ?? 1e6, noNaN: true });
    case 'array':
      return fc.array(make(shape.items ?? {}), { maxLength: Math.min(shape.maxItems ?? 3, 3) });
    case 'object':
      return object(shape);
    case undefined:
    default:
      return wild;
  }
}

function object(shape: Shape): fc.Arbitrary<object> {
  const { properties, required = [], patternProperties } = shape;
  if (properties === undefined) {
    const [value = {}] = Object.values(patternProperties ?? {});
    return fc.dictionary(fc.stringMatching(/^[A-Za-z][A-Za-z-]{0,12}$/), make(value), {
      maxKeys: 3,
    });
  }
  const fields = Object.entries(properties).map(([name, each]) => [name, make(each)] as const);
  return fc.record(Object.fromEntries(fields), { requiredKeys: [...required] });
}

/** A value of the schema, unless what it wants is more than a schema can say. */
export const valid = (schema: TSchema): fc.Arbitrary<object> => object(schema);

/** A value of the schema with a field or two that are gone, wrong or too many. */
export function nearly(schema: TSchema): fc.Arbitrary<object> {
  const names = Object.keys((schema as Shape).properties ?? {});
  // Some bodies have no fields at all.
  const name = names.length === 0 ? nastyText : fc.oneof(fc.constantFrom(...names), nastyText);
  const change = fc.tuple(name, fc.option(wild));
  return fc
    .tuple(valid(schema), fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([value, changes]) => {
      const fields = new Map<string, unknown>(Object.entries(value));
      for (const [field, put] of changes) {
        if (put === null) fields.delete(field);
        else fields.set(field, put);
      }
      // Not by assignment, which would take `__proto__` for a prototype.
      return Object.fromEntries(fields);
    });
}
