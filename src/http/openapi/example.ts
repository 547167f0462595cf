import type { SchemaObject } from './types.ts';

/** A body that the schema takes, made of the examples and defaults in it. */
export function exampleOf(
  schema: SchemaObject,
  components: Readonly<Record<string, SchemaObject>>,
): unknown {
  if (schema.$ref !== undefined) {
    return exampleOf(components[schema.$ref.split('/').at(-1) ?? ''] ?? {}, components);
  }
  if (schema.examples !== undefined) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum !== undefined) return schema.enum[0];
  const [choice] = schema.anyOf ?? [];
  if (choice !== undefined) return exampleOf(choice, components);
  if (schema.type === 'array') return [exampleOf(schema.items ?? {}, components)];
  if (schema.properties === undefined) return {};
  return Object.fromEntries(
    Object.entries(schema.properties).map(([name, each]) => [name, exampleOf(each, components)]),
  );
}
