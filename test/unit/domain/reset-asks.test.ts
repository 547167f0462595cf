/** Requests for a link that sets a password: each is followed or given up once, whoever asks. */
import { test } from 'tap';
import {
  type ResetAskCommand,
  type ResetAskEvent,
  resetAskAggregate,
} from '../../../src/domain/reset-asks.ts';
import { given } from '../../support/given.ts';
import { NOW, sha256 } from '../../support/samples.ts';

const { decider: resetAsk } = resetAskAggregate;
const address = sha256();
const command = (type: ResetAskCommand['type']): ResetAskCommand => ({ type, address, now: NOW });
const asked: ResetAskEvent = { type: 'PasswordResetAsked', data: { address, askedAt: NOW } };
const followed: ResetAskEvent = { type: 'PasswordResetAnswered', data: { address } };
const givenUp: ResetAskEvent = { type: 'PasswordResetAnswered', data: { address, givenUp: true } };

void test('each request is recorded, also while an earlier one is open', (t) => {
  for (const before of [[], [asked], [asked, followed]])
    given(t, resetAsk, ...before)
      .when(command('AskReset'))
      .thenEvents(asked);
  t.end();
});

void test('an open request is followed or given up', (t) => {
  for (const before of [
    [asked],
    [asked, asked],
    [asked, followed, asked],
    [asked, givenUp, asked],
  ]) {
    given(t, resetAsk, ...before)
      .when(command('AnswerReset'))
      .thenEvents(followed);
    given(t, resetAsk, ...before)
      .when(command('GiveUpReset'))
      .thenEvents(givenUp);
  }
  t.end();
});

void test('no answer is recorded if nobody has asked since the last one', (t) => {
  for (const before of [[], [asked, followed], [asked, givenUp], [asked, asked, followed]]) {
    given(t, resetAsk, ...before)
      .when(command('AnswerReset'))
      .thenNothing();
    given(t, resetAsk, ...before)
      .when(command('GiveUpReset'))
      .thenNothing();
  }
  t.end();
});
