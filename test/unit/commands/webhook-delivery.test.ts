/** One delivery as the command line prints it, of a server that answers with it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'tap';
import { allCommands } from '../../../src/commands/all.ts';
import { parseLine } from '../../../src/commands/cli.ts';
import type { Cell, Output } from '../../../src/commands/command.ts';
import { createOutput } from '../../../src/commands/output.ts';
import { commandContext } from '../../support/command-context.ts';

const id = 'delivery_1';
const at = '2026-11-24T10:00:00.000Z';
const first = { at, status: 500, failure: null, duration_ms: 12, answer: 'no' };
const second = { at, status: null, failure: 'https_required', duration_ms: 0, answer: '' };

void test('webhooks deliveries ID prints the record, then its tries', async (t) => {
  let attempts: readonly object[] = [first, second];
  const server = createServer((request, response) => {
    t.match(request.url, new RegExp(`/webhooks/deliveries/${id}/$`));
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ id, status: 'waiting', next_try_at: at, attempts }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const ask = async () => {
    const parsed = parseLine(['webhooks', 'deliveries', id], allCommands);
    if (parsed.type !== 'run') throw new Error('it asks for help');
    const tables: unknown[] = [];
    const output: Output = {
      ...createOutput(true),
      json: () => {},
      line: () => {},
      table: (_head: readonly string[], rows: readonly (readonly Cell[])[], none?: string) => {
        tables.push(rows.length === 0 ? none : rows);
      },
    };
    const client = { server: `http://127.0.0.1:${port}`, apiKey: 'pk_live_x', loginFile: '' };
    await parsed.command.run(parsed.invocation, commandContext({ client, output }));
    return tables;
  };
  const record = [
    ['id', id],
    ['status', 'waiting'],
    ['next_try_at', new Date(at)],
  ];
  const tries = [
    [new Date(at), 500, 12, 'no'],
    [new Date(at), 'https_required', 0, ''],
  ];
  t.strictSame(await ask(), [record, tries]);
  attempts = [];
  t.strictSame(await ask(), [record, 'It was not tried yet.']);
});
