/** Deliveries of webhooks: what was sent to whom, how it was answered, and once more. */
import { apiKeyQueries } from '../../../projections/api-keys.ts';
import { batchQueries } from '../../../projections/batches.ts';
import { conversionQueries } from '../../../projections/conversions.ts';
import {
  type DeliveryFilter,
  type DeliveryRow,
  webhookQueries,
} from '../../../projections/webhook-queries.ts';
import { namesOf } from '../../accounts/conversion-names.ts';
import { deliveryRecord } from '../../accounts/webhook-records.ts';
import { deliveryOf, redeliver, triesOf } from '../../accounts/webhooks.ts';
import { withoutQuery } from '../../conversions/history.ts';
import { accountAggregate } from '../../domain/account.ts';
import { DELIVERY_STATUSES } from '../../domain/choices.ts';
import { holdInForce } from '../../domain/hold.ts';
import { CONVERSION_ID, DELIVERY_ID, WEBHOOK_ID } from '../../domain/ids.ts';
import { ServiceError } from '../../errors/errors.ts';
import { consistentQuery } from '../../read-model/consistent-query.ts';
import { ValidationIssues } from '../../requests/validation.ts';
import { callerOf, commandContext, type HttpContext, pathParameter, readerOf } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';
import type { Endpoint } from '../openapi/operation.ts';
import { pageOf, sendPage } from '../pagination.ts';
import { getDeliveryDoc, listDeliveriesDoc, redeliverDoc } from './webhook-deliveries.api.ts';

const WHOLE_ID = new RegExp(`^${DELIVERY_ID}$`);

/** The member whose API key wrote the request; undefined also where it was asked for in a session, or once more. */
function makerOf({ readModel }: RouteDependencies, subject = ''): string | undefined {
  const row = readModel.query(conversionQueries).byId(subject);
  if ((row?.retryOf ?? row?.rerenderOf) !== undefined) return undefined;
  const keyId = row?.keyId ?? readModel.query(batchQueries).byId(subject)?.keyId;
  return keyId === undefined ? undefined : readModel.query(apiKeyQueries).byId(keyId)?.createdBy;
}

/** The records of deliveries, with the URLs that they go to, and the names of what they are about. */
async function deliveryBodies(
  ctx: HttpContext,
  deps: RouteDependencies,
  rows: readonly DeliveryRow[],
) {
  const { readModel, vault } = deps;
  const { queriesOf } = readerOf(ctx);
  const names = await namesOf(deps, conversionsOf(rows));
  return await Promise.all(
    rows.map(async (row) => {
      const { accountId, webhookId, url, subject } = row;
      const sealed =
        webhookId === undefined ? url : readModel.query(webhookQueries).byId(webhookId)?.url;
      const opened = sealed && (await vault.unseal(accountId, sealed));
      const isWhole =
        queriesOf === undefined ||
        (webhookId === undefined && makerOf(deps, subject) === queriesOf);
      const shown = isWhole ? opened : opened && withoutQuery(opened);
      return deliveryRecord(row, shown, names.get(subject));
    }),
  );
}

const conversionsOf = (rows: readonly DeliveryRow[]): readonly string[] =>
  rows.flatMap(({ subject }) => (subject?.startsWith('conv_') === true ? subject : []));

export async function deliveryBody(ctx: HttpContext, deps: RouteDependencies, row: DeliveryRow) {
  const [body] = await deliveryBodies(ctx, deps, [row]);
  return body;
}

/** The time since which deliveries are listed: that of documents, and while a hold is in force, all. */
async function listedSince(deps: RouteDependencies, accountId: string): Promise<number> {
  const now = deps.clock.now();
  const { state } = await deps.actors.read(accountAggregate, accountId);
  return holdInForce(state, now) === undefined ? now - deps.config.retentionSeconds * 1000 : 0;
}

/** @throws {ServiceError} `not_found`, also where it is not listed any more */
async function ownDelivery(ctx: HttpContext, deps: RouteDependencies): Promise<DeliveryRow> {
  const { accountId } = callerOf(ctx);
  const id = pathParameter(ctx, 'id');
  const row = WHOLE_ID.test(id) ? await deliveryOf(deps, accountId, id) : undefined;
  if (row !== undefined && row.createdAt >= (await listedSince(deps, accountId))) return row;
  throw new ServiceError('not_found', 'There is no such delivery.');
}

function filterOf(ctx: HttpContext, issues: ValidationIssues): Omit<DeliveryFilter, 'since'> {
  const { webhook, conversion, status: asked } = ctx.query;
  const id = (name: string, given: string | string[] | undefined, pattern: string) => {
    if (given === undefined) return undefined;
    if (typeof given === 'string' && new RegExp(`^${pattern}$`).test(given)) return given;
    issues.add(name, `Must be the id of a ${name}.`);
    return undefined;
  };
  const webhookId = id('webhook', webhook, WEBHOOK_ID);
  const subject = id('conversion', conversion, CONVERSION_ID);
  const status = DELIVERY_STATUSES.find((each) => each === asked);
  if (asked !== undefined && status === undefined) {
    issues.add('status', `Must be one of ${DELIVERY_STATUSES.join(', ')}.`);
  }
  return {
    ...(webhookId !== undefined && { webhookId }),
    ...(subject !== undefined && { subject }),
    ...(status !== undefined && { status }),
  };
}

export const listDeliveries: Endpoint = {
  doc: listDeliveriesDoc,
  handler: (deps) => async (ctx) => {
    const { accountId } = callerOf(ctx);
    const issues = new ValidationIssues();
    const page = pageOf(ctx, issues, ['webhook', 'conversion', 'status']);
    const filter = filterOf(ctx, issues);
    issues.throwIfAny();
    const since = await listedSince(deps, accountId);
    const queries = await consistentQuery(deps, webhookQueries, ctx.state.asOf);
    const { rows, total } = queries.deliveries(accountId, { ...filter, ...page, since });
    sendPage(ctx, deps.publicUrl, page, total, await deliveryBodies(ctx, deps, rows));
  },
};

export const getDelivery: Endpoint = {
  doc: getDeliveryDoc,
  handler: (deps) => async (ctx) => {
    const row = await ownDelivery(ctx, deps);
    const attempts = await triesOf(deps, row, readerOf(ctx));
    ctx.body = { ...(await deliveryBody(ctx, deps, row)), attempts };
  },
};

export const postRedelivery: Endpoint = {
  doc: redeliverDoc,
  handler: (deps) => async (ctx) => {
    const row = await ownDelivery(ctx, deps);
    const again = await redeliver(deps, row, await commandContext(ctx, deps));
    ctx.status = 202;
    ctx.body = await deliveryBody(ctx, deps, again);
  },
};
