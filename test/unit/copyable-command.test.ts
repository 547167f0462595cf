/** Commands that are printed to be copied. */
import { resolve } from 'node:path';
import { test } from 'tap';
import { commandThere, copyableCommand } from '../../src/config/copyable-command.ts';

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

void test('a command for another place sets and empties what this shell has, in the spelling that wins', async (t) => {
  const settings = { EVENT_STORE_URL: '', BLOB_STORE_URL: 's3://b?region=r', DATA_DIR: '/srv/new' };
  const there = (env: Readonly<Record<string, string>>, more = {}): string =>
    commandThere({ ...settings, ...more }, env, 'verify');
  t.equal(there({}), "BLOB_STORE_URL='s3://b?region=r' DATA_DIR=/srv/new bin/pressledger verify");
  const both = { PRESSLEDGER_EVENT_STORE_URL: 'esdb://a', EVENT_STORE_URL: 'esdb://b' };
  t.match(there(both), /^PRESSLEDGER_EVENT_STORE_URL= EVENT_STORE_URL= BLOB/);
  t.match(there({ PRESSLEDGER_DATA_DIR: '/srv/old' }), / PRESSLEDGER_DATA_DIR=\/srv\/new /);
  t.match(there({ PRESSLEDGER_DATA_DIR: '', DATA_DIR: '/srv/old' }), / DATA_DIR=\/srv\/new /);
  const secret = there({}, { EVENT_STORE_URL: 'esdb://admin:changeit@host' });
  t.match(secret, /^EVENT_STORE_URL='the URL with its password' /);
  t.match(there({}, { DATA_DIR: '/srv/a@b' }), / DATA_DIR=\/srv\/a@b /);
  t.match(there({ TO_AWS_ACCESS_KEY_ID: 'id' }), / AWS_ACCESS_KEY_ID="\$TO_AWS_ACCESS_KEY_ID" bin/);
});
