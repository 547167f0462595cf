import { signingRule } from '../accounts/signature.ts';
import { acceptedWithKey, accountAggregate } from '../domain/account.ts';
import type { RequestMarks } from '../domain/event-fields.ts';
import { webhooksAggregate } from '../domain/webhooks.ts';
import { namesWebhook } from '../requests/batch.ts';
import type { RequestRules } from '../requests/validate.ts';
import type { ValidationIssues } from '../requests/validation.ts';
import { callerOf, type HttpContext, keyTermsOf } from './context.ts';
import type { RouteDependencies } from './dependencies.ts';
import { idempotencyKeyHash, idempotencyKeyOf, type Purpose } from './idempotency-key.ts';

/** A signature says that its signer stands by the document. */
const TESTS_UNSIGNED =
  'A test is not signed. Leave it out, or send the request without test, with a key that is not for tests.';

/** Tells the log, and operators, of the setting that would allow a URL: once a request, which may have 1,000. */
export function settingHint(ctx: HttpContext): () => string | undefined {
  let isLogged = false;
  return () => {
    if (!isLogged) {
      ctx.state.log.info(
        'A request names a private address, a local name or, for a webhook, http. For development, ALLOW_PRIVATE_NETWORK=true allows these.',
      );
    }
    isLogged = true;
    return callerOf(ctx).isOperator
      ? 'For development, start the service with ALLOW_PRIVATE_NETWORK=true.'
      : undefined;
  };
}

/**
 * The rules of requests, with those of the account.
 * @param accountId the caller's, unless given
 * @param idempotencyKey one that was accepted within a day gets the earlier answer: what the account may ask for now is not
 *   judged then
 * @param body the new request, whose webhook_url needs a secret; absent where an earlier one is repeated
 */
export async function requestRules(
  ctx: HttpContext,
  { actors, clock, config, publicUrl, seal }: RouteDependencies,
  {
    accountId = callerOf(ctx).accountId,
    idempotencyKey,
    body,
  }: {
    readonly accountId?: string;
    readonly idempotencyKey?: string | undefined;
    readonly body?: object;
  } = {},
): Promise<RequestRules> {
  const { state } = await actors.read(accountAggregate, accountId, ctx.state.asOf);
  const now = clock.now();
  const isRepeated =
    idempotencyKey !== undefined && acceptedWithKey(state, idempotencyKey, now) !== undefined;
  // By name: a copy of all would read settings that this role does not have.
  const { maxHtmlBytes, allowPrivateNetwork, egressPorts, retentionSeconds: longest } = config;
  const own = isRepeated ? undefined : state.retentionSeconds;
  const retentionSeconds = Math.min(own ?? longest, longest);
  const judged =
    keyTermsOf(ctx).isTest === true
      ? { refusal: TESTS_UNSIGNED }
      : signingRule(state.signature, seal, now);
  const by = state.signature === undefined ? 'service' : 'account';
  const signing = isRepeated ? ({ by } as const) : judged;
  let lacksWebhookSecret = false;
  if (!isRepeated && body !== undefined && namesWebhook(body)) {
    const webhooks = await actors.read(webhooksAggregate, accountId, ctx.state.asOf);
    lacksWebhookSecret = webhooks.state.secrets.length === 0;
  }
  const rules = {
    maxHtmlBytes,
    allowPrivateNetwork,
    egressPorts,
    retentionSeconds,
    signing,
    lacksWebhookSecret,
    settingHint: settingHint(ctx),
  };
  return config.publicVerify ? { ...rules, verifyUrl: `${publicUrl}/verify` } : rules;
}

/** What was accepted with the request's key, whatever has become of the conversion that it repeats. */
export async function acceptedEarlier(
  deps: RouteDependencies,
  accountId: string,
  { idempotencyKey }: { readonly idempotencyKey?: string },
) {
  if (idempotencyKey === undefined) return undefined;
  const { state } = await deps.actors.read(accountAggregate, accountId);
  const earlier = acceptedWithKey(state, idempotencyKey, deps.clock.now());
  return earlier && { ...earlier, replayed: true };
}

/**
 * Judges requests with work on their PDF, unless they are repeated.
 * @throws {BudgetExceeded} such work of the account that failed has taken its time
 */
export async function assertWorkLeft(
  deps: RouteDependencies,
  {
    accountId,
    requests,
    ...key
  }: {
    readonly accountId: string;
    readonly idempotencyKey?: string;
    readonly requests: readonly { readonly marks: RequestMarks }[];
  },
): Promise<void> {
  if (!requests.some(({ marks }) => marks.worksOnPdf)) return;
  if ((await acceptedEarlier(deps, accountId, key)) === undefined) {
    deps.failedWork.assertLeft(accountId);
  }
}

/**
 * The hash of the request's `Idempotency-Key`, if it has one. Tests have their own: none is answered with what is not one.
 * @param purpose keeps its keys apart from those of `POST /pdf/`
 */
export function requestKeyOf(
  ctx: HttpContext,
  deps: RouteDependencies,
  issues: ValidationIssues,
  purpose?: Purpose,
): { readonly idempotencyKey?: string } {
  const key = idempotencyKeyOf(ctx, issues);
  if (key === undefined) return {};
  const { accountId } = callerOf(ctx);
  const kept = keyTermsOf(ctx).isTest ? (`${purpose ?? 'pdf'} test` as const) : purpose;
  return { idempotencyKey: idempotencyKeyHash(deps.idempotencySecret, accountId, key, kept) };
}
