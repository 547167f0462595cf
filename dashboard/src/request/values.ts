/** Turns what is filled in into fields of the body of a request, and back. */
import type { Field } from './schema.ts';

export type Values = Readonly<Record<string, unknown>>;

/** A name with its value, such as a header, while it is being edited. */
export type Row = { readonly name: string; readonly value: string };

export const rowsOf = (value: unknown): readonly Row[] => (value ?? []) as readonly Row[];
export const valuesOf = (value: unknown): Values => (value ?? {}) as Values;
export const listOf = (value: unknown): readonly Values[] => (value ?? []) as readonly Values[];
/** True of the value of a switch with fields that is on: the values of the fields. */
export const isOn = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null;
export const textOf = (value: unknown): string => (value ?? '') as string;
export const textsOf = (value: unknown): readonly string[] => (value ?? []) as readonly string[];

const linesOf = (text: unknown): readonly string[] =>
  textOf(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The values that differ from those that the service would use anyway. */
export function bodyOfFields(fields: readonly Field[], values: Values): Values {
  const parts = fields.map((field) => [field.name, sentValue(field, values[field.name])] as const);
  return Object.fromEntries(parts.filter(([, value]) => value !== undefined));
}

/** The value that is sent for the field: `undefined` where the service would use the same value anyway. */
function sentValue(field: Field, value: unknown): unknown {
  switch (field.kind) {
    case 'switch':
    case 'choice':
    case 'number':
    case 'text':
    case 'file':
      return value === '' || value === field.usual ? undefined : value;
    case 'choices':
      return textsOf(value).length === 0 ? undefined : value;
    case 'texts': {
      const lines = linesOf(value);
      return lines.length === 0 ? undefined : lines;
    }
    case 'record':
    case 'files': {
      const rows = rowsOf(value).filter((row) => row.name !== '' || row.value !== '');
      if (rows.length === 0) return undefined;
      return Object.fromEntries(rows.map((row) => [row.name, row.value]));
    }
    case 'list': {
      const items = listOf(value).map((item) => bodyOfItem(field.fields, item));
      return items.length === 0 ? undefined : items;
    }
    case 'extended': {
      if (!isOn(value)) return undefined;
      const body = bodyOfFields(field.fields, value);
      return Object.keys(body).length === 0 ? true : body;
    }
    case 'group': {
      const body = bodyOfFields(field.fields, valuesOf(value));
      return Object.keys(body).length === 0 ? undefined : body;
    }
  }
}

/** The items stay in their places, for the service names a wrong one by its place. */
function bodyOfItem(fields: readonly Field[], item: Values): Values {
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => [name, '']);
  return { ...Object.fromEntries(required), ...bodyOfFields(fields, item) };
}

/** Those of which each part counts: a group, and what has rows. */
const PARTED: readonly Field['kind'][] = ['group', 'files', 'record', 'list'];

/** How many options of the fields would be sent. */
export function changedCount(fields: readonly Field[], options: Values): number {
  return fields.reduce((count, field) => {
    const value = sentValue(field, options[field.name]);
    if (value === undefined) return count;
    return count + (PARTED.includes(field.kind) ? Object.keys(value as object).length : 1);
  }, 0);
}

function shownValue(field: Field, value: unknown): unknown {
  switch (field.kind) {
    case 'texts':
      return textsOf(value).join('\n');
    case 'record':
    case 'files':
      return Object.entries(value as Readonly<Record<string, string>>).map(([name, each]) => ({
        name,
        value: each,
      }));
    case 'extended':
      if (value === true) return {};
      return isOn(value) ? optionsOf(field.fields, value) : undefined;
    case 'group':
      return optionsOf(field.fields, valuesOf(value));
    case 'list':
      return listOf(value).map((item) => optionsOf(field.fields, item));
    case 'switch':
    case 'choice':
    case 'choices':
    case 'number':
    case 'text':
    case 'file':
      return value;
  }
}

/** The options of a request as they are filled in. Those that the form does not know are left out. */
export function optionsOf(fields: readonly Field[], request: Values): Values {
  const known = fields.filter(({ name }) => (request[name] ?? null) !== null);
  return Object.fromEntries(
    known.map((field) => [field.name, shownValue(field, request[field.name])]),
  );
}

/** The label of the field that the service calls `path`, such as Wait for: Selector, or Cookies: 2: Name. */
export function labelOfPath(fields: readonly Field[], path: string): string {
  const labels: string[] = [];
  let holder: Pick<Field, 'kind' | 'fields'> = { kind: 'group', fields };
  for (const part of path.split('.')) {
    const field = holder.fields.find(({ name }) => name === part);
    if (field !== undefined) {
      labels.push(field.label);
      holder = field;
    } else if (holder.kind === 'list' || holder.kind === 'texts') {
      labels.push(String(Number(part) + 1));
    } else break;
  }
  return labels.length === 0 ? path : labels.join(': ');
}
