/** What every keyring must do. Each adapter has a test file that runs it. */
import { type Test, test } from 'tap';
import { KeyErased, type Keyring } from '../../src/documents/keys/port.ts';
import { newAccountId, newCertificateId } from '../../src/time/ids.ts';

export interface KeyringAdapter {
  readonly name: string;
  /** Of each test: why it is skipped. */
  readonly options?: { readonly skip?: string };
  /** Opens keyrings on one place, each as another process would. */
  readonly open: (t: Test) => Promise<() => Promise<Keyring>>;
}

export function runKeyringContract({ name, open, options = {} }: KeyringAdapter): void {
  const contract = (
    title: string,
    run: (t: Test, another: () => Promise<Keyring>, accountId: string) => Promise<void>,
  ): void => {
    void test(`${name}: ${title}`, options, async (t) => {
      await run(t, await open(t), newAccountId(Date.now()));
    });
  };

  contract('makes a key once and keeps it', async (t, another, accountId) => {
    const keyring = await another();
    await t.rejects(keyring.dataKey(accountId), { name: 'KeyMissing' }, 'nobody has made it');
    await keyring.makeKey(accountId);
    const key = await keyring.dataKey(accountId);
    t.equal(key.length, 32);
    await keyring.makeKey(accountId);
    t.ok(key.equals(await keyring.dataKey(accountId)));
    t.ok(key.equals(await (await another()).dataKey(accountId)), 'for the next process too');
    const other = newAccountId(Date.now());
    await keyring.makeKey(other);
    t.notOk(key.equals(await keyring.dataKey(other)), 'not for others');
  });

  contract('agrees on one key when many make it at once', async (t, another, accountId) => {
    const keyrings = await Promise.all(Array.from({ length: 8 }, () => another()));
    await Promise.all(keyrings.map((keyring) => keyring.makeKey(accountId)));
    const keys = await Promise.all(keyrings.map((keyring) => keyring.dataKey(accountId)));
    t.equal(new Set(keys.map((key) => key.toString('hex'))).size, 1);
  });

  contract('never makes a new key after an erasure', async (t, another, accountId) => {
    const [one, two] = [await another(), await another()];
    await one.makeKey(accountId);
    await one.dataKey(accountId);
    await two.dataKey(accountId);
    await one.erase(accountId);
    await one.erase(accountId);
    await t.rejects(one.dataKey(accountId), KeyErased);
    await t.rejects(two.dataKey(accountId), KeyErased, 'held in memory by another process');
    await t.rejects((await another()).dataKey(accountId), KeyErased, 'after a restart');
    await t.rejects((await another()).makeKey(accountId), KeyErased, 'nor is one made');
  });

  contract('has a key for each kind of owner', async (t, another, accountId) => {
    const keyring = await another();
    const certificate = newCertificateId(Date.now());
    const others = [`cert_${accountId.slice('acct_'.length)}`, accountId];
    for (const owner of [certificate, ...others]) await keyring.makeKey(owner);
    const key = await keyring.dataKey(certificate);
    await keyring.erase(certificate);
    await t.rejects((await another()).dataKey(certificate), KeyErased);
    for (const owner of others) t.notOk(key.equals(await keyring.dataKey(owner)));
    await t.rejects(keyring.makeKey(accountId.replace('acct', 'conv')), TypeError);
  });

  contract('erases a key that was never made', async (t, another, accountId) => {
    const keyring = await another();
    await keyring.erase(accountId);
    await t.rejects(keyring.dataKey(accountId), KeyErased);
  });
}
