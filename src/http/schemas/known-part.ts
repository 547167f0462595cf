import Type, { type TSchema } from 'typebox';
import type { Issues } from './issues.ts';

const MAX_NAME_CHARACTERS = 256;

function limitOf(schema: TSchema, bound: 'maxLength' | 'maxItems' | 'maxProperties'): number {
  const limit: unknown = Reflect.get(schema, bound);
  return typeof limit === 'number' ? limit : Number.POSITIVE_INFINITY;
}

/** A character is one unit of UTF-16 or two; none is left in halves. */
function cutText(text: string, limit: number): string {
  const most = 2 * limit + 2;
  return text.length <= most ? text : text.slice(0, most).replace(/[\ud800-\udbff]$/, '');
}

/**
 * What of a value its schema knows, and of what is too long or too many no more than it takes to see
 * that. A checker of schemas walks everything, and would spend its errors on a thousand unknown fields:
 * those are named in `issues` here. A list or object where there is to be none comes back empty.
 */
export function knownPart(
  schema: TSchema,
  value: unknown,
  issues: Issues,
  path: readonly string[] = [],
): unknown {
  const within = (inner: TSchema, each: unknown, step: string): unknown =>
    knownPart(inner, each, issues, [...path, step]);

  if (typeof value === 'string') return cutText(value, limitOf(schema, 'maxLength'));
  if (typeof value !== 'object' || value === null) return value;
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
      if (inner === undefined) issues.addUnknown([...path, name].join('.'));
      else known.push([name, within(inner, each, name)]);
    }
    return Object.fromEntries(known);
  }
  if (Type.IsRecord(schema)) {
    const first = entries.slice(0, limitOf(schema, 'maxProperties') + 1);
    return Object.fromEntries(
      first.map(([name, each]) => [cutText(name, MAX_NAME_CHARACTERS), each]),
    );
  }
  return {};
}
