import { randomBytes } from 'node:crypto';
import { test } from 'tap';
import { createTokens, VerifiedTokens } from '../../src/http/tokens.ts';
import { accountId, NOW, ORIGIN, personId, sessionId } from '../support/samples.ts';

const claims = { accountId: accountId(), sessionId: sessionId() };

void test('an access token that was found good is still judged at each use', async (t) => {
  let now = NOW;
  const tokens = createTokens(randomBytes(32), ORIGIN, { now: () => now });
  const token = await tokens.issue(
    'access',
    { ...claims, personId: personId(), role: 'owner' },
    NOW + 60_000,
  );
  for (let use = 1; use <= 3; use += 1) t.match(await tokens.verify('access', token), claims);
  t.equal(await tokens.verify('refresh', token), undefined, 'of its own kind only');
  const [head, body, signature = ''] = token.split('.');
  const altered = signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
  t.equal(await tokens.verify('access', `${head}.${body}.${altered}`), undefined);
  now = NOW + 59_999;
  t.match(await tokens.verify('access', token), claims, 'until its last millisecond');
  now = NOW + 60_000;
  t.equal(await tokens.verify('access', token), undefined, 'and no longer');
});

void test('what was found good is checked once, what was not each time, and the oldest is forgotten', async (t) => {
  const verified = new VerifiedTokens<{ expiresAt: number }>();
  let checks = 0;
  const look = (token: string, found: { expiresAt: number } | undefined, now = 0) =>
    verified.verify(token, now, async () => {
      checks += 1;
      return found;
    });
  await look('good', { expiresAt: 10 });
  await look('good', { expiresAt: 10 }, 9);
  t.equal(checks, 1);
  t.equal(await look('good', undefined, 10), undefined);
  t.equal(checks, 2, 'an expired one is checked again');
  await look('bad', undefined);
  await look('bad', undefined);
  t.equal(checks, 4);
  for (let n = 0; n <= 10_000; n += 1) await look(`${n}`, { expiresAt: 10 });
  checks = 0;
  await look('1', { expiresAt: 10 });
  t.equal(checks, 0);
  await look('0', { expiresAt: 10 });
  t.equal(checks, 1);
});
