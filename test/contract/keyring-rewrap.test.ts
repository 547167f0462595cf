/** A change of the master key on every place of a keyring, cut off at every step, and repeated. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Test, test } from 'tap';
import { FileKeyRecords, fileKeyring } from '../../src/documents/keys/file-records.ts';
import { fingerprintOf, signingPurpose } from '../../src/documents/keys/master-key.ts';
import { NatsKeyRecords } from '../../src/documents/keys/nats-records.ts';
import type { Keyring, ListedKeyRecords } from '../../src/documents/keys/port.ts';
import { openSharedKeyring } from '../../src/documents/keys/records.ts';
import { endRewrap, lastingKeys, rewrapKeys } from '../../src/documents/keys/rewrap.ts';
import { S3KeyRecords } from '../../src/documents/keys/s3-records.ts';
import { seal, unseal } from '../../src/documents/keys/sealing.ts';
import { S3Bucket } from '../../src/documents/s3-bucket.ts';
import { S3Objects } from '../../src/documents/s3-objects.ts';
import { newAccountId, newCertificateId } from '../../src/time/ids.ts';
import { testDirectory } from '../support/directory.ts';
import { connectForGood, startNatsServer } from '../support/nats-server.ts';
import { s3Credentials, startS3Server } from '../support/s3-server.ts';

const [from, to, later] = [1, 2, 3].map((n) => Buffer.alloc(32, n)) as [Buffer, Buffer, Buffer];
const change = { from, to, generations: [4, 5] };

interface Place {
  readonly records: ListedKeyRecords;
  readonly open: (masterKey: Buffer) => Promise<Keyring>;
}

const openShared = (records: ListedKeyRecords) => (masterKey: Buffer) =>
  openSharedKeyring(records, masterKey, { create: true, recheckMs: 0 });

const places: Readonly<Record<string, (t: Test) => Promise<Place>>> = {
  'a data directory': async (t) => {
    const directory = join(testDirectory(t), 'keyring');
    const records = new FileKeyRecords(directory);
    return { records, open: async (masterKey) => fileKeyring(directory, masterKey) };
  },
  'a shared folder': async (t) => {
    const records = new FileKeyRecords(join(testDirectory(t), 'keyring'));
    return { records, open: openShared(records) };
  },
  S3: async (t) => {
    const server = await startS3Server(t);
    const client = new S3Bucket(server.location, s3Credentials);
    t.teardown(() => client.close());
    const records = await S3KeyRecords.open(new S3Objects(client, 'keys/'));
    return { records, open: openShared(records) };
  },
  NATS: async (t) => {
    const server = await startNatsServer(t);
    const connection = await connectForGood(t, server.url);
    const records = await NatsKeyRecords.open(connection, { create: true });
    return { records, open: openShared(records) };
  },
};

class CutOff extends Error {}

/** The records for so many changes; the next one is cut off before it. */
function cutOffAfter(records: ListedKeyRecords, changes: number): ListedKeyRecords {
  let left = changes;
  const counting = <T>(work: () => Promise<T>): Promise<T> => {
    if (left === 0) return Promise.reject(new CutOff());
    left -= 1;
    return work();
  };
  return {
    names: () => records.names(),
    read: (name) => records.read(name),
    create: (name, text) => counting(() => records.create(name, text)),
    remove: (name) => counting(() => records.remove(name)),
  };
}

const opens = (key: Buffer, owner: string, text: string | undefined): Buffer | undefined => {
  try {
    return text === undefined ? undefined : unseal(key, owner, text);
  } catch {
    return undefined;
  }
};

for (const [name, place] of Object.entries(places)) {
  void test(`${name}: a change of the master key survives being cut off at each step`, async (t) => {
    const { records, open } = await place(t);
    const owners = [newAccountId(Date.now()), newCertificateId(Date.now())];
    const erased = newCertificateId(Date.now());
    const old = await open(from);
    for (const owner of [...owners, erased]) await old.makeKey(owner);
    const keys = new Map<string, Buffer>();
    for (const owner of owners) keys.set(owner, await old.dataKey(owner));
    await old.erase(erased);
    // As an erasure leaves it that was cut off.
    await records.create(`${erased}.key`, seal(from, erased, randomBytes(32)));
    const addresses = (await lastingKeys(records, from))('sign-in address');

    const initial = new Map<string, string>();
    for (const each of await records.names()) initial.set(each, (await records.read(each)) ?? '');
    /** Every key lies there, wrapped with one of the two. */
    const checkNoneLost = async (): Promise<void> => {
      for (const [owner, key] of keys) {
        const texts = [`${owner}.key`, `${owner}.rewrapped`].map((each) => records.read(each));
        const found = (await Promise.all(texts)).flatMap((text) =>
          [from, to].flatMap((master) => opens(master, owner, text) ?? []),
        );
        t.ok(found.length > 0 && found.every((each) => each.equals(key)), 'no key is lost');
      }
    };
    let cuts = 0;
    for (let ended = false; !ended; cuts += 1) {
      for (const each of await records.names()) await records.remove(each);
      for (const [each, text] of initial) await records.create(each, text);
      // The call that resumes is cut off, too.
      for (const changes of [cuts, cuts % 4]) {
        ended = await rewrapKeys(cutOffAfter(records, changes), change).then(
          () => true,
          (error: unknown) => {
            if (error instanceof CutOff) return false;
            throw error;
          },
        );
        await checkNoneLost();
        if (ended) break;
      }
      t.equal(await rewrapKeys(records, change), keys.size);
    }
    t.ok(cuts > 15, `${cuts} cuts`);
    await endRewrap(records);

    const changed = await open(to);
    for (const [owner, key] of keys) t.ok(key.equals(await changed.dataKey(owner)));
    await t.rejects(changed.dataKey(erased), { name: 'KeyErased' });
    const names = (await records.names()).toSorted();
    const expected = [...owners.map((owner) => `${owner}.key`), `${erased}.erased`];
    t.strictSame(names, [...expected, 'keyring.secrets', 'master.check'].toSorted());
    for (const each of names) {
      const owner = each.replace(/\.key$/, '');
      t.equal(opens(from, owner, await records.read(each)), undefined, 'the old key opens nothing');
    }
    t.equal(await records.read('master.check'), fingerprintOf(to));
    const kept = await lastingKeys(records, to);
    t.ok(kept('sign-in address').equals(addresses));

    const before = await lastingKeys(records, to);
    await rewrapKeys(records, { from: to, to: later, generations: [5, 6] });
    await endRewrap(records);
    const after = await lastingKeys(records, later);
    for (const purpose of ['sign-in address', 'idempotency keys', signingPurpose(5)])
      t.ok(after(purpose).equals(before(purpose)), `${purpose} outlasts a second change`);
    t.ok(after(signingPurpose(6)).equals(before(signingPurpose(6))));
    t.notOk(after(signingPurpose(7)).equals(before(signingPurpose(7))), 'the next one is new');
  });

  void test(`${name}: a process with the old master key makes no key that is lost`, async (t) => {
    const { records, open } = await place(t);
    const [early, meanwhile, late] = [1, 2, 3].map(() => newAccountId(Date.now()));
    if (!early || !meanwhile || !late) throw new TypeError('There are three.');
    const running = await open(from);
    await running.makeKey(early);
    await rewrapKeys(records, change);
    await t.rejects(running.makeKey(meanwhile), { name: 'KeyringGone', message: /master key now/ });
    await endRewrap(records);
    await t.rejects(running.makeKey(late), { name: 'KeyringGone', message: /master key now/ });
    t.strictSame(
      (await records.names()).filter((each) => each.startsWith('acct_')),
      [`${early}.key`],
    );
  });

  void test(`${name}: a key that opens with neither stops a change before it begins`, async (t) => {
    const { records, open } = await place(t);
    const [good, bad] = [newAccountId(Date.now()), newAccountId(Date.now())];
    await (await open(from)).makeKey(good);
    await records.create(`${bad}.key`, seal(later, bad, randomBytes(32)));
    const names = await records.names();
    await t.rejects(rewrapKeys(records, change), {
      message: new RegExp(`^The key of ${bad} opens neither with MASTER_KEY nor with the new one`),
    });
    t.strictSame(await records.names(), names);
    t.ok(opens(from, good, await records.read(`${good}.key`)));
  });
}
