/** Turns what is filled in into fields of the body of a request, and back. */
import type { Field, ItemType } from './schema.ts';
import { STAMP_FIELDS, stampKind } from './stamp.ts';
import { t } from '../words/words.ts';

export type Values = Readonly<Record<string, unknown>>;

/** A name with its value, such as a header, while it is being edited. */
export type Row = { readonly name: string; readonly value: string };

export const rowsOf = (value: unknown): readonly Row[] => (value ?? []) as readonly Row[];
export const valuesOf = (value: unknown): Values => (value ?? {}) as Values;
/** An item of a list. It may have values beside those of its fields, such as the name of its file. */
export interface Item extends Values {
  /** Tells it from the others while they change their places. */
  readonly key: number;
}
export const listOf = (value: unknown): readonly Item[] => (value ?? []) as readonly Item[];

/** Later than those of drafts that the browser has kept. */
let lastKey = Date.now();
export function newItem<Own extends object>(values: Own): Own & { readonly key: number } {
  lastKey += 1;
  return { ...values, key: lastKey };
}

/** What the item is, where a list has items of several types. */
export const typeIn = ({ types }: Pick<Field, 'types'>, item: Values): ItemType | undefined =>
  types.find(({ type }) => type === item['type']);

const fieldsIn = (field: Pick<Field, 'types' | 'fields'>, item: Values): readonly Field[] =>
  (typeIn(field, item) ?? field).fields;

/** All items in their places, also those within others: the service names what is wrong by them. */
export function placesIn(value: unknown): string {
  if (typeof value !== 'object' || value === null) return '';
  const { key } = value as { readonly key?: unknown };
  const own = typeof key === 'number' ? `${key},` : '';
  return own + Object.values(value).map(placesIn).join('');
}

/** What a person would call the item: by its type, or by the name of what it holds. */
export const nameIn = (field: Field, item: Values): string | undefined =>
  typeIn(field, item)?.label ??
  [item['filename'], item['name']].map(textOf).find((name) => name !== '');

/** A new item of that type, with one of each thing that it cannot do without. */
export function itemOf({ type, fields, needs }: ItemType): Item {
  const needed = fields.filter(({ name }) => needs.includes(name));
  const startOf = ({ kind, choices: [first], isWhole }: Field): unknown => {
    if (kind === 'list') return [newItem({})];
    if (kind !== 'choice') return undefined;
    return isWhole ? Number(first?.value) : first?.value;
  };
  return newItem({
    type,
    ...Object.fromEntries(needed.map((field) => [field.name, startOf(field)])),
  });
}

/** Puts an item before those that come last, or among them in the order of their types. */
export function withItem(field: Field, items: readonly Item[], added: Item): readonly Item[] {
  const rank = (item: Item): number =>
    field.types.findIndex(({ type, isLast }) => isLast && type === item['type']);
  const at = items.findIndex((item) => rank(item) > rank(added));
  return at === -1 ? [...items, added] : items.toSpliced(at, 0, added);
}
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

/** How a kind of field is sent, and how what was sent is shown. */
interface Codec {
  /** @returns `undefined` where the service would use the same value anyway */
  readonly sent: (value: unknown, field: Field) => unknown;
  readonly shown: (value: unknown, field: Field) => unknown;
}

const isStamp = (fields: readonly Field[]): boolean =>
  STAMP_FIELDS.every((name) => fields.some((field) => field.name === name));

/** What the form of a stamp asks for, empty: by it the service says that it is missing there. */
const emptyStamp = (fields: readonly Field[], values: Values): Values =>
  isStamp(fields) ? { [stampKind(values) === 'image' ? 'image' : 'html']: '' } : {};

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;
/** What would be sent, unless there is nothing in it. */
const unlessEmpty = <Sent extends object>(value: Sent) => (isEmpty(value) ? undefined : value);

const PLAIN: Codec = {
  sent: (value, { usual }) => (value === '' || value === usual ? undefined : value),
  shown: (value) => value,
};

const ROWS: Codec = {
  sent: (value) =>
    unlessEmpty(
      Object.fromEntries(
        rowsOf(value)
          .filter((row) => row.name !== '' || row.value !== '')
          .map((row) => [row.name, row.value]),
      ),
    ),
  shown: (value) => Object.entries(valuesOf(value)).map(([name, each]) => ({ name, value: each })),
};

const CODECS: Readonly<Record<Field['kind'], Codec>> = {
  switch: PLAIN,
  choice: PLAIN,
  number: PLAIN,
  text: PLAIN,
  file: PLAIN,
  choices: { sent: (value) => unlessEmpty(textsOf(value)), shown: PLAIN.shown },
  texts: {
    sent: (value) => unlessEmpty(linesOf(value)),
    shown: (value) => textsOf(value).join('\n'),
  },
  record: ROWS,
  files: ROWS,
  list: {
    sent: (value, field) => unlessEmpty(listOf(value).map((item) => bodyOfItem(field, item))),
    // One of a type that forms do not offer goes without saying.
    shown: (value, field) =>
      listOf(value)
        .filter((item) => field.types.length === 0 || typeIn(field, item) !== undefined)
        .map((item) => newItem({ type: item['type'], ...optionsOf(fieldsIn(field, item), item) })),
  },
  extended: {
    sent: (value, { fields }) =>
      isOn(value) ? (unlessEmpty(bodyOfFields(fields, value)) ?? true) : undefined,
    // Off is nothing; on without fields, nothing in them.
    shown: (value, { fields }) =>
      value === false ? undefined : optionsOf(fields, valuesOf(value === true ? {} : value)),
  },
  group: {
    sent: (value, { fields }) => {
      const body = unlessEmpty(bodyOfFields(fields, valuesOf(value)));
      return body && { ...emptyStamp(fields, valuesOf(value)), ...body };
    },
    shown: (value, { fields }) => optionsOf(fields, valuesOf(value)),
  },
};

const sentValue = (field: Field, value: unknown): unknown => CODECS[field.kind].sent(value, field);

/** The items stay in their places, for the service names a wrong one by its place. */
function bodyOfItem(field: Field, item: Values): Values {
  const fields = fieldsIn(field, item);
  const required = fields.filter(({ isRequired }) => isRequired).map(({ name }) => [name, '']);
  const { type } = typeIn(field, item) ?? {};
  return {
    ...(type !== undefined && { type }),
    ...Object.fromEntries(required),
    ...emptyStamp(fields, item),
    ...bodyOfFields(fields, item),
  };
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

/** The options of a request as they are filled in. Those that the form does not know are left out. */
export function optionsOf(fields: readonly Field[], request: Values): Values {
  const known = fields.filter(({ name }) => (request[name] ?? null) !== null);
  return Object.fromEntries(
    known.map((field) => [field.name, CODECS[field.kind].shown(request[field.name], field)]),
  );
}

/**
 * The label of the field that the service calls `path`, such as Wait for: Selector, or Cookies: 2: Name.
 * @param values that are filled in, whose items are called by their names
 */
export function labelOfPath(fields: readonly Field[], path: string, values: Values = {}): string {
  const labels: string[] = [];
  let holder: Pick<Field, 'kind' | 'fields'> = { kind: 'group', fields };
  let list: Field | undefined;
  let value: unknown = values;
  for (const part of path.split('.')) {
    const field = holder.fields.find(({ name }) => name === part);
    if (list !== undefined) {
      const item = listOf(value)[Number(part)];
      const name = item && nameIn(list, item);
      if (name === undefined) labels.push(String(Number(part) + 1));
      else labels.splice(-1, 1, name);
      holder = { kind: 'group', fields: fieldsIn(list, item ?? {}) };
      [list, value] = [undefined, item];
    } else if (field !== undefined) {
      // A person who stamps a text sees no HTML.
      const isText = part === 'html' && stampKind(valuesOf(value)) === 'text';
      labels.push(isText && isStamp(holder.fields) ? t('Text') : field.label);
      holder = field;
      value = valuesOf(value)[part];
      list = field.kind === 'list' ? field : undefined;
    } else if (holder.kind === 'texts') {
      labels.push(String(Number(part) + 1));
    } else break;
  }
  return labels.length === 0 ? path : labels.join(': ');
}
