/** What a person has put together, and the request that it makes. */
import type { SampleWork } from '../../../../samples/documents.ts';
import type { components } from '../../api/schema.d.ts';
import type { Field } from '../../request/schema.ts';
import { bodyOfFields, labelOfPath, type Values } from '../../request/values.ts';
import { fieldsOfStep, type StepDraft, STEPS, stampValues } from './steps.ts';
import { t } from '../../words/words.ts';

export type SourceDraft = {
  /** Tells it from the others while they change their places. */
  readonly key: number;
  readonly name: string;
  readonly bytes: number | undefined;
  readonly pages?: number | undefined;
  /** Undefined: it needs none. */
  readonly password?: string;
} & (
  | { readonly file: File; readonly conversion?: never }
  | { readonly conversion: string; readonly file?: never }
);

export interface WorkDraft {
  readonly sources: readonly SourceDraft[];
  readonly steps: readonly StepDraft[];
  /** The values of the other fields. */
  readonly named: Values;
}

/** The fields of the request. */
export interface WorkFields {
  readonly sources: Field;
  readonly steps: Field;
  readonly named: readonly Field[];
}

/** @param fields those of the body of `POST /documents/` */
export function workFields(fields: readonly Field[]): WorkFields {
  const [sources, steps] = ['sources', 'steps'].map((name) =>
    fields.find((field) => field.name === name),
  );
  if (sources === undefined || steps === undefined) {
    throw new Error(t('The OpenAPI document has no sources or no steps of POST /documents/.'));
  }
  return { sources, steps, named: fields.filter((field) => field !== sources && field !== steps) };
}

type Request = components['schemas']['DocumentRequest'];
type Step = components['schemas']['DocumentStep'];

export interface Work {
  /** Without the contents of files. */
  readonly request: Request;
  readonly files: readonly File[];
}

const passwordOf = ({ password = '' }: SourceDraft) => (password === '' ? {} : { password });

function stepOf({ type, values }: StepDraft, known: readonly Field[]): Step {
  const sent = type === 'stamp' ? stampValues(values) : values;
  return { type, ...bodyOfFields(fieldsOfStep(type, known), sent) } as Step;
}

export function workOf({ sources, steps, named }: WorkDraft, fields: WorkFields): Work {
  return {
    request: {
      ...bodyOfFields(fields.named, named),
      sources: sources.map((source) => ({
        ...(source.conversion !== undefined && { conversion: source.conversion }),
        ...passwordOf(source),
      })),
      steps: steps.map((step) => stepOf(step, fields.steps.fields)),
    },
    files: sources.flatMap(({ file }) => file ?? []),
  };
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
export function sampleOf(draft: WorkDraft, fields: WorkFields, server: string): SampleWork {
  const { sources: _, steps = [], ...named } = workOf(draft, fields).request;
  return {
    sources: draft.sources.map((source) => ({
      ...(source.file === undefined ? { conversion: source.conversion } : { file: source.name }),
      ...passwordOf(source),
    })),
    steps: steps as readonly object[] as readonly Values[],
    named,
    server,
  };
}

/** Names what the service calls `path`: a PDF by its name, a field of a step after the step. */
export function labelOf({ sources, steps }: WorkDraft, fields: WorkFields, path: string): string {
  const [list, at, ...rest] = path.split('.');
  const source = list === 'sources' ? sources[Number(at)] : undefined;
  if (source !== undefined) return source.name;
  const step = list === 'steps' ? steps[Number(at)] : undefined;
  if (step === undefined) return list === 'sources' ? 'PDFs' : labelOfPath(fields.named, path);
  const { title } = STEPS[step.type];
  if (rest.length === 0) return title;
  const isText = step.type === 'stamp' && step.values['what'] === 'text' && rest[0] === 'html';
  const field = labelOfPath(fieldsOfStep(step.type, fields.steps.fields), rest.join('.'));
  return `${title}: ${isText ? t('Text') : field}`;
}
