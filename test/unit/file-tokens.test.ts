import { createPublicKey, randomBytes } from 'node:crypto';
import { PublicProtocol } from 'paseto';
import { ImportSecretKeyFactory, SignFactory } from 'paseto/v4/public';
import { test } from 'tap';
import { createFileTokens } from '../../src/http/tokens.ts';
import { ed25519Key } from '../../src/transparency-log/signed-note.ts';
import { conversionId, NOW, ORIGIN } from '../support/samples.ts';

const library = new PublicProtocol(ImportSecretKeyFactory, SignFactory);

async function librarysToken(seed: Buffer, claims: Record<string, string>, now: Date) {
  const point = createPublicKey(ed25519Key(seed)).export({ format: 'jwk' }).x ?? '';
  const both = Buffer.concat([seed, Buffer.from(point, 'base64url')]).toString('base64url');
  const key = await library.ImportSecretKey(`k4.secret.${both}`);
  return await library.Sign(key, claims, { now, expiresIn: 3600 });
}

void test('a link is the token that the PASETO library makes, byte for byte', async (t) => {
  for (const late of [0, 1, 999, 59_123]) {
    const seed = randomBytes(32);
    const now = NOW + late;
    const tokens = createFileTokens(seed, ORIGIN, { now: () => now });
    const own = tokens.mint(conversionId(), 3600);
    t.equal(tokens.mint(conversionId(), 3600), own, 'the same within a second');
    t.not(tokens.mint(conversionId(), 3601), own);
    t.not(tokens.mint(conversionId(2), 3600), own);
    const claims = { iss: ORIGIN, sub: conversionId(), purpose: 'download' };
    t.equal(own, await librarysToken(seed, claims, new Date(now)));
  }
});

void test('a link opens its own file, with its own key, until it expires', async (t) => {
  const seed = randomBytes(32);
  let now = NOW;
  const tokens = createFileTokens(seed, ORIGIN, { now: () => now });
  const token = tokens.mint(conversionId(1), 60);
  t.equal(await tokens.verify(token, conversionId(1)), true);
  t.equal(await tokens.verify(token, conversionId(2)), false);
  const others = createFileTokens(randomBytes(32), ORIGIN, { now: () => now });
  t.equal(await others.verify(token, conversionId(1)), false);
  const foreign = { iss: ORIGIN, sub: conversionId(1), purpose: 'upload' };
  const wrong = await librarysToken(seed, foreign, new Date(now));
  t.equal(await tokens.verify(wrong, conversionId(1)), false);
  now += 61_000;
  t.equal(await tokens.verify(token, conversionId(1)), false);
});
