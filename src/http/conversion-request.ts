/** Requests for conversions of pages as they are read: alone and in a batch, with HTML, a URL, or a template and data. */
import {
  type FilledTemplate,
  filledBytes,
  fillTemplates,
  type TemplateMarks,
  type TemplateUse,
} from '../conversions/fill-template.ts';
import { UnencryptedText } from '../documents/encryption.ts';
import { MAX_BATCH } from '../domain/acceptance.ts';
import { checkBatchRequest } from '../requests/batch.ts';
import { bodyOfForm, FormBody } from '../requests/files.ts';
import { ConversionRequest } from '../requests/schema.ts';
import {
  checkFilled,
  filledRequest,
  isAnyObject,
  type NamedTemplate,
  namedTemplate,
} from '../requests/template.ts';
import {
  type CheckedRequest,
  checkConversionRequest,
  type RequestRules,
} from '../requests/validate.ts';
import { ValidationIssues } from '../requests/validation.ts';
import { callerOf, type HttpContext } from './context.ts';
import type { RouteDependencies } from './dependencies.ts';
import type { HoldBytes } from './middleware/body.ts';
import { acceptedEarlier, requestKeyOf, requestRules } from './request-rules.ts';

/** Stands for the HTML of a template that cannot be filled, so that the rest of its request is judged all the same. */
const NOTHING = { html: '<p>' };

type Key = { readonly idempotencyKey?: string };

/** A request that names a template, once all else of it is judged. */
interface Unfilled {
  readonly named: NamedTemplate;
  readonly rules: RequestRules;
  readonly key: Key;
}

/** What is stored of a checked request; strings are let go in favour of that. */
export const storable = (
  { document, texts, marks, ...checked }: CheckedRequest,
  kept?: TemplateMarks,
) => ({
  ...checked,
  texts: { ...texts, ...kept?.texts },
  marks: { ...marks, ...kept?.marks },
  document: new UnencryptedText(JSON.stringify(document)),
});

export type Storable = ReturnType<typeof storable>;

/** Reads all that the body and its headers ask for, but for a template, which takes longer. */
export async function parseRequest(
  ctx: HttpContext,
  deps: RouteDependencies,
  sent: object,
): Promise<(Storable & Key & { readonly accountId: string }) | Unfilled> {
  const issues = new ValidationIssues();
  const key = requestKeyOf(ctx, deps, issues);
  const rules = await requestRules(ctx, deps, { ...key, body: sent });
  const body =
    sent instanceof FormBody ? bodyOfForm(sent, ConversionRequest.properties, issues) : sent;
  const named = namedTemplate(body, issues);
  // The rest of it is judged with what the template makes of the data.
  if (named !== undefined && !issues.any) return { named, rules, key };
  const whole = named === undefined ? body : { ...named.request, ...NOTHING };
  const checked = checkConversionRequest(whole, issues, rules);
  issues.throwIfAny();
  return { accountId: callerOf(ctx).accountId, ...storable(checked), ...key };
}

/** The request with what its template made of the data. Adds to `issues` why that cannot be. */
function filledWith(
  request: NamedTemplate['request'],
  filled: FilledTemplate,
  issues: ValidationIssues,
): object {
  if ('problems' in filled) {
    for (const { path, message } of filled.problems) issues.add(path.join('.'), message);
  } else {
    const texts = { ...filled.texts };
    if (checkFilled(issues, texts)) return filledRequest(filled.content, request, texts);
  }
  return { ...request, ...NOTHING };
}

/** Fills templates, and holds what they made. */
async function fill(
  deps: RouteDependencies,
  accountId: string,
  uses: readonly TemplateUse[],
  { maxHtmlBytes }: RequestRules,
  hold: HoldBytes,
): Promise<readonly FilledTemplate[]> {
  const bounds = { maxHtmlBytes, maxBytes: deps.config.maxBodyBytes };
  const filled = await fillTemplates(deps, accountId, uses, bounds);
  hold(filledBytes(filled));
  return filled;
}

/**
 * Fills the template of a request that names one; the others are whole. A repeat that is right by itself gets the answer
 * to its key without that: the template may have been deleted since.
 */
export async function wholeRequest(
  ctx: HttpContext,
  deps: RouteDependencies,
  parsed: Awaited<ReturnType<typeof parseRequest>>,
  hold: HoldBytes,
) {
  if (!('named' in parsed)) return parsed;
  const { named, rules, key } = parsed;
  const { accountId } = callerOf(ctx);
  const { reference, data, request } = named;
  const earlier = await acceptedEarlier(deps, accountId, key);
  if (earlier !== undefined) {
    const alone = new ValidationIssues();
    checkConversionRequest({ ...request, ...NOTHING }, alone, rules);
    if (!alone.any) return earlier;
  }
  const uses = reference === undefined ? [] : [{ reference, data }];
  const issues = new ValidationIssues();
  const [filled] = await fill(deps, accountId, uses, rules, hold);
  if (filled === undefined) throw new Error('A template without a name was to be filled.');
  const checked = checkConversionRequest(filledWith(request, filled, issues), issues, rules);
  issues.throwIfAny();
  if (earlier !== undefined) return earlier;
  const kept = 'kept' in filled ? filled.kept : undefined;
  return { accountId, ...storable(checked, kept), ...key };
}

/**
 * Checks the body of a batch; requests that name a template are filled before.
 * @param hold absent: nothing is filled, and requests are judged by themselves
 */
export async function wholeBatch(
  deps: RouteDependencies,
  accountId: string,
  body: object,
  {
    rules,
    issues,
    hold,
  }: {
    readonly rules: RequestRules;
    readonly issues: ValidationIssues;
    readonly hold?: HoldBytes;
  },
) {
  const {
    template: usual = null,
    requests: list,
    ...rest
  } = Object.fromEntries(Object.entries(body)) as Readonly<Record<string, unknown>>;
  if (usual !== null) {
    namedTemplate({ template: usual }, issues);
    issues.throwIfAny();
  }
  // What is wrong with a list that is too long is said by the check.
  const all: readonly unknown[] = Array.isArray(list) && list.length <= MAX_BATCH ? list : [];
  const found = all.map(() => new ValidationIssues());
  const named = all.map((each, n) =>
    isAnyObject(each) ? namedTemplate(each, found[n] ?? issues, usual ?? undefined) : undefined,
  );
  const uses = new Map<number, TemplateUse>();
  for (const [n, each] of named.entries()) {
    if (hold && each?.reference !== undefined && found[n]?.any === false) {
      uses.set(n, { reference: each.reference, data: each.data });
    }
  }
  const made = hold ? await fill(deps, accountId, [...uses.values()], rules, hold) : [];
  const filled = new Map([...uses.keys()].map((n, at) => [n, made[at]] as const));
  const requests = all.map((each, n) => {
    const { request } = named[n] ?? {};
    const of = filled.get(n);
    if (request === undefined) return each;
    if (of === undefined) return { ...request, ...NOTHING };
    return filledWith(request, of, found[n] ?? issues);
  });
  for (const [n, each] of found.entries()) {
    if (each.any) issues.addWithin(`requests.${n}`, each);
  }
  const whole = { ...rest, requests: all.length > 0 ? requests : list };
  return await checkBatchRequest(whole, issues, rules, (checked, n) => {
    const of = filled.get(n);
    return storable(checked, of !== undefined && 'kept' in of ? of.kept : undefined);
  });
}

/** True where a request of a batch may name a template. */
export const namesTemplate = (body: object): boolean => {
  const list: unknown = Reflect.get(body, 'requests');
  const all: readonly unknown[] = Array.isArray(list) ? list : [];
  return [body, ...all].some(
    (each) => isAnyObject(each) && (each['template'] ?? each['data'] ?? null) !== null,
  );
};
