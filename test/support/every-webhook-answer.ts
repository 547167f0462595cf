/** Requests that have the API give each success of its webhook routes. */
import { operatorContext } from '../../src/actors/command-context.ts';
import { deliveryAggregate } from '../../src/domain/webhook-delivery.ts';
import { type Api, BASE } from './api.ts';
import { webhookId } from './samples.ts';

/** @param conversion asks for a conversion and ends it */
export async function driveWebhooks(
  api: Api,
  { id: accountId, key }: { readonly id: string; readonly key: string },
  conversion: () => Promise<unknown>,
): Promise<void> {
  const call = async (method: string, path: string, body?: object) =>
    await api.call(method, `${BASE}/webhooks/${path}`, { key, ...(body && { body }) });
  const { body: made } = await call('POST', '', {
    url: 'https://example.com/hooks/pdf',
    description: 'the accounting system',
    types: ['conversion.completed', 'conversion.failed'],
  });
  const id = String(made['id']);
  await call('PATCH', `${id}/`, { url: 'http://example.com/' });
  await call('PATCH', `${id}/`, { types: ['conversion.completed', 'conversion.failed'] });
  for (const path of ['', `${id}/`]) await call('GET', path);
  await call('POST', `${id}/rotate/`);
  await call('POST', 'secret/rotate/');
  await call('GET', 'secret/');
  await call('POST', `${id}/test/`);
  await conversion();
  const { body: list } = await call('GET', 'deliveries/');
  const [first] = list as unknown as readonly [{ readonly id: string }];
  const about = { accountId, deliveryId: first.id, webhookId: id, round: 0 };
  const tried = {
    message: 'conversion.completed',
    attempt: 1,
    status: 204,
    durationMs: 45,
  } as const;
  const command = {
    type: 'RecordAttempt',
    ...about,
    ...tried,
    jitter: 0,
    at: api.clock.now(),
  } as const;
  await api.actors.send(deliveryAggregate, first.id, command, operatorContext(api.clock));
  for (const path of ['deliveries/', `deliveries/${first.id}/`]) await call('GET', path);
  await call('POST', `deliveries/${first.id}/redeliver/`);
  const since = '?since=2026-01-01T00:00:00Z';
  await call('POST', `${id}/redeliver/${since}`);
  await call('POST', `${id}/redeliver/`);
  await call('POST', `${webhookId(9)}/redeliver/${since}`);
  await call('PATCH', `${id}/`, { enabled: false });
  await call('POST', `deliveries/${first.id}/redeliver/`);
  await call('DELETE', `${id}/`);
}
