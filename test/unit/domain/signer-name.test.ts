import { test } from 'tap';
import { signerName } from '../../../src/domain/signature.ts';

const NAMES: readonly (readonly [subject: string, name: string])[] = [
  ['CN=Ada Lovelace, O=Müller GmbH, C=DE', 'Ada Lovelace'],
  ['O=Müller GmbH, CN=Ada Lovelace', 'Ada Lovelace'],
  ['CN=שלום עולם, OU=q', 'שלום עולם'],
  ['CN=one, CN=two', 'one'],
  ['C=DE + CN=of two, O=x', 'of two'],
  ['CN=of two + C=DE', 'of two'],
  ['CN=Müller\\, \\"X\\" \\+ \\<Y\\> \\#1\\; \\\\', 'Müller, "X" + <Y> #1; \\'],
  ['CN=a=b', 'a=b'],
  ['CN=a\\0Ab', 'a\nb'],
  ['O=x\\, CN=false, CN=true', 'true'],
  ['O=x\\\\, CN=true', 'true'],
  ['O=only, C=DE', 'O=only, C=DE'],
  ['', ''],
];

void test('the name of a signer is the common name of the certificate', (t) => {
  for (const [subject, name] of NAMES) t.equal(signerName(subject), name, subject);
  t.end();
});
