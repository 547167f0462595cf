import { test } from 'tap';
import {
  type SessionCommand,
  type SessionEvent,
  session,
  sessionStream,
} from '../../../src/domain/session.ts';
import { fold, given } from '../../support/given.ts';
import { accountId, NOW, sessionId, sha256 } from '../../support/samples.ts';

const ids = { accountId: accountId(), sessionId: sessionId() };
const details = { ...ids, expiresAt: NOW, epoch: 3, client: sha256() };
const open: SessionCommand = { type: 'OpenSession', ...details };
const revoke: SessionCommand = { type: 'RevokeSession', sessionId: sessionId() };
const opened: SessionEvent = { type: 'SessionOpened', data: details };
const revoked: SessionEvent = { type: 'SessionRevoked', data: ids };

void test('the stream is named after the session', (t) => {
  t.equal(sessionStream(sessionId()), `session-${sessionId()}`);
  t.end();
});

void test('a session opens once', (t) => {
  given(t, session).when(open).thenEvents(opened);
  given(t, session, opened).when(open).thenNothing();
  given(t, session, opened, revoked).when(open).thenNothing();
  t.same(fold(session, [opened]), {
    status: 'open',
    accountId: accountId(),
    expiresAt: NOW,
    epoch: 3,
  });
  const early: SessionEvent = { type: 'SessionOpened', data: { ...ids, expiresAt: NOW } };
  t.match(fold(session, [early]), { epoch: 0 }, 'as it was stored before there was an epoch');
  t.end();
});

void test('a session is revoked once', (t) => {
  given(t, session, opened).when(revoke).thenEvents(revoked);
  given(t, session, opened, revoked).when(revoke).thenRejected('unauthorized');
  given(t, session).when(revoke).thenRejected('unauthorized');
  t.match(fold(session, [opened, revoked]), { status: 'revoked', accountId: accountId() });
  t.end();
});
