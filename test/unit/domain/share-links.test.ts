import { test } from 'tap';
import {
  type ConversionCommand,
  type ConversionEvent,
  conversion,
} from '../../../src/domain/conversion.ts';
import { MAX_LINKS } from '../../../src/domain/share-links.ts';
import { given } from '../../support/given.ts';
import {
  accountId,
  blobRef,
  conversionId,
  linkId,
  NOW,
  PDF,
  sha256,
  TIMINGS,
} from '../../support/samples.ts';

const HOUR_MS = 3_600_000;
const who = { accountId: accountId(), conversionId: conversionId() };
const by = { ...who, renderer: 'r1', attempt: 1 };
const completed: ConversionEvent = {
  type: 'ConversionCompleted',
  data: {
    ...by,
    document: blobRef('document'),
    pdf: PDF,
    pages: 2,
    timings: TIMINGS,
    manifest: blobRef('manifest'),
    chrome: 'HeadlessChrome/156',
    completedAt: NOW,
  },
};
const failed: ConversionEvent = {
  type: 'ConversionFailed',
  data: { ...by, code: 'timeout', message: 'It took too long.', failedAt: NOW },
};
const deleted: ConversionEvent = { type: 'ConversionDeleted', data: { ...who, deletedAt: NOW } };
const expired: ConversionEvent = { type: 'ConversionExpired', data: { ...who, expiredAt: NOW } };

/** @param at hours after the completion */
const created = (n: number, at = 0, hours = 1): ConversionEvent => {
  const createdAt = NOW + at * HOUR_MS;
  const times = { createdAt, expiresAt: createdAt + hours * HOUR_MS };
  return {
    type: 'LinkCreated',
    data: { ...who, linkId: linkId(n), linkHash: sha256(n), ...times },
  };
};
const revoked = (n: number, at = 0): ConversionEvent => ({
  type: 'LinkRevoked',
  data: { ...who, linkId: linkId(n), revokedAt: NOW + at * HOUR_MS },
});
const create = (n: number, at = 0, hours = 1): ConversionCommand => {
  const time = NOW + at * HOUR_MS;
  const link = { linkId: linkId(n), linkHash: sha256(n), expiresAt: time + hours * HOUR_MS };
  return { type: 'CreateLink', ...who, ...link, at: time };
};
const revoke = (n: number, at = 0): ConversionCommand => ({
  type: 'RevokeLink',
  ...who,
  linkId: linkId(n),
  at: NOW + at * HOUR_MS,
});

void test('a link needs a file', (t) => {
  given(t, conversion).when(create(1)).thenRejected('not_ready');
  given(t, conversion, failed).when(create(1)).thenRejected('conversion_failed');
  given(t, conversion, completed).when(create(1)).thenEvents(created(1));
  given(t, conversion, completed, deleted).when(create(1)).thenRejected('gone');
  given(t, conversion, completed, expired).when(create(1)).thenRejected('gone');
  t.end();
});

void test('a link is revoked once, while it is in force', (t) => {
  const both = [completed, created(1), created(2, 0, 2)];
  given(t, conversion, ...both)
    .when(revoke(1))
    .thenEvents(revoked(1));
  given(t, conversion, ...both)
    .when(revoke(2, 1))
    .thenEvents(revoked(2, 1));
  given(t, conversion, ...both)
    .when(revoke(3))
    .thenRejected('not_found');
  given(t, conversion, ...both)
    .when(revoke(1, 1))
    .thenRejected('not_found');
  given(t, conversion, ...both, revoked(1))
    .when(revoke(1))
    .thenRejected('not_found');
  given(t, conversion, ...both, deleted)
    .when(revoke(1))
    .thenEvents(revoked(1));
  t.end();
});

void test('a conversion has 20 links at a time: those that are over make room', (t) => {
  const links = Array.from({ length: MAX_LINKS }, (_, n) => created(n, 0, n === 0 ? 1 : 3));
  const full = given(t, conversion, completed, ...links);
  full.when(create(90)).thenRejected('validation_error');
  full.when(create(90, 1)).thenEvents(created(90, 1));
  given(t, conversion, completed, ...links, revoked(5))
    .when(create(90))
    .thenEvents(created(90));
  given(t, conversion, completed, ...links, created(90, 1))
    .when(create(91, 1))
    .thenRejected('validation_error');
  t.end();
});
