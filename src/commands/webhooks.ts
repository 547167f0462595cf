/** Webhook endpoints and deliveries of the account at a service. */
import type { Webhook, WebhookDelivery, WebhookType } from '../../client/src/webhooks.ts';
import { DELIVERY_STATUSES } from '../domain/choices.ts';
import {
  choiceOf,
  type Invocation,
  type Output,
  type Run,
  textOption,
  UsageError,
} from './command.ts';
import { dateOf, limitOf, recordRows, serviceOf, take } from './service.ts';

const firstOf = ({ positionals: [id = ''] }: Invocation): string => id;

/** Whether the types are known is the service's to say. */
const typesOf = (invocation: Invocation): readonly WebhookType[] | undefined =>
  textOption(invocation, 'types')?.split(',') as readonly WebhookType[] | undefined;

function settingsOf(invocation: Invocation) {
  const [types, description] = [typesOf(invocation), textOption(invocation, 'description')];
  return { ...(types && { types }), ...(description !== undefined && { description }) };
}

const stateOf = ({ enabled, disabled_reason: reason, failing_since: since }: Webhook): string =>
  enabled ? (since === null ? 'on' : 'failing') : `off (${reason ?? ''})`;

export const webhooksList: Run = async (invocation, context) => {
  const limit = limitOf(invocation);
  const { client } = await serviceOf(invocation, context);
  // There are 20 at most.
  const { items } = await client.webhooks.list({ pageSize: Math.min(limit, 100) });
  context.output.json(items);
  context.output.table(
    ['ID', 'STATE', 'CREATED', 'SECRET', 'TYPES', 'URL', 'NOTE'],
    items.map((each) => [
      each.id,
      stateOf(each),
      dateOf(each.created_at),
      `${each.secret_prefix}…`,
      each.types.join(','),
      each.url,
      each.description,
    ]),
    'There is no webhook endpoint.',
  );
};

function tellSecret(output: Output, made: { readonly secret: string }, text: string): void {
  output.json(made);
  output.line(text);
  output.line(`Secret (shown only now): ${made.secret}`);
}

export const webhooksCreate: Run = async (invocation, context) => {
  const { client } = await serviceOf(invocation, context);
  const url = firstOf(invocation);
  const made = await client.webhooks.create({ url, ...settingsOf(invocation) });
  tellSecret(
    context.output,
    made,
    `Created ${made.id}, which is told of ${made.types.join(', ')}.`,
  );
};

export const webhooksUpdate: Run = async (invocation, context) => {
  const [enable, disable] = [invocation.values['enable'], invocation.values['disable']];
  if (enable === true && disable === true) {
    throw new UsageError('--enable and --disable exclude each other.');
  }
  const url = textOption(invocation, 'url');
  const change = {
    ...(url !== undefined && { url }),
    ...settingsOf(invocation),
    ...((enable ?? disable) === true && { enabled: enable === true }),
  };
  if (Object.keys(change).length === 0) {
    throw new UsageError(
      'Say what to change: --url, --types, --description, --enable or --disable.',
    );
  }
  const { client } = await serviceOf(invocation, context);
  const changed = await client.webhooks.update(firstOf(invocation), change);
  context.output.json(changed);
  context.output.line(`${changed.id} is ${stateOf(changed)}: ${changed.url}`);
};

export const webhooksDelete: Run = async (invocation, context) => {
  const { client } = await serviceOf(invocation, context);
  const id = firstOf(invocation);
  await client.webhooks.delete(id);
  context.output.json({ id });
  context.output.line(`${id} is deleted.`);
};

export const webhooksRotate: Run = async (invocation, context) => {
  const { client } = await serviceOf(invocation, context);
  const id = firstOf(invocation);
  const made = id === '' ? await client.webhooks.rotateSecret() : await client.webhooks.rotate(id);
  tellSecret(context.output, made, 'A former secret signs beside the new one for 24 hours.');
};

function tellDelivery(output: Output, delivery: WebhookDelivery): void {
  output.json(delivery);
  output.line(`${delivery.id} is ${delivery.status}.`);
}

export const webhooksTest: Run = async (invocation, context) => {
  const { client } = await serviceOf(invocation, context);
  tellDelivery(context.output, await client.webhooks.test(firstOf(invocation)));
};

export const webhooksDeliveries: Run = async (invocation, context) => {
  const limit = limitOf(invocation);
  const asked = textOption(invocation, 'status');
  const status = asked === undefined ? undefined : choiceOf(asked, DELIVERY_STATUSES);
  if (asked !== undefined && status === undefined) {
    throw new UsageError(`--status is one of ${DELIVERY_STATUSES.join(', ')}.`);
  }
  const { client } = await serviceOf(invocation, context);
  const { output } = context;
  const id = firstOf(invocation);
  if (id !== '') {
    const delivery = await client.webhooks.delivery(id);
    output.json(delivery);
    const { attempts, ...record } = delivery;
    output.table([], recordRows(record));
    output.line('');
    output.table(
      ['TRY', 'ANSWER', 'MS', 'BODY'],
      attempts.map(({ at, status: code, failure, duration_ms, answer }) => [
        dateOf(at),
        code ?? failure,
        duration_ms,
        answer,
      ]),
      'It was not tried yet.',
    );
    return;
  }
  const [webhook, conversion] = ['webhook', 'conversion'].map((name) =>
    textOption(invocation, name),
  );
  const found = await take(limit, (query) =>
    client.webhooks.deliveries({ ...query, webhook, conversion, status }),
  );
  output.json(found);
  output.table(
    ['ID', 'STATUS', 'TYPE', 'EVENT', 'TRIES', 'ANSWER', 'NEXT TRY', 'ABOUT', 'URL'],
    found.map((each) => [
      each.id,
      each.status,
      each.type,
      dateOf(each.created_at),
      each.tries,
      each.last_status ?? each.last_failure ?? each.dropped,
      dateOf(each.next_try_at),
      each.name ?? each.conversion_id ?? each.batch_id,
      each.url,
    ]),
    'There is no such delivery.',
  );
};

export const webhooksRedeliver: Run = async (invocation, context) => {
  const since = textOption(invocation, 'since');
  const id = firstOf(invocation);
  if (since === undefined && id.startsWith('webhook_')) {
    throw new UsageError('Give --since, the time from which on what failed is sent again.');
  }
  const { client } = await serviceOf(invocation, context);
  if (since === undefined) {
    tellDelivery(context.output, await client.webhooks.redeliver(id));
    return;
  }
  const again = await client.webhooks.redeliverFailed(id, since);
  context.output.json(again);
  context.output.line(
    `Failed deliveries that are sent again: ${again.deliveries}. One that waits for its next try is sent now by its own id.`,
  );
};
