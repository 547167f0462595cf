/** What a person converts in the playground, and the body of its request. */
import type { Field } from '../../request/schema.ts';
import { bodyOfFields, type Values } from '../../request/values.ts';

export type Source = 'html' | 'url';

export interface Draft {
  readonly source: Source;
  readonly html: string;
  readonly url: string;
  /** The values that were filled in, by the names of options. */
  readonly options: Values;
}

const ONLY_WITH: Readonly<Record<string, Source | undefined>> = {
  files: 'html',
  headers: 'url',
  cookies: 'url',
};

/** Tells whether the option can be sent with that source. */
export const goesWith = ({ name }: Field, source: Source): boolean =>
  name !== 'html' && name !== 'url' && (ONLY_WITH[name] ?? source) === source;

/** The body of the request: the source, and the options that differ from their defaults. */
export function requestOf(fields: readonly Field[], draft: Draft): Values {
  const { source, options } = draft;
  const sent = fields.filter((field) => goesWith(field, source));
  return { [source]: draft[source], ...bodyOfFields(sent, options) };
}
