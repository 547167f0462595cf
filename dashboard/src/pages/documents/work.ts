/** What a person has put together, and the request that it makes. */
import type { SampleWork } from '../../../../samples/documents.ts';
import { fromBase64 } from '../../../../verifier/verify-evidence.mjs';
import type { components } from '../../api/schema.d.ts';
import type { Field } from '../../request/schema.ts';
import {
  bodyOfFields,
  type Item,
  listOf,
  newItem,
  optionsOf,
  textOf,
  type Values,
} from '../../request/values.ts';
import { contentOf, kindOf, PDF_MARK_WITHIN } from '../../ui/chosen-files.ts';
import { t } from '../../words/words.ts';

type Schemas = components['schemas'];

/** A PDF that is worked on: a file of this machine, or what a conversion made. */
export interface Source extends Item {
  readonly name: string;
  readonly bytes: number | undefined;
  readonly pages?: number | undefined;
  /** Undefined: it needs none. */
  readonly password?: string;
  readonly file?: File;
  readonly conversion?: string;
}

export const sourcesIn = ({ sources }: Values): readonly Source[] =>
  listOf(sources) as readonly Source[];

/** The PDF of a completed conversion. */
export const sourceOf = ({ id, name, filename, bytes, pages }: Schemas['Conversion']): Source =>
  newItem({ conversion: id, name: name ?? filename ?? id, bytes, pages });

/** The files that are PDFs, and what is wrong with each of the others. */
export async function sourcesOf(
  files: readonly File[],
): Promise<{ readonly sources: readonly Source[]; readonly problems: readonly string[] }> {
  const sources: Source[] = [];
  const problems: string[] = [];
  for (const file of files) {
    const { name, size } = file;
    try {
      const kind = kindOf(await contentOf(file, PDF_MARK_WITHIN));
      if (kind === 'pdf') sources.push(newItem({ file, name, bytes: size }));
      else
        problems.push(
          t('“{name}” {value}. Choose a PDF.', {
            name,
            value: kind === 'empty' ? t('is empty') : t('is not a PDF'),
          }),
        );
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  return { sources, problems };
}

/** The work of a stored request. The names of its files are not stored. */
export function draftOf(
  fields: readonly Field[],
  { document, options }: Schemas['StoredRequest'],
): Values {
  const values = optionsOf(fields, { ...options, ...document });
  const sources = listOf(values['sources']).map(({ file, ...source }, at) => {
    const name = t('PDF {value}.pdf', { value: at + 1 });
    const taken = new File([Uint8Array.from(fromBase64(textOf(file)))], name);
    return { ...source, file: taken, name, bytes: taken.size };
  });
  return { ...values, sources };
}

export interface Work {
  /** Without the contents of files. */
  readonly request: Schemas['DocumentRequest'];
  readonly files: readonly File[];
}

export function workOf(fields: readonly Field[], draft: Values): Work {
  const all = sourcesIn(draft);
  const sources = all.map((source) => ({ ...source, file: undefined }));
  const request = { sources: [], ...bodyOfFields(fields, { ...draft, sources }) };
  return { request, files: all.flatMap(({ file }) => file ?? []) };
}

/** The request as a form, whose parts named files are the sources without a conversion, in order. */
export function formOf({ request, files }: Work): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(request)) {
    form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  for (const file of files) form.append('files', file);
  return form;
}

/** The work as samples show it. */
export function sampleOf(fields: readonly Field[], draft: Values, server: string): SampleWork {
  const { sources: places, steps = [], ...named } = workOf(fields, draft).request;
  const sources = sourcesIn(draft).map(({ file, name }, at) => ({
    ...(file !== undefined && { file: name }),
    ...places[at],
  })) as readonly object[] as SampleWork['sources'];
  return { sources, steps: steps as readonly object[] as readonly Values[], named, server };
}
