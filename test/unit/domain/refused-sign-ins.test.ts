import { test } from 'tap';
import { PROVIDER_REFUSALS } from '../../../src/domain/choices.ts';
import {
  refusedCode,
  refusedSignIn,
  refusedUnknownSignIn,
} from '../../../src/domain/refused-sign-ins.ts';
import { WRONG_CODES_A_DAY } from '../../../src/domain/second-factor.ts';
import { accountId, NOW, personId, sha256 } from '../../support/samples.ts';

const known = { accountId: accountId(), refusedAt: NOW };
const unknown = { address: sha256(1), client: sha256(2), refusedAt: NOW };

void test('a refused sign-in says what was wrong', (t) => {
  t.equal(refusedSignIn(known), 'A wrong password or passkey was refused.');
  t.match(refusedSignIn({ ...known, isCode: true }), /^A wrong code of a second factor/);
  t.match(refusedUnknownSignIn(unknown), /nobody signs in with the address/);
  t.end();
});

void test('a refusal of the identity provider has its reason, for a known and an unknown address', (t) => {
  const told = PROVIDER_REFUSALS.map((byProvider) => refusedSignIn({ ...known, byProvider }));
  t.equal(new Set(told).size, PROVIDER_REFUSALS.length);
  for (const text of told) t.match(text, /^A sign-in with the identity provider was refused: /);
  const unknownTold = PROVIDER_REFUSALS.map((byProvider) =>
    refusedUnknownSignIn({ ...unknown, byProvider }),
  );
  t.strictSame(unknownTold, told);
  t.end();
});

const told = (count: number): string =>
  refusedCode({ personId: personId(), count, refusedAt: NOW });

void test('the last wrong code of a day says that no more are taken', (t) => {
  const last = WRONG_CODES_A_DAY;
  t.match(told(last - 1), new RegExp(`It was number ${last - 1} of this day`));
  t.match(told(last), /No more codes are taken this day/);
  t.end();
});
