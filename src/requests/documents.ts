/** Every rule of the body of `POST /documents/` that its schema cannot say. */
import type { RequestMarks, RequestTexts } from '../domain/event-fields.ts';
import type { DocumentStep, PdfRequest } from '../domain/request-document.ts';
import { DocumentRequest, MAX_SOURCES, type StepRequest } from './documents-schema.ts';
import { BASE64_FORM, FormBody, isBase64, valueOf } from './files.ts';
import { checkAttachments, checkEncryption, checkPageRanges, checkStamp } from './pdf.ts';
import { PDF_FORMS } from './pdf-schema.ts';
import { CONVERSION_REQUEST_FORMS, ConversionRequest } from './schema.ts';
import { checkConversionRequest, type RequestRules } from './validate.ts';
import { compile, type ValidationIssues } from './validation.ts';

/** Exactly one of `file` and `conversion` is there. */
export interface CheckedSource {
  /** Base64. */
  readonly file?: string;
  readonly conversion?: string;
  readonly password?: string;
}

export interface CheckedDocuments {
  readonly sources: readonly CheckedSource[];
  readonly steps: readonly DocumentStep[];
  /** The pages of each conversion that is to be made, where there are several. */
  readonly parts?: readonly string[];
  /** What comes after all steps. */
  readonly pdf?: PdfRequest | undefined;
  readonly texts: RequestTexts;
  readonly marks: RequestMarks;
}

export type StepType = StepRequest['type'];
type StepField = Exclude<keyof StepRequest, 'type'>;

const METADATA = ['title', 'author', 'subject', 'keywords'] as const;

/** The fields of each type of step. */
export const STEP_FIELDS: Readonly<
  Record<StepType, { readonly needs: readonly StepField[]; readonly takes: readonly StepField[] }>
> = {
  merge: { needs: [], takes: [] },
  pages: { needs: ['pages'], takes: [] },
  rotate: { needs: ['rotate'], takes: ['pages'] },
  stamp: { needs: [], takes: ['html', 'image', 'opacity', 'pages', 'fit'] },
  attach: { needs: ['attachments'], takes: [] },
  metadata: { needs: [], takes: METADATA },
  encrypt: { needs: [], takes: ['user_password', 'owner_password', 'permissions'] },
  optimize: { needs: [], takes: [] },
  split: { needs: ['parts'], takes: [] },
};

/** Steps that come last, each once, and the step that ends the work. */
export const LAST_STEPS: ReadonlySet<StepType> = new Set(['encrypt', 'optimize', 'split']);

const check = compile(DocumentRequest, {
  'sources.*.conversion': 'Must be the id of a conversion.',
  'steps.*.attachments.*.type': PDF_FORMS['pdf.attachments.*.type'],
  filename: CONVERSION_REQUEST_FORMS.filename,
  reference: CONVERSION_REQUEST_FORMS.reference,
});

/** The JSON body that a form stands for: parts named files are the sources that have no content. */
function bodyOf({ parts }: FormBody, issues: ValidationIssues): object {
  const files = parts.filter(({ name }) => name === 'files').map(({ content }) => content);
  const fields = new Map<string, unknown>();
  for (const { name, content } of parts.filter((each) => each.name !== 'files')) {
    const { properties } = DocumentRequest;
    if (!Object.hasOwn(properties, name)) {
      issues.addUnknown([name], [...Object.keys(properties), 'files']);
    } else if (fields.has(name)) issues.add(name, 'Is given twice.');
    else {
      const schema = properties[name as keyof typeof properties];
      fields.set(name, valueOf(issues, name, schema, content));
    }
  }
  const named = fields.get('sources') ?? files.map(() => ({}));
  if (Array.isArray(named)) {
    const list: readonly unknown[] = named;
    const rest = files.values();
    const filled = list.slice(0, MAX_SOURCES + 1).map((source) => {
      const isObject = typeof source === 'object' && source !== null;
      if (!isObject || 'file' in source || 'conversion' in source) return source;
      const file = rest.next().value?.toString('base64');
      return file === undefined ? source : { ...source, file };
    });
    if (rest.next().done !== true && list.length <= MAX_SOURCES) {
      issues.add(
        'files',
        'There are more parts than sources that have neither file nor conversion.',
      );
    }
    fields.set('sources', filled);
  }
  return Object.fromEntries(fields);
}

/** Adds to `issues` all that is wrong with the body; what comes back is to be used only if nothing was. */
export function checkDocumentRequest(
  sent: object,
  issues: ValidationIssues,
  rules: RequestRules,
): CheckedDocuments {
  const body = sent instanceof FormBody ? bodyOf(sent, issues) : sent;
  const { sources, steps: given = [], ...common } = check(body, issues);
  // What the schema found wrong may be of any type.
  const steps = issues.has('steps') ? [] : given;
  const shared = Object.entries(common).filter(
    ([name]) => !issues.has(name) && Object.hasOwn(ConversionRequest.properties, name),
  );
  // They are judged by the rules of a request that has them.
  const ofAnySize = { html: '<p>', prefer_css_page_size: true };
  const whole = { ...ofAnySize, ...Object.fromEntries(shared) };
  const { texts, marks, document } = checkConversionRequest(whole, issues, rules);
  if (!issues.has('sources')) checkSources(issues, sources);
  checkSteps(issues, steps);
  const last = steps.at(-1);
  return {
    sources,
    steps: steps.filter(({ type }) => type !== 'split') as DocumentStep[],
    ...(last?.type === 'split' && last.parts && { parts: last.parts }),
    pdf: document.pdf,
    texts,
    marks,
  };
}

function checkSources(issues: ValidationIssues, sources: DocumentRequest['sources']): void {
  for (const [n, { file, conversion }] of sources.entries()) {
    const place = `sources.${n}`;
    if ((file === undefined) === (conversion === undefined)) {
      const what =
        file === undefined
          ? 'Either file or conversion is required.'
          : 'file and conversion cannot be combined: give one of them.';
      issues.add(place, what);
    }
    if (file !== undefined && (file === '' || !isBase64(file))) {
      issues.add(`${place}.file`, file === '' ? 'Must not be empty.' : BASE64_FORM);
    }
  }
}

function checkSteps(issues: ValidationIssues, steps: readonly StepRequest[]): void {
  const before: StepType[] = [];
  for (const [n, step] of steps.entries()) {
    const place = `steps.${n}`;
    const { type } = step;
    if (type === 'merge' && n > 0) issues.add(place, 'merge is the first step, or is left out.');
    const last = before.find((each) => LAST_STEPS.has(each));
    if (
      last !== undefined &&
      (!LAST_STEPS.has(type) || before.includes(type) || last === 'split')
    ) {
      issues.add(place, `Comes after ${last}: encrypt, optimize and split come last, each once.`);
    }
    before.push(type);
    checkFields(issues, place, step);
  }
}

function checkFields(issues: ValidationIssues, place: string, step: StepRequest): void {
  const { type, ...fields } = step;
  const { needs, takes } = STEP_FIELDS[type];
  for (const name of needs) {
    if (fields[name] === undefined) issues.add(`${place}.${name}`, 'Is required.');
  }
  for (const name of Object.keys(fields) as StepField[]) {
    if (![...needs, ...takes].includes(name)) {
      issues.add(`${place}.${name}`, `Does not go with ${type}.`);
    }
  }
  if (type === 'metadata' && METADATA.every((name) => fields[name] === undefined)) {
    issues.add(place, `Needs one of ${METADATA.join(', ')}.`);
  }
  if (fields.pages !== undefined && type !== 'stamp') {
    checkPageRanges(issues, `${place}.pages`, fields.pages);
  }
  for (const [n, pages] of (fields.parts ?? []).entries()) {
    checkPageRanges(issues, `${place}.parts.${n}`, pages);
  }
  if (type === 'stamp') checkStamp(issues, place, fields);
  if (type === 'encrypt') checkEncryption(issues, place, fields);
  if (fields.attachments?.length === 0) {
    issues.add(`${place}.attachments`, 'Must have at least 1 item.');
  }
  checkAttachments(issues, fields.attachments ?? [], undefined, `${place}.attachments`);
}
