import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { openSeal } from '../../src/service/seal.ts';
import { makeSigner, P12_PASSWORD } from '../support/certificates.ts';

void test('the certificate of the service is read, or the start is refused in one line', async (t) => {
  t.equal(await openSeal({ sealP12: undefined, sealP12Password: undefined }), undefined);
  const { p12, directory } = makeSigner(t);
  const path = join(directory, 'seal.p12');
  writeFileSync(path, p12);
  const seal = await openSeal({ sealP12: path, sealP12Password: P12_PASSWORD });
  t.match(seal, { subject: 'CN=Ada Lovelace, O=Müller GmbH, C=DE' });
  const refused = async (sealP12: string, sealP12Password: string | undefined, message: RegExp) =>
    await t.rejects(openSeal({ sealP12, sealP12Password }), { message });
  await refused(path, undefined, /^SEAL_P12: .*seal\.p12: The password does not open the file\./);
  await refused(join(directory, 'none'), 'x', /^SEAL_P12: .*none cannot be read: [^\n]*$/);
  writeFileSync(path, 'no');
  await refused(path, P12_PASSWORD, /^SEAL_P12: .* This is not a PKCS#12 file [^\n]*$/);
});
