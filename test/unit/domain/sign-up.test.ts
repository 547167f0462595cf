/** A link that opens an account: it is offered once, used or ended once, and keeps nothing after that. */
import { test } from 'tap';
import {
  type SignUpCommand,
  type SignUpEvent,
  signUpAggregate,
} from '../../../src/domain/sign-up.ts';
import { fold, given } from '../../support/given.ts';
import { accountId, HOUR_MS, NOW, personId } from '../../support/samples.ts';

const { decider: signUp } = signUpAggregate;
const ids = { accountId: accountId(), personId: personId() };
const terms = { email: 'v1.e', plan: 'pro', credits: 50, expiresAt: NOW + HOUR_MS };
const offer = (byMail: boolean): SignUpCommand => ({
  type: 'OfferSignUp',
  ...ids,
  ...terms,
  byMail,
  now: NOW,
});
const offered: SignUpEvent = { type: 'SignUpOffered', data: { ...ids, ...terms, offeredAt: NOW } };
const mailed: SignUpEvent = { type: 'SignUpOffered', data: { ...offered.data, byMail: true } };
const end = (isOpened: boolean): SignUpCommand => ({ type: 'EndSignUp', ...ids, isOpened });
const unused: SignUpEvent = { type: 'SignUpEnded', data: ids };
const used: SignUpEvent = { type: 'SignUpEnded', data: { ...ids, opened: true } };

void test('a sign-up is offered once, and its event says whether a mail brings the link', (t) => {
  given(t, signUp).when(offer(false)).thenEvents(offered);
  given(t, signUp).when(offer(true)).thenEvents(mailed);
  for (const before of [[offered], [mailed], [offered, unused], [mailed, used]])
    given(t, signUp, ...before)
      .when(offer(true))
      .thenNothing();
  t.end();
});

void test('a link that was handed over proves no address, and one that was mailed does', (t) => {
  t.strictSame(fold(signUp, [offered]), { status: 'open', ...terms, byMail: false });
  t.strictSame(fold(signUp, [mailed]), { status: 'open', ...terms, byMail: true });
  t.end();
});

void test('a sign-up ends once, as opened or as unused', (t) => {
  given(t, signUp, offered).when(end(true)).thenEvents(used);
  given(t, signUp, offered).when(end(false)).thenEvents(unused);
  for (const isOpened of [true, false]) {
    given(t, signUp).when(end(isOpened)).thenNothing();
    given(t, signUp, offered, used).when(end(isOpened)).thenNothing();
    given(t, signUp, offered, unused).when(end(isOpened)).thenNothing();
  }
  t.end();
});

void test('a sign-up that has ended opens no account, and keeps neither address nor credits', (t) => {
  for (const ended of [used, unused])
    t.match(fold(signUp, [mailed, ended]), {
      status: 'ended',
      email: '',
      plan: 'free',
      credits: 0,
      byMail: false,
      expiresAt: 0,
    });
  t.end();
});
