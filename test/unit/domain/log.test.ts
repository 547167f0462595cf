import { test } from 'tap';
import { type LogEvent, log } from '../../../src/domain/log.ts';
import { fold, given } from '../../support/given.ts';
import { NOW, ORIGIN } from '../../support/samples.ts';

const NAME = 'pdf.example.com/tlog';
const ROOT = `${'A'.repeat(43)}=`;

const opened: LogEvent = { type: 'LogOpened', data: { origin: ORIGIN } };
const renamed: LogEvent = { type: 'LogRenamed', data: { origin: NAME } };
const verifierKey = (generation: number): string =>
  `${ORIGIN}+0000000${generation}+AQ${'A'.repeat(42)}`;
const keyAdded = (generation: number): LogEvent => ({
  type: 'SigningKeyAdded',
  data: { generation, verifierKey: verifierKey(generation), addedAt: NOW },
});
const signed = (size: number): LogEvent => ({
  type: 'CheckpointSigned',
  data: { size, root: ROOT, note: `note of ${size}`, signedAt: NOW },
});
const line = (name: string): string => `— ${name} AAAA`;

const open = (name?: string) =>
  ({ type: 'OpenLog', origin: ORIGIN, ...(name !== undefined && { name }) }) as const;
const addKey = (generation: number) =>
  ({
    type: 'AddSigningKey',
    generation,
    verifierKey: verifierKey(generation),
    at: NOW,
  }) as const;
const sign = (size: number, generation = 1, origin = ORIGIN) =>
  ({
    type: 'SignCheckpoint',
    origin,
    size,
    root: ROOT,
    note: `note of ${size}`,
    generation,
    at: NOW,
  }) as const;
const cosign = (size: number, ...signatures: string[]) =>
  ({ type: 'RecordCosignatures', size, signatures, at: NOW }) as const;
const timestamp = (size: number) =>
  ({ type: 'RecordTimestamp', size, token: 'AAAA', at: NOW }) as const;

const cosigned = (...signatures: string[]): LogEvent => ({
  type: 'CheckpointCosigned',
  data: { size: 2, signatures, at: NOW },
});
const generations = (...events: readonly LogEvent[]): readonly number[] =>
  fold(log, events).keys.map(({ generation }) => generation);

void test('a log is named once, and renamed before its first checkpoint alone', (t) => {
  given(t, log).when(open()).thenEvents(opened);
  given(t, log).when(open(NAME)).thenEvents(opened, renamed);
  given(t, log).when(open(ORIGIN)).thenEvents(opened);
  given(t, log, opened).when(open()).thenNothing();
  given(t, log, opened, keyAdded(1)).when(open(NAME)).thenEvents(renamed);
  given(t, log, opened, renamed).when(open(NAME)).thenNothing();
  given(t, log, opened, renamed).when(open()).thenNothing();
  const begun = [opened, keyAdded(1), signed(2)];
  given(t, log, ...begun)
    .when(open(NAME))
    .thenRejected('validation_error', new RegExp(`signed checkpoints as ${ORIGIN}`));
  given(t, log, ...begun)
    .when(open(ORIGIN))
    .thenNothing();
  t.end();
});

void test('keys are added one after the other, when the newest has signed', (t) => {
  given(t, log, opened).when(addKey(1)).thenEvents(keyAdded(1));
  given(t, log, opened).when(addKey(2)).thenNothing();
  given(t, log, opened, keyAdded(1)).when(addKey(1)).thenNothing();
  given(t, log, opened, keyAdded(1))
    .when(addKey(2))
    .thenRejected('service_unavailable', /signed nothing yet/);
  given(t, log, opened, keyAdded(1), signed(2)).when(addKey(2)).thenEvents(keyAdded(2));
  given(t, log, opened, keyAdded(1), renamed).when(addKey(2)).thenEvents(keyAdded(2));
  t.end();
});

void test('the two newest keys are in force, and none of an earlier name', (t) => {
  t.strictSame(generations(opened, keyAdded(1)), [1]);
  t.strictSame(generations(opened, keyAdded(1), keyAdded(2), keyAdded(3)), [2, 3]);
  t.strictSame(generations(opened, keyAdded(1), renamed), []);
  t.end();
});

void test('a checkpoint is signed for a larger tree than any before, by the newest key', (t) => {
  const begun = [opened, keyAdded(1)];
  given(t, log, ...begun)
    .when(sign(2))
    .thenEvents(signed(2));
  given(t, log, ...begun, signed(2))
    .when(sign(4))
    .thenEvents(signed(4));
  for (const size of [1, 2]) {
    given(t, log, ...begun, signed(2))
      .when(sign(size))
      .thenRejected('service_unavailable', /A later checkpoint/);
  }
  given(t, log, opened)
    .when(sign(2))
    .thenRejected('service_unavailable', /name or key/);
  given(t, log, ...begun, renamed)
    .when(sign(3))
    .thenRejected('service_unavailable', /name or key/);
  given(t, log, ...begun, renamed)
    .when(sign(3, 1, NAME))
    .thenRejected('service_unavailable', /name or key/);
  given(t, log, ...begun, signed(2), keyAdded(2))
    .when(sign(4))
    .thenRejected('service_unavailable', /name or key/);
  t.end();
});

void test('each witness is recorded once for a checkpoint, and one timestamp', (t) => {
  const begun = [opened, keyAdded(1), signed(2), signed(4)];
  given(t, log, ...begun)
    .when(cosign(2, line('w1'), line('w2')))
    .thenEvents(cosigned(line('w1'), line('w2')));
  given(t, log, ...begun, cosigned(line('w1')))
    .when(cosign(2, line('w1'), line('w2')))
    .thenEvents(cosigned(line('w2')));
  given(t, log, ...begun, cosigned(line('w1')))
    .when(cosign(2, line('w1')))
    .thenNothing();
  given(t, log, ...begun)
    .when(cosign(3, line('w1')))
    .thenRejected('not_found');
  const timestamped: LogEvent = {
    type: 'CheckpointTimestamped',
    data: { size: 2, token: 'AAAA', at: NOW },
  };
  given(t, log, ...begun)
    .when(timestamp(2))
    .thenEvents(timestamped);
  given(t, log, ...begun, timestamped)
    .when(timestamp(2))
    .thenNothing();
  given(t, log, ...begun)
    .when(timestamp(3))
    .thenRejected('not_found');
  t.end();
});

const [SECOND, THIRD] = ['pressledger/2222222222222222', 'pressledger/3333333333333333'] as const;
const move = (origin: string, formerOrigin: string) => ({ origin, formerOrigin, at: NOW });
const moved = (origin: string, formerOrigin: string): LogEvent => ({
  type: 'LogContinued',
  data: move(origin, formerOrigin),
});
const moveOn = (origin: string, formerOrigin: string) =>
  ({ type: 'ContinueLog', ...move(origin, formerOrigin) }) as const;

void test('after a restore the log continues under another name, and never takes a former one', (t) => {
  const begun = [opened, keyAdded(1), signed(2)];
  given(t, log, ...begun)
    .when(moveOn(SECOND, ORIGIN))
    .thenEvents(moved(SECOND, ORIGIN));
  const restored = [...begun, moved(SECOND, ORIGIN)];
  given(t, log, ...restored)
    .when(moveOn(THIRD, ORIGIN))
    .thenNothing();
  given(t, log, ...restored)
    .when(moveOn(THIRD, SECOND))
    .thenEvents(moved(THIRD, SECOND));
  given(t, log, ...restored)
    .when(open(ORIGIN))
    .thenRejected('validation_error', /never takes that name again/);
  given(t, log, ...restored)
    .when(open(NAME))
    .thenEvents(renamed);
  const state = fold(log, restored);
  t.match(state, { origin: SECOND, openedAs: ORIGIN, formerOrigins: [ORIGIN], generation: 1 });
  t.strictSame(
    [state.keys, state.checkpoints],
    [[], []],
    'what signed the former one signs no more',
  );
  given(t, log, ...restored)
    .when(addKey(2))
    .thenEvents(keyAdded(2));
  t.end();
});

void test('a log records the keyring that it was begun with', (t) => {
  const keyring = 'a'.repeat(32);
  const withKeyring: LogEvent = { type: 'LogOpened', data: { origin: ORIGIN, keyring } };
  given(t, log)
    .when({ ...open(), keyring })
    .thenEvents(withKeyring);
  t.equal(fold(log, [withKeyring]).keyring, keyring);
  t.equal(fold(log, [opened]).keyring, undefined);
  t.end();
});

const switchMail = (on: boolean) => ({ type: 'SwitchMail', on, at: NOW }) as const;
const mailSwitched = (on: boolean): LogEvent => ({ type: 'MailSwitched', data: { on, at: NOW } });

void test('that the service sends mail is recorded when it changes', (t) => {
  given(t, log, opened).when(switchMail(false)).thenNothing();
  given(t, log, opened).when(switchMail(true)).thenEvents(mailSwitched(true));
  given(t, log, opened, mailSwitched(true)).when(switchMail(true)).thenNothing();
  given(t, log, opened, mailSwitched(true)).when(switchMail(false)).thenEvents(mailSwitched(false));
  t.end();
});

void test('a first checkpoint covers something, and late proofs are recorded for the newest 16', (t) => {
  const begun = [opened, keyAdded(1)];
  given(t, log, ...begun)
    .when(sign(0))
    .thenRejected('service_unavailable');
  given(t, log, ...begun)
    .when(sign(1))
    .thenEvents(signed(1));
  const many = Array.from({ length: 17 }, (_, n) => signed(n + 1));
  given(t, log, ...begun, ...many)
    .when(timestamp(1))
    .thenRejected('not_found', /No recent checkpoint covers 1 events/);
  given(t, log, ...begun, ...many)
    .when(timestamp(2))
    .thenEvents({ type: 'CheckpointTimestamped', data: { size: 2, token: 'AAAA', at: NOW } });
  t.end();
});

void test('what is recorded for one checkpoint says nothing of the others', (t) => {
  const before = [opened, keyAdded(1), signed(2), signed(4)];
  const stamped: LogEvent = {
    type: 'CheckpointTimestamped',
    data: { size: 2, token: 'AAAA', at: NOW },
  };
  given(t, log, ...before, stamped, cosigned(line('w1')))
    .when(timestamp(4))
    .thenEvents({ type: 'CheckpointTimestamped', data: { ...stamped.data, size: 4 } });
  given(t, log, ...before, stamped, cosigned(line('w1')))
    .when(cosign(4, line('w1')))
    .thenEvents({
      type: 'CheckpointCosigned',
      data: { size: 4, signatures: [line('w1')], at: NOW },
    });
  t.end();
});
