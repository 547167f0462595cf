import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'tap';
import { operatorContext } from '../../src/actors/command-context.ts';
import { requestBatch } from '../../src/conversions/request-batch.ts';
import { requestConversion } from '../../src/conversions/request-conversion.ts';
import { UnencryptedText } from '../../src/documents/encryption.ts';
import { AppendTooLarge } from '../../src/event-store/port.ts';
import { openManagedPlace } from '../support/process-managers.ts';
import { accountId, OPTIONS } from '../support/samples.ts';

/** Larger than what is written with the events. */
const LARGE = JSON.stringify({ html: `<p>${'x'.repeat(70_000)}</p>` });
const CREDITS = 3;
const MANY = 40;

const storedRequests = (dataDir: string): number =>
  readdirSync(join(dataDir, 'blobs'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    /(^|\/)request-/.test(path),
  ).length;

void test('what was stored for a request that another node came before is deleted', async (t) => {
  const place = openManagedPlace(t);
  const nodes = [await place.node('one'), await place.node('other')] as const;
  await nodes[0].openAccount(1, CREDITS);
  const ask = async (n: number, idempotencyKey?: string) =>
    await requestConversion(
      nodes[n % 2 === 0 ? 0 : 1],
      {
        accountId: accountId(1),
        source: 'html',
        options: OPTIONS,
        document: new UnencryptedText(LARGE),
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      },
      operatorContext(place.clock),
    );

  const key = 'a'.repeat(64);
  const repeated = await Promise.all(Array.from({ length: MANY }, (_, n) => ask(n, key)));
  t.equal(new Set(repeated.map(({ conversionId }) => conversionId)).size, 1);
  t.equal(storedRequests(place.dataDir), 1, 'a repetition leaves nothing');

  const asked = await Promise.allSettled(Array.from({ length: MANY }, (_, n) => ask(n)));
  t.equal(asked.filter(({ status }) => status === 'fulfilled').length, CREDITS - 1);
  t.equal(storedRequests(place.dataDir), CREDITS, 'nor does a refusal');
});

void test('what was stored for a batch that is not accepted is deleted', async (t) => {
  const place = openManagedPlace(t);
  const node = await place.node('one');
  await node.openAccount(1, CREDITS);
  const ask = async (
    deps: Pick<typeof node, 'actors' | 'blobs' | 'vault' | 'config'>,
    count: number,
    idempotencyKey?: string,
  ) => {
    const request = { source: 'html', options: OPTIONS } as const;
    const requests = Array.from({ length: count }, () => ({
      ...request,
      document: new UnencryptedText(LARGE),
    }));
    const of = {
      accountId: accountId(1),
      requests,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    };
    return await requestBatch(deps, of, operatorContext(place.clock));
  };
  const key = 'b'.repeat(64);
  const { batchId } = await ask(node, 2, key);
  t.equal((await ask(node, 3, key)).batchId, batchId);
  await t.rejects(ask(node, MANY), { code: 'insufficient_credits' });
  t.equal(storedRequests(place.dataDir), 2);
  // A server of events stores the requests before it sees how long the events are.
  node.actors.send = async (...[, , , { blobs = [] }]: Parameters<typeof node.actors.send>) => {
    for (const blob of blobs) await blob.store();
    throw new AppendTooLarge('told so', 1_048_576, undefined);
  };
  await t.rejects(ask(node, MANY), {
    code: 'payload_too_large',
    message:
      /40 requests takes more than the 1048576 bytes.* Nothing was accepted\. Send them in several/,
  });
  t.equal(storedRequests(place.dataDir), 2);
});
