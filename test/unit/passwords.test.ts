import { test } from 'tap';
import { hashPassword, NOBODYS_HASH, verifyPassword } from '../../src/application/passwords.ts';

const parts = (hash: string) => hash.split('$');

void test('the hash of nobody asks for the same work as everybody’s, and fits nobody', async (t) => {
  const usual = await hashPassword('correct horse battery');
  t.strictSame(parts(NOBODYS_HASH).slice(0, 4), parts(usual).slice(0, 4), 'its parameters');
  t.strictSame(
    parts(NOBODYS_HASH).map(({ length }) => length),
    parts(usual).map(({ length }) => length),
    'its salt and length',
  );
  t.equal(await verifyPassword(NOBODYS_HASH, 'correct horse battery'), false);
  t.equal(await verifyPassword(NOBODYS_HASH, ''), false);
});
