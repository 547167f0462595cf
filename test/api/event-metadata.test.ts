/** Each change of state says who made it, with what credential, from where, and by which request. */
import { type Test, test } from 'tap';
import { operatorContext } from '../../src/actors/command-context.ts';
import { accountAggregate } from '../../src/domain/account.ts';
import { founderOf } from '../../src/domain/members.ts';
import type { EventMetadata } from '../../src/domain/event-metadata.ts';
import { type EventType, SCHEMA_VERSION } from '../../src/domain/events.ts';
import type { RecordedEvent } from '../../src/event-store/port.ts';
import { startRefunds } from '../../src/process-managers/refunds.ts';
import { type Api, BASE, PASSWORD, startApi } from '../support/api.ts';
import { eventually } from '../support/deadline.ts';

async function find(
  api: Api,
  type: EventType,
  of?: { readonly accountId: string; readonly requestId: string },
): Promise<RecordedEvent> {
  return await eventually(`${type} ${of?.requestId ?? ''}`, async () => {
    const events = (await api.store.readAll()).filter((event) => event.type === type);
    for (const event of events.toReversed()) {
      const { requestId = '' } = event.metadata as EventMetadata;
      if (of === undefined) return event;
      if (requestId === '') continue;
      if ((await api.vault.unseal(of.accountId, requestId)) === of.requestId) return event;
    }
    return undefined;
  });
}

/** An event that a request caused is complete, and names its client only under the account's key. */
async function complete(
  t: Test,
  api: Api,
  event: RecordedEvent,
  accountId: string,
  actor: object,
): Promise<void> {
  const { client = '', ...metadata } = event.metadata as EventMetadata;
  const { correlationId, causationId } = metadata;
  t.strictSame(
    metadata,
    {
      correlationId,
      causationId,
      actor,
      requestId: metadata.requestId,
      time: api.clock.time,
      schemaVersion: SCHEMA_VERSION,
    },
    event.type,
  );
  t.match(causationId, /^cmd_[0-9a-z]{26}$/);
  t.match(correlationId, 'conversionId' in event.data ? /^conv_/ : causationId);
  t.notMatch(JSON.stringify([event.data, event.metadata]), '127.0.0.1');
  t.equal(await api.vault.unseal(accountId, client), '127.0.0.1', `${event.type}: from where`);
}

const by = (name: string, more: object = {}) => ({
  headers: { 'X-Request-Id': name, ...more },
});
const body = (value: object, name: string, more: object = {}) => ({
  ...by(name, more),
  body: value,
});

void test('what requests do', async (t) => {
  const api = await startApi(t);
  const { id, email, key, keyId } = await api.newAccount();
  const seen = async (type: EventType, requestId: string, actor: object) =>
    await complete(t, api, await find(api, type, { accountId: id, requestId }), id, actor);

  const create = `${BASE}/auth/jwt/create/`;
  const signedIn = await api.call('POST', create, body({ email, password: PASSWORD }, 'in'));
  const member = { person: founderOf(id), role: 'owner' };
  await seen('SessionOpened', 'in', { kind: 'account', id, ...member });
  const { access, refresh } = signedIn.body as { access: string; refresh: string };
  const { sid } = JSON.parse(Buffer.from(access.split('.')[1] ?? '', 'base64url').toString()) as {
    sid: string;
  };
  const session = { kind: 'session', id: sid, ...member };
  const bearer = { Authorization: `Bearer ${access}` };

  const made = await api.call('POST', `${BASE}/api-keys/`, body({ name: 'n' }, 'key', bearer));
  await seen('KeyCreated', 'key', session);
  const own = { 'X-API-Key': made.body['key'] as string };
  const keyActor = { kind: 'key', id: made.body['id'], ...member };
  await api.call('POST', `${BASE}/pdf/`, body({ html: '<p>x</p>' }, 'pdf', own));
  await seen('CreditDebited', 'pdf', keyActor);
  await seen('ConversionRequested', 'pdf', keyActor);
  await seen('KeyUsed', 'pdf', keyActor);
  await api.call('POST', `${BASE}/pdf/`, body({ html: '<p>x</p>' }, 'pdf 2', bearer));
  await seen('ConversionRequested', 'pdf 2', session);
  const keyPath = `${BASE}/api-keys/${made.body['id'] as string}/`;
  await api.call('DELETE', keyPath, { ...by('revoke'), key });
  await seen('KeyRevoked', 'revoke', { kind: 'key', id: keyId, ...member });
  await api.call('POST', `${BASE}/auth/jwt/revoke/`, body({ refresh }, 'out'));
  await seen('SessionRevoked', 'out', session);
  await api.call('POST', create, body({ email, password: 'wrong' }, 'wrong'));
  await seen('SignInRefused', 'wrong', { kind: 'anonymous' });
});

void test('what the operator and the service do', async (t) => {
  const api = await startApi(t);
  const { id, key } = await api.newAccount({ plan: 'free' });
  const granted = await find(api, 'CreditGranted');
  t.match(granted.metadata, { actor: { kind: 'operator' }, time: api.clock.time });
  await api.actors.send(
    accountAggregate,
    id,
    { type: 'ChangePlan', accountId: id, plan: 'pro' },
    operatorContext(api.clock),
  );
  t.match((await find(api, 'PlanChanged')).metadata, {
    actor: { kind: 'operator' },
    causationId: /^cmd_/,
    time: api.clock.time,
  });
  const refunds = startRefunds(api);
  t.teardown(() => refunds.stop());
  const accepted = await api.call('POST', `${BASE}/pdf/`, { key, body: { html: '<p>x</p>' } });
  const conversionId = accepted.body['id'] as string;
  await api.fail(id, conversionId, 'It failed.');
  const refunded = await find(api, 'CreditRefunded');
  t.match(refunded.metadata, {
    actor: { kind: 'service' },
    correlationId: conversionId,
    causationId: (await find(api, 'ConversionFailed')).id,
  });
});
