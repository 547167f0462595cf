/** Webhook endpoints of the account, and the secret of its requests' URLs. */
import { type WebhookRow, webhookQueries } from '../../../projections/webhook-queries.ts';
import { webhookRecord } from '../../accounts/webhook-records.ts';
import {
  changeWebhook,
  createWebhook,
  redeliverFailed,
  deleteWebhook as removeWebhook,
  rotateSecret,
  testWebhook as sendTest,
  type WebhookSettings,
  webhookOf,
} from '../../accounts/webhooks.ts';
import { withoutQuery } from '../../conversions/history.ts';
import { WEBHOOK_TYPES } from '../../domain/choices.ts';
import { WEBHOOK_ID } from '../../domain/ids.ts';
import { ServiceError } from '../../errors/errors.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { compile, type ValidationIssues, validated } from '../../requests/validation.ts';
import { checkWebhookUrl, type WebhookUrlRules } from '../../requests/webhooks.ts';
import { plainText } from '../../text/plain-text.ts';
import { isoTime, timeIn } from '../../time/clock.ts';
import { callerOf, commandContext, type HttpContext, pathParameter, readerOf } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { checkQuery, pageOf, sendPage } from '../pagination.ts';
import { settingHint } from '../request-rules.ts';
import { redeliverFailedDoc } from './webhook-deliveries.api.ts';
import { deliveryBody } from './webhook-deliveries.ts';
import {
  changeWebhookDoc,
  createWebhookDoc,
  deleteWebhookDoc,
  getDefaultSecretDoc,
  getWebhookDoc,
  listWebhooksDoc,
  rotateDefaultSecretDoc,
  rotateWebhookDoc,
  testWebhookDoc,
  WebhookChange,
  WebhookRequest,
} from './webhooks.api.ts';

const WHOLE_ID = new RegExp(`^${WEBHOOK_ID}$`);

/** @throws {ServiceError} `not_found` where it can be no endpoint's */
function webhookIdOf(ctx: HttpContext): string {
  const id = pathParameter(ctx, 'id');
  if (!WHOLE_ID.test(id)) {
    throw new ServiceError('not_found', 'There is no such webhook endpoint.');
  }
  return id;
}

const checkRequest = compile(WebhookRequest);
const checkChange = compile(WebhookChange);

const urlRules = (ctx: HttpContext, { config }: RouteDependencies): WebhookUrlRules => ({
  allowPrivateNetwork: config.allowPrivateNetwork,
  egressPorts: config.egressPorts,
  settingHint: settingHint(ctx),
});

/** Checks what a schema cannot say. @returns the settings as they are stored */
function checkedSettings<Settings extends WebhookSettings>(
  issues: ValidationIssues,
  settings: Settings,
  rules: WebhookUrlRules,
): Settings {
  const { url, description } = settings;
  // Lists of endpoints show it, on terminals too.
  if (!issues.has('description') && description && plainText(description) !== description) {
    issues.add(
      'description',
      'Must have no control characters, line breaks or marks of text direction.',
    );
  }
  if (url === undefined || issues.has('url')) return settings;
  return { ...settings, url: checkWebhookUrl(issues, 'url', url, rules) };
}

/** Those who may not change endpoints see addresses without their query, which may hold a secret. */
async function recordOf(ctx: HttpContext, { vault }: RouteDependencies, row: WebhookRow) {
  const record = await webhookRecord(vault, row);
  const isWhole = readerOf(ctx).queriesOf === undefined;
  return isWhole ? record : { ...record, url: withoutQuery(record.url) };
}

export const listWebhooks: Endpoint = {
  doc: listWebhooksDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const page = validated((issues) => pageOf(ctx, issues));
    const queries = await consistentQuery(deps, webhookQueries, ctx.state.asOf);
    const { rows, total } = queries.page(accountId, page);
    const records = await Promise.all(rows.map((row) => recordOf(ctx, deps, row)));
    sendPage(ctx, deps.publicUrl, page, total, records);
  },
};

export const postWebhook: Endpoint = {
  doc: createWebhookDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const { types = WEBHOOK_TYPES, ...settings } = await deps.bodies.readSmall(
      ctx,
      deps.config,
      (body, issues) => checkedSettings(issues, checkRequest(body, issues), urlRules(ctx, deps)),
    );
    const context = await commandContext(ctx, deps);
    const { row, secret } = await createWebhook(deps, accountId, { ...settings, types }, context);
    ctx.status = 201;
    ctx.body = { ...(await recordOf(ctx, deps, row)), secret };
  },
};

export const getWebhook: Endpoint = {
  doc: getWebhookDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    ctx.body = await recordOf(
      ctx,
      deps,
      await webhookOf(deps, accountId, webhookIdOf(ctx), ctx.state.asOf),
    );
  },
};

export const patchWebhook: Endpoint = {
  doc: changeWebhookDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const id = webhookIdOf(ctx);
    const settings = await deps.bodies.readSmall(ctx, deps.config, (body, issues) =>
      checkedSettings(issues, checkChange(body, issues), urlRules(ctx, deps)),
    );
    const context = await commandContext(ctx, deps);
    ctx.body = await recordOf(
      ctx,
      deps,
      await changeWebhook(deps, accountId, id, settings, context),
    );
  },
};

export const deleteWebhook: Endpoint = {
  doc: deleteWebhookDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    await removeWebhook(deps, accountId, webhookIdOf(ctx), await commandContext(ctx, deps));
    ctx.status = 204;
  },
};

export const rotateWebhook: Endpoint = {
  doc: rotateWebhookDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const id = webhookIdOf(ctx);
    const secret = await rotateSecret(deps, accountId, id, await commandContext(ctx, deps));
    const record = await recordOf(ctx, deps, await webhookOf(deps, accountId, id));
    ctx.body = { ...record, secret };
  },
};

export const testWebhook: Endpoint = {
  doc: testWebhookDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const id = webhookIdOf(ctx);
    const row = await sendTest(deps, accountId, id, await commandContext(ctx, deps));
    ctx.status = 202;
    ctx.body = await deliveryBody(ctx, deps, row);
  },
};

export const postRedeliveries: Endpoint = {
  doc: redeliverFailedDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const id = webhookIdOf(ctx);
    const since = validated((issues) => {
      checkQuery(ctx, issues, ['since']);
      const { since: text } = ctx.query;
      const time = typeof text === 'string' ? timeIn(text) : undefined;
      if (time === undefined) {
        issues.add(
          'since',
          'Must be an ISO 8601 time with its offset, such as 2026-11-21T08:15:30Z.',
        );
      }
      return Math.max(0, time ?? 0);
    });
    const context = await commandContext(ctx, deps);
    const deliveries = await redeliverFailed(deps, accountId, id, since, context);
    ctx.status = 202;
    ctx.body = { deliveries };
  },
};

/** @throws {ServiceError} `not_found` before the first */
async function defaultSecretOf(deps: RouteDependencies, accountId: string) {
  const row = (await consistentQuery(deps, webhookQueries)).defaultSecret(accountId);
  if (row !== undefined) {
    return { secret_prefix: row.secretPrefix, created_at: isoTime(row.secretAt) };
  }
  throw new ServiceError(
    'not_found',
    'There is no default secret yet. POST /api/v1/webhooks/secret/rotate/ makes one and shows it.',
  );
}

export const getDefaultSecret: Endpoint = {
  doc: getDefaultSecretDoc,
  handler: (deps) => async (ctx) => {
    ctx.body = await defaultSecretOf(deps, callerOf(ctx).accountId);
  },
};

export const rotateDefaultSecret: Endpoint = {
  doc: rotateDefaultSecretDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const context = await commandContext(ctx, deps);
    const secret = await rotateSecret(deps, accountId, undefined, context);
    ctx.body = { ...(await defaultSecretOf(deps, accountId)), secret };
  },
};
