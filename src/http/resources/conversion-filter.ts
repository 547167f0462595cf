/** The filters of `GET /conversions/`. */
import Type from 'typebox';
import { CONVERSION_STATUSES, MIN_ID_START } from '../../../projections/conversion-pages.ts';
import type { ConversionSearch } from '../../conversions/search.ts';
import { BATCH_ID, KEY_ID, TEMPLATE_ID } from '../../domain/ids.ts';
import type { ValidationIssues } from '../../requests/validation.ts';
import { foldText, wordsOf } from '../../text/words.ts';
import { type HttpContext, seesTestsOnly } from '../context.ts';
import { inQuery, type ParameterDoc } from '../openapi/operation.ts';
import { periodOf, periodParameters } from '../period.ts';
import { ConversionStatus } from './conversion-record.api.ts';

const MAX_Q_CHARACTERS = 300;
const MAX_Q_WORDS = 10;
const MAX_TAGS = 20;
const SOURCES = ['html', 'url', 'document'] as const;

const ID_START = new RegExp(`^conv_[0-9a-z]{${MIN_ID_START - 'conv_'.length},26}$`);
/** A word of `q` that may be the beginning of an id. All ids begin alike, so a shorter one would find everything. */
const MAYBE_ID = /^conv_[0-9a-z]{1,26}$/;
const WHOLE_KEY_ID = new RegExp(`^${KEY_ID}$`);
const WHOLE_TEMPLATE_ID = new RegExp(`^${TEMPLATE_ID}$`);
const WHOLE_BATCH_ID = new RegExp(`^${BATCH_ID}$`);
const TAG = /^[a-z0-9_-]{1,40}(?::.{1,200})?$/su;

export const CONVERSION_FILTERS = [
  'q',
  'status',
  'id',
  'reference',
  'tag',
  'key',
  'batch',
  'template',
  'source',
  'warnings',
  'from',
  'to',
  'order',
] as const;

const ORDERS = ['newest', 'oldest'] as const;

export const CONVERSION_FILTER_PARAMETERS: readonly ParameterDoc[] = [
  inQuery(
    'q',
    `Lists only conversions that have each of these words: in the file name, the title of the page, host and path of the URL, the reference or a tag. The beginning of a word is enough; case and accents do not matter. The beginning of an id is found, too. At most ${MAX_Q_WORDS} words.`,
  ),
  inQuery('status', 'Lists only conversions with this status.', ConversionStatus),
  inQuery(
    'id',
    `Lists only conversions whose id begins with this: at least ${MIN_ID_START} characters.`,
  ),
  inQuery('reference', 'Lists only conversions with exactly this reference.'),
  inQuery(
    'tag',
    'Lists only conversions with this tag: name:value, or a name alone for any value of it. Give it several times for several tags.',
  ),
  inQuery('key', 'Lists only conversions that were asked for with the API key of this id.'),
  inQuery('batch', 'Lists only the conversions of the batch with this id.'),
  inQuery('template', 'Lists only conversions that were made of the template with this id.'),
  inQuery(
    'source',
    'Lists only conversions of HTML, of URLs, or work on finished documents.',
    Type.Enum([...SOURCES]),
  ),
  inQuery('warnings', 'Lists only conversions that have warnings.', Type.Enum(['true'])),
  ...periodParameters('Conversions created'),
  inQuery(
    'order',
    'Lists the newest first, or the oldest. Default: newest.',
    Type.Enum([...ORDERS]),
  ),
];

/** The words of `q`, each with the words that it consists of: `invoice-4711` is two. */
function chunksOf(q: unknown, issues: ValidationIssues): ConversionSearch['chunks'] {
  if (q === undefined) return [];
  const text = typeof q === 'string' ? q : '';
  if (text.length > MAX_Q_CHARACTERS) {
    issues.add('q', `Must have at most ${MAX_Q_CHARACTERS} characters.`);
    return [];
  }
  const asked = new Map<string, ConversionSearch['chunks'][number]>();
  for (const chunk of foldText(text).split(/\s+/u)) {
    const words = [...new Set(wordsOf(chunk))];
    const known = asked.get(words.join(' '));
    // `1`, `1.` and `-1` ask for the same.
    if (words.length === 0 || known?.idStart !== undefined) continue;
    asked.set(words.join(' '), { words, ...(MAYBE_ID.test(chunk) && { idStart: chunk }) });
  }
  const chunks = [...asked.values()];
  if (chunks.length === 0) issues.add('q', 'Must have a letter or a digit.');
  if (chunks.flatMap(({ words }) => words).length > MAX_Q_WORDS) {
    issues.add('q', `Must have at most ${MAX_Q_WORDS} words.`);
  }
  return chunks;
}

function tagsOf(asked: HttpContext['query'][string], issues: ValidationIssues): readonly string[] {
  const tags = asked === undefined ? [] : [asked].flat();
  if (tags.length > MAX_TAGS) issues.add('tag', `Must be given at most ${MAX_TAGS} times.`);
  if (tags.some((tag) => !TAG.test(tag))) {
    issues.add('tag', 'Must be the name of a tag, or name:value, such as customer:Example Ltd.');
  }
  return tags;
}

/** A filter that may be given once, as a text that `isRight`. */
function textOf(
  { query }: HttpContext,
  name: string,
  isRight: (text: string) => boolean,
  problem: string,
  issues: ValidationIssues,
): string | undefined {
  const text = query[name];
  if (text === undefined) return undefined;
  if (typeof text === 'string' && isRight(text)) return text;
  issues.add(name, problem);
  return undefined;
}

const isStatus = (text: string): boolean => CONVERSION_STATUSES.some((each) => each === text);

/** Reads the filters; what comes back is to be used only if nothing was wrong. */
export function conversionSearchOf(ctx: HttpContext, issues: ValidationIssues): ConversionSearch {
  const one = (name: string, isRight: (text: string) => boolean, problem: string) =>
    textOf(ctx, name, isRight, problem, issues);
  const status = one('status', isStatus, `Must be one of ${CONVERSION_STATUSES.join(', ')}.`);
  const idStart = one(
    'id',
    (text) => ID_START.test(text),
    `Must be the first ${MIN_ID_START} characters of an id, or more of it.`,
  );
  const reference = one(
    'reference',
    (text) => text !== '' && text.length <= 255,
    'Must be a reference of 1 to 255 characters.',
  );
  const key = one('key', (text) => WHOLE_KEY_ID.test(text), 'Must be the id of an API key.');
  const batch = one('batch', (text) => WHOLE_BATCH_ID.test(text), 'Must be the id of a batch.');
  const template = one(
    'template',
    (text) => WHOLE_TEMPLATE_ID.test(text),
    'Must be the id of a template.',
  );
  const source = one(
    'source',
    (text) => SOURCES.some((each) => each === text),
    'Must be html, url or document.',
  );
  const order = one(
    'order',
    (text) => ORDERS.some((each) => each === text),
    'Must be newest or oldest.',
  );
  const warnings = one('warnings', (text) => text === 'true', 'Must be true.');
  return {
    chunks: chunksOf(ctx.query['q'], issues),
    tags: tagsOf(ctx.query['tag'], issues),
    hasWarnings: warnings !== undefined,
    order: order === 'oldest' ? order : 'newest',
    ...(seesTestsOnly(ctx) && { isTest: true as const }),
    ...(status && { status: status as NonNullable<ConversionSearch['status']> }),
    ...(idStart && { idStart }),
    ...(reference && { reference }),
    ...(key && { keyId: key }),
    ...(batch && { batchId: batch }),
    ...(template && { templateId: template }),
    ...(source && { source: source as (typeof SOURCES)[number] }),
    ...periodOf(ctx, issues),
  };
}

/** True if the search needs an index: statuses, beginnings of ids and periods are found in the tables. */
export const needsIndex = ({
  chunks,
  tags,
  hasWarnings,
  isTest,
  reference,
  keyId,
  batchId,
  templateId,
  source,
}: ConversionSearch): boolean =>
  chunks.length + tags.length > 0 ||
  hasWarnings ||
  isTest === true ||
  (reference ?? keyId ?? batchId ?? templateId ?? source) !== undefined;
