/** Makes of requests that name a template and data the requests that are judged and stored: with the HTML. */
import { createHash } from 'node:crypto';
import { templateQueries } from '../../projections/templates.ts';
import { contentOf, type TemplateReaders } from '../accounts/templates.ts';
import type { RequestMarks, RequestTexts } from '../domain/event-fields.ts';
import { NO_TEMPLATE, type TemplateContent } from '../domain/templates.ts';
import { consistentQuery } from '../read-model/consistent-query.ts';
import type { Filled, FillProblem, TemplateTexts } from '../templates/messages.ts';
import { canonicalJson } from '../transparency-log/canonical-event.ts';
import type { TemplateTime } from './template-time.ts';

export interface FillDependencies extends TemplateReaders {
  readonly templates: Pick<TemplateTime, 'fill'>;
}

/** What a request names. */
export interface TemplateUse {
  readonly reference: { readonly id: string; readonly version?: number };
  readonly data: object;
}

/** What is kept of that with the conversion: the version, and the hash of the data, to be sealed. */
export interface TemplateMarks {
  readonly marks: Pick<RequestMarks, 'template'>;
  readonly texts: Pick<RequestTexts, 'templateData'>;
}

export type FilledTemplate =
  | {
      readonly content: TemplateContent;
      readonly texts: TemplateTexts;
      readonly kept: TemplateMarks;
    }
  /** At least one; the first step of each names the field. */
  | { readonly problems: readonly FillProblem[] };

export interface FillBounds {
  readonly maxHtmlBytes: number;
  /** Of all filled templates together. */
  readonly maxBytes: number;
}

interface Version {
  readonly id: string;
  readonly version: number;
  readonly content: TemplateContent;
}

/** The version that is meant: the newest of now, where none is named. @throws {KeyErased} */
async function resolved(
  deps: FillDependencies,
  accountId: string,
  { id, version: asked }: TemplateUse['reference'],
): Promise<Version | string> {
  const queries = await consistentQuery(deps, templateQueries);
  const row = queries.byId(id);
  if (row?.accountId !== accountId) return NO_TEMPLATE;
  const version = queries.version(id, asked ?? row.version);
  if (version === undefined) {
    return `The template has no version ${asked ?? 0}. The newest is ${row.version}.`;
  }
  return { id, version: version.version, content: await contentOf(deps, accountId, version) };
}

export const dataHash = (data: object): string =>
  createHash('sha256').update(canonicalJson(data)).digest('hex');

/** Where a text of a version is wrong, the request can name no other place than the template. */
const inRequest = ({ path: [field = '', ...steps], message }: FillProblem): FillProblem =>
  field === 'data'
    ? { path: [field, ...steps], message }
    : {
        path: ['template'],
        message: field === 'html' ? message : `${field}: ${message}`,
      };

async function fillVersion(
  { templates }: FillDependencies,
  accountId: string,
  { id, version, content }: Version,
  uses: readonly TemplateUse[],
  { maxHtmlBytes, maxBytes }: FillBounds,
): Promise<readonly FilledTemplate[]> {
  const { html, header_html, footer_html, schema } = content;
  const { filled, problems } = await templates.fill(accountId, {
    texts: {
      html,
      ...(header_html !== undefined && { header_html }),
      ...(footer_html !== undefined && { footer_html }),
    },
    ...(schema && { schema: JSON.stringify(schema) }),
    data: uses.map(({ data }) => JSON.stringify(data)),
    maxBytes: maxHtmlBytes,
    maxTotalBytes: maxBytes,
  });
  const wrong = { problems: problems.map(inRequest) };
  return uses.map(({ data }, n) => {
    const each: Filled | undefined = filled[n];
    // A job that ended before its last data says why.
    if (each === undefined) return wrong;
    if ('problems' in each) return { problems: each.problems.map(inRequest) };
    const marks = { template: { id, version } };
    return { content, texts: each.texts, kept: { marks, texts: { templateData: dataHash(data) } } };
  });
}

const nameOf = ({ reference: { id, version } }: TemplateUse): string => `${id}@${version ?? ''}`;

/**
 * Fills the templates of requests, each with its data, in their order. Requests that name the same get the same version.
 * @throws {ServiceError} `service_unavailable`
 * @throws {KeyErased} the account was erased
 */
export async function fillTemplates(
  deps: FillDependencies,
  accountId: string,
  uses: readonly TemplateUse[],
  bounds: FillBounds,
): Promise<readonly FilledTemplate[]> {
  const filled = new Map<TemplateUse, FilledTemplate>();
  let left = bounds.maxBytes;
  for (const group of Map.groupBy(uses, nameOf).values()) {
    const [first] = group;
    if (first === undefined) continue;
    const version = await resolved(deps, accountId, first.reference);
    const all =
      typeof version === 'string'
        ? group.map(() => ({ problems: [{ path: ['template'], message: version }] }))
        : await fillVersion(deps, accountId, version, group, { ...bounds, maxBytes: left });
    left -= filledBytes(all);
    for (const [n, each] of all.entries()) filled.set(group[n] ?? first, each);
  }
  return uses.flatMap((use) => filled.get(use) ?? []);
}

/** The bytes of what the templates made. */
export const filledBytes = (filled: readonly FilledTemplate[]): number =>
  filled.reduce((sum, each) => sum + ('texts' in each ? bytesOf(each.texts) : 0), 0);

const bytesOf = ({ html, header_html = '', footer_html = '' }: TemplateTexts): number =>
  Buffer.byteLength(html) + Buffer.byteLength(header_html) + Buffer.byteLength(footer_html);
