import { test } from 'tap';
import {
  type SessionCommand,
  type SessionEvent,
  session,
  sessionStream,
} from '../../../src/domain/session.ts';
import { fold, given } from '../../support/given.ts';
import { accountId, NOW, personId, sessionId, sha256 } from '../../support/samples.ts';

const ids = { accountId: accountId(), sessionId: sessionId() };
const details = {
  ...ids,
  expiresAt: NOW,
  epoch: 3,
  client: sha256(),
  kind: 'dashboard' as const,
  methods: ['password' as const],
};
const open: SessionCommand = { type: 'OpenSession', ...details };
const identified: SessionCommand = { type: 'OpenSession', ...details, userAgent: 'v1.u' };
const revoke: SessionCommand = { type: 'RevokeSession', sessionId: sessionId() };
const opened: SessionEvent = { type: 'SessionOpened', data: details };
const revoked: SessionEvent = { type: 'SessionRevoked', data: ids };

void test('the stream is named after the session', (t) => {
  t.equal(sessionStream(sessionId()), `session-${sessionId()}`);
  t.end();
});

void test('a session opens once', (t) => {
  given(t, session).when(open).thenEvents(opened);
  given(t, session)
    .when(identified)
    .thenEvents({ type: 'SessionOpened', data: { ...details, userAgent: 'v1.u' } });
  given(t, session, opened).when(open).thenNothing();
  given(t, session, opened, revoked).when(open).thenNothing();
  t.same(fold(session, [opened]), {
    status: 'open',
    accountId: accountId(),
    personId: personId(),
    expiresAt: NOW,
    epoch: 3,
    passwords: 0,
    kind: 'dashboard',
    methods: ['password'],
  });
  const early: SessionEvent = { type: 'SessionOpened', data: { ...ids, expiresAt: NOW } };
  t.match(
    fold(session, [early]),
    { epoch: 0, kind: 'api', methods: ['password'] },
    'as it was stored before there were more',
  );
  t.end();
});

void test('a session is revoked once', (t) => {
  given(t, session, opened).when(revoke).thenEvents(revoked);
  given(t, session, opened, revoked).when(revoke).thenRejected('unauthorized');
  given(t, session).when(revoke).thenRejected('unauthorized');
  t.match(fold(session, [opened, revoked]), { status: 'revoked', accountId: accountId() });
  t.end();
});

const confirm = (...methods: ('password' | 'otp')[]): SessionCommand => ({
  type: 'ConfirmSession',
  sessionId: sessionId(),
  methods,
});

void test('what its person proves later is told once, while it is open', (t) => {
  const confirmed: SessionEvent = { type: 'SessionConfirmed', data: { ...ids, methods: ['otp'] } };
  given(t, session, opened).when(confirm('password', 'otp')).thenEvents(confirmed);
  given(t, session, opened, confirmed).when(confirm('otp')).thenNothing();
  given(t, session, opened, revoked).when(confirm('otp')).thenRejected('unauthorized');
  given(t, session).when(confirm('otp')).thenRejected('unauthorized');
  t.strictSame(fold(session, [opened, confirmed]).methods, ['password', 'otp']);
  t.end();
});

void test('a session is ended by another of its account alone', (t) => {
  const own: SessionCommand = { ...revoke, accountId: accountId() };
  const foreign: SessionCommand = { ...revoke, accountId: accountId(2) };
  given(t, session, opened).when(own).thenEvents(revoked);
  given(t, session, opened).when(foreign).thenRejected('not_found');
  const byAnother: SessionCommand = { ...own, personId: personId(2) };
  given(t, session, opened).when(byAnother).thenRejected('not_found');
  given(t, session, opened, revoked).when(own).thenRejected('not_found');
  given(t, session).when(own).thenRejected('not_found');
  t.end();
});

const revokeBy = (n: number): SessionCommand => ({
  ...revoke,
  accountId: accountId(),
  personId: personId(n),
});

void test('a session is of the member who signed in, and its person ends it from another one', (t) => {
  const bobs: SessionEvent = {
    type: 'SessionOpened',
    data: { ...details, personId: personId(2), passwords: 4 },
  };
  t.match(fold(session, [bobs]), { personId: personId(2), passwords: 4 });
  given(t, session, bobs).when(revokeBy(2)).thenEvents(revoked);
  given(t, session, bobs).when(revokeBy(3)).thenRejected('not_found');
  t.end();
});
