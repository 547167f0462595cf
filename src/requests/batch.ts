/** Every rule of the body of `POST /batches/`: what its requests have in common, and each of them as `POST /pdf/` has it. */
import { setImmediate as turn } from 'node:timers/promises';
import Type, { type Static } from 'typebox';
import { MAX_BATCH } from '../domain/acceptance.ts';
import type { RequestTexts } from '../domain/event-fields.ts';
import { ServiceError } from '../errors/errors.ts';
import { FormBody } from './files.ts';
import { ConversionRequest } from './schema.ts';
import { type CheckedRequest, checkConversionRequest, type RequestRules } from './validate.ts';
import { compile, ValidationIssues } from './validation.ts';

const { reference, tags, priority, webhook_url, template } = ConversionRequest.properties;

/** Defaults of those requests that do not have the field. */
const COMMON = { reference, tags, priority };
const OWN = {
  webhook_url: Type.Optional(
    Type.String({
      ...webhook_url,
      description:
        'The https address that is told when the batch has ended, signed with the default secret of the account. Make that first, with POST /webhooks/secret/rotate/.',
    }),
  ),
};

/** The body of `POST /batches/`. */
export const BatchRequest = Type.Object(
  {
    requests: Type.Array(ConversionRequest, {
      minItems: 1,
      maxItems: MAX_BATCH,
      description: 'The requests, each as the body of POST /pdf/.',
    }),
    template: Type.Optional({
      ...template,
      description:
        'The template of those requests that have no html, url or template of their own: they need data alone.',
    }),
    ...COMMON,
    ...OWN,
  },
  { additionalProperties: false },
);

/** The same without the template, which is filled before, and with the requests unchecked: all faults of theirs are named by `checkConversionRequest`. */
const check = compile(
  Type.Object(
    {
      requests: Type.Array(Type.Unknown(), { minItems: 1, maxItems: MAX_BATCH }),
      ...COMMON,
      ...OWN,
    },
    { additionalProperties: false },
  ),
);

export type BatchRequest = Static<typeof BatchRequest>;

export interface CheckedBatch<Kept> {
  /** The checked requests, in their order, as `keep` made them. */
  readonly requests: readonly Kept[];
  /** Of the batch itself, to be sealed. */
  readonly texts: Pick<RequestTexts, 'reference' | 'tags' | 'webhookUrl'>;
}

/** Fields of one request that an answer names. */
const MAX_OF_ONE = 200;

/** Requests that are checked before others have their turn. */
const SLICE_MS = 10;

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Adds to `issues` all that is wrong with the body; what comes back is to be used only if nothing was.
 * @param keep makes of a checked request what is needed of it, so that the rest can be let go
 * @throws {ServiceError} `payload_too_large` where the HTML of one is too large
 */
export async function checkBatchRequest<Kept>(
  body: object,
  issues: ValidationIssues,
  rules: RequestRules,
  keep: (request: CheckedRequest, n: number) => Kept,
): Promise<CheckedBatch<Kept>> {
  const { requests: _, webhook_url: url, ...common } = check(body, issues);
  const ofBatch = url === undefined ? common : { ...common, webhook_url: url };
  // The defaults are checked by the rules of a request that has them.
  const { texts } = checkConversionRequest({ html: '<p>', ...ofBatch }, issues, rules);
  const list: unknown = Reflect.get(body, 'requests');
  const isList = Array.isArray(list) && list.length <= MAX_BATCH;
  if (!isList && !issues.has('requests')) issues.add('requests', 'Is required.');
  const hasCommon = !Object.keys(COMMON).some((name) => issues.has(name));
  const kept: Kept[] = [];
  let until = performance.now() + SLICE_MS;
  const all: readonly unknown[] = isList ? list : [];
  for (const [n, request] of all.entries()) {
    if (performance.now() > until) {
      await turn();
      until = performance.now() + SLICE_MS;
    }
    const place = `requests.${n}`;
    if (!isObject(request)) {
      issues.add(place, 'Must be an object.');
      continue;
    }
    const given = Object.entries(request).filter(
      ([name, value]) => value !== null || !Object.hasOwn(COMMON, name),
    );
    const whole = hasCommon ? { ...common, ...Object.fromEntries(given) } : request;
    // One fault of each later request has a place, too.
    const room = issues.room - (all.length - n - 1);
    const found = new ValidationIssues(Math.max(1, Math.min(MAX_OF_ONE, room)));
    const checked = inPlace(place, () => checkConversionRequest(whole, found, rules));
    if (found.any) issues.addWithin(place, found);
    else if (!issues.any) kept.push(keep(checked, n));
  }
  const { filename: __, address: ___, ...ownTexts } = texts;
  return { requests: kept, texts: ownTexts };
}

/** True where the body of a request, of a batch or of one in it, may have a webhook_url. */
export function namesWebhook(body: object): boolean {
  if (body instanceof FormBody) return body.parts.some(({ name }) => name === 'webhook_url');
  const list: unknown = Reflect.get(body, 'requests');
  const all: readonly unknown[] = Array.isArray(list) ? [body, ...list] : [body];
  return all.some((each) => isObject(each) && (Reflect.get(each, 'webhook_url') ?? null) !== null);
}

/** Names the place of a request that is too large by itself. */
function inPlace<T>(place: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.details === undefined) throw error;
    const details = Object.fromEntries(
      Object.entries(error.details).map(([name, texts]) => [`${place}.${name}`, texts]),
    );
    throw new ServiceError(error.code, `${place}.${error.message}`, { details });
  }
}
