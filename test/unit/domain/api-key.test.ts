import { test } from 'tap';
import {
  type ApiKeyCommand,
  type ApiKeyEvent,
  apiKey,
  apiKeyStream,
  hasExpired,
  KEY_USE_INTERVAL_MS,
  useIsDue,
} from '../../../src/domain/api-key.ts';
import type { KeyRights } from '../../../src/domain/event-fields.ts';
import { founderOf } from '../../../src/domain/members.ts';
import { fold, given } from '../../support/given.ts';
import { accountId, keyId, NOW, personId, sha256 } from '../../support/samples.ts';

const details = {
  accountId: accountId(),
  keyId: keyId(),
  keyHash: sha256(),
  prefix: 'pk_live_abcd',
  name: 'v1.name',
};
const create = { type: 'CreateKey', ...details, now: NOW } as const;
const use = (now: number): ApiKeyCommand => ({ type: 'RecordKeyUse', keyId: keyId(), now });
const revoke = (owner = accountId()): ApiKeyCommand => ({
  type: 'RevokeKey',
  keyId: keyId(),
  accountId: owner,
});
const created = { type: 'KeyCreated', data: { ...details, createdAt: NOW } } as const;
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

void test('each bound of a key is kept, and there are no others', (t) => {
  t.equal(KEY_USE_INTERVAL_MS, 60_000);
  const bounds: readonly KeyRights[] = [
    {},
    { scopes: ['read'] },
    { expiresAt: 0 },
    { addresses: 'v1.a' },
    { rateLimit: 3 },
    { creditLimit: 4 },
    { isTest: true },
  ];
  for (const rights of bounds) {
    const event: ApiKeyEvent = { type: 'KeyCreated', data: { ...created.data, ...rights } };
    given(t, apiKey)
      .when({ ...create, rights })
      .thenEvents(event);
    t.strictSame(fold(apiKey, [event]).rights, rights);
  }
  t.end();
});

const validUntil = (expiresAt?: number) =>
  fold(apiKey, [
    {
      type: 'KeyCreated',
      data: { ...details, createdAt: NOW, ...(expiresAt !== undefined && { expiresAt }) },
    },
  ]);

void test('a key has expired from its time on', (t) => {
  t.notOk(hasExpired(validUntil(), NOW + 1e12));
  t.notOk(hasExpired(validUntil(NOW), NOW - 1));
  t.ok(hasExpired(validUntil(NOW), NOW));
  t.ok(hasExpired(validUntil(NOW), NOW + 1));
  t.end();
});

const revokeOf = (createdBy: string, owner = accountId()) =>
  ({ type: 'RevokeKey', keyId: keyId(), accountId: owner, createdBy }) as const;

void test('a member revokes their own keys and those of their membership end with it', (t) => {
  const maker = { createdBy: personId(2), memberSince: 3 };
  const bobs: ApiKeyEvent = { type: 'KeyCreated', data: { ...created.data, ...maker } };
  given(t, apiKey)
    .when({ ...create, maker })
    .thenEvents(bobs);
  t.match(fold(apiKey, [bobs]), maker);
  t.match(fold(apiKey, [created]), { createdBy: founderOf(accountId()), memberSince: 0 });
  given(t, apiKey, bobs)
    .when(revokeOf(personId(2)))
    .thenEvents(revoked);
  given(t, apiKey, bobs).when(revoke()).thenEvents(revoked);
  given(t, apiKey, bobs)
    .when(revokeOf(personId(3)))
    .thenRejected('not_found');
  given(t, apiKey, bobs)
    .when(revokeOf(personId(2), accountId(2)))
    .thenRejected('not_found');
  given(t, apiKey, created)
    .when(revokeOf(founderOf(accountId())))
    .thenEvents(revoked);
  given(t, apiKey, created)
    .when(revokeOf(personId(2)))
    .thenRejected('not_found');
  t.end();
});

void test('whoever may revoke only test keys revokes no other', (t) => {
  const testKey: ApiKeyEvent = { type: 'KeyCreated', data: { ...created.data, isTest: true } };
  const revokeTest = {
    type: 'RevokeKey',
    keyId: keyId(),
    accountId: accountId(),
    isTest: true,
  } as const;
  given(t, apiKey, testKey).when(revokeTest).thenEvents(revoked);
  given(t, apiKey, testKey).when(revoke()).thenEvents(revoked);
  given(t, apiKey, created).when(revokeTest).thenRejected('not_found');
  t.end();
});
