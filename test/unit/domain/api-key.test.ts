import { test } from 'tap';
import {
  type ApiKeyCommand,
  type ApiKeyEvent,
  apiKey,
  apiKeyStream,
  KEY_USE_INTERVAL_MS,
  useIsDue,
} from '../../../src/domain/api-key.ts';
import { fold, given } from '../../support/given.ts';
import { accountId, keyId, NOW, sha256 } from '../../support/samples.ts';

const details = {
  accountId: accountId(),
  keyId: keyId(),
  keyHash: sha256(),
  prefix: 'pk_live_abcd',
  name: 'v1.name',
};
const create: ApiKeyCommand = { type: 'CreateKey', ...details, now: NOW };
const use = (now: number): ApiKeyCommand => ({ type: 'RecordKeyUse', keyId: keyId(), now });
const revoke = (owner = accountId()): ApiKeyCommand => ({
  type: 'RevokeKey',
  keyId: keyId(),
  accountId: owner,
});
const created: ApiKeyEvent = { type: 'KeyCreated', data: { ...details, createdAt: NOW } };
const used = (usedAt: number): ApiKeyEvent => ({
  type: 'KeyUsed',
  data: { accountId: accountId(), keyId: keyId(), usedAt },
});
const revoked: ApiKeyEvent = {
  type: 'KeyRevoked',
  data: { accountId: accountId(), keyId: keyId() },
};

void test('the stream is named after the key', (t) => {
  t.equal(apiKeyStream(keyId()), `apikey-${keyId()}`);
  t.end();
});

void test('a key is created once', (t) => {
  given(t, apiKey).when(create).thenEvents(created);
  given(t, apiKey, created).when(create).thenNothing();
  given(t, apiKey, created, revoked).when(create).thenNothing();
  t.match(fold(apiKey, [created]), {
    status: 'active',
    accountId: accountId(),
    keyHash: sha256(),
    lastUsedAt: undefined,
  });
  t.end();
});

void test('one use a minute is recorded', (t) => {
  given(t, apiKey, created).when(use(NOW)).thenEvents(used(NOW));
  given(t, apiKey, created, used(NOW))
    .when(use(NOW + KEY_USE_INTERVAL_MS - 1))
    .thenNothing();
  const due = NOW + KEY_USE_INTERVAL_MS;
  given(t, apiKey, created, used(NOW)).when(use(due)).thenEvents(used(due));
  given(t, apiKey, created, used(NOW))
    .when(use(NOW - 1))
    .thenNothing();
  t.ok(useIsDue(fold(apiKey, [created]), NOW));
  t.notOk(useIsDue(fold(apiKey, [created, used(NOW)]), NOW + 1));
  t.end();
});

void test('no use is recorded of a key that does not hold', (t) => {
  given(t, apiKey).when(use(NOW)).thenNothing();
  given(t, apiKey, created, revoked).when(use(NOW)).thenNothing();
  t.end();
});

void test('a key is revoked once', (t) => {
  given(t, apiKey, created).when(revoke()).thenEvents(revoked);
  given(t, apiKey, created, used(NOW)).when(revoke()).thenEvents(revoked);
  given(t, apiKey, created, revoked)
    .when(revoke())
    .thenRejected('not_found', /API key/);
  given(t, apiKey)
    .when(revoke())
    .thenRejected('not_found', /API key/);
  t.equal(fold(apiKey, [created, revoked]).status, 'revoked');
  t.end();
});

void test("another account's key is like none", (t) => {
  given(t, apiKey, created)
    .when(revoke(accountId(2)))
    .thenRejected('not_found', /API key/);
  t.end();
});
