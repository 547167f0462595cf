/** Commands that are printed to be copied. */
import { resolve } from 'node:path';
import { test } from 'tap';
import { copyableCommand } from '../../src/copyable-command.ts';

const ofData = (dataDir: string): string => copyableCommand(dataDir, 'verify');

void test('a copied command acts on the DATA_DIR of the process that printed it', async (t) => {
  t.equal(ofData(resolve('data')), 'bin/pressledger verify');
  t.equal(ofData('/srv/data'), 'DATA_DIR=/srv/data bin/pressledger verify');
  t.equal(
    ofData("/srv/Ann's data"),
    String.raw`DATA_DIR='/srv/Ann'\''s data' bin/pressledger verify`,
  );
  t.equal(
    copyableCommand(resolve('data'), 'account', 'password', "$(id)o'b@example.com"),
    String.raw`bin/pressledger account password '$(id)o'\''b@example.com'`,
  );
});
