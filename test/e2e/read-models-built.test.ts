/** A start that builds its read models says how far it is, and answers nobody from them meanwhile. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { test } from 'tap';
import { readConfig } from '../../src/config/config.ts';
import { encodeEvent } from '../../src/event-store/codec.ts';
import type { ReadAllOptions } from '../../src/event-store/port.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { startService } from '../../src/service/roles.ts';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { eventId } from '../../src/time/ids.ts';
import { eventually } from '../support/deadline.ts';
import { freePort } from '../support/free-port.ts';
import { opening } from '../support/history.ts';
import { createPlace } from '../support/place.ts';
import { NOW } from '../support/samples.ts';

const EVENTS = 2_500;
/** The end of the first page of the build. */
const FIRST_PAGE = 1_000n;

async function writeAccounts(dataDir: string): Promise<void> {
  const database = openEmbeddedDatabase(join(dataDir, 'pressledger.db'));
  const store = new SqliteEventStore(database);
  const metadata = { correlationId: 'cmd', causationId: 'cmd', time: NOW };
  const numbers = Array.from({ length: EVENTS }, (_, n) => n + 1);
  await Promise.all(
    numbers.map((n) => {
      const { stream, events } = opening(n, 1);
      const written = events(0n).map((event, at) =>
        encodeEvent(eventId(`${stream}/${at}`), event, {
          ...metadata,
          actor: { kind: 'operator' },
        }),
      );
      return store.append(stream, written, 'no-stream');
    }),
  );
  await store.close();
  database.close();
}

void test('a start that builds its read models says so', async (t) => {
  const port = await freePort();
  const { env, dataDir } = createPlace(t, { PORT: String(port) });
  const config = readConfig(env);
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const first = await startService(config, logger);
  await first.ready;
  await first.stop();
  await writeAccounts(dataDir);
  rmSync(join(dataDir, 'read-model'), { recursive: true });

  const gate = Promise.withResolvers<void>();
  const readAll = Reflect.get(SqliteEventStore.prototype, 'readAll');
  t.intercept(SqliteEventStore.prototype, 'readAll', {
    value: async function (this: SqliteEventStore, options: ReadAllOptions = {}) {
      const { after = 0n, limit } = options;
      // A start looks at the last event by itself, too.
      if (after >= FIRST_PAGE && limit !== 1) await gate.promise;
      return await readAll.call(this, options);
    },
  });
  const starting = startService(config, logger);
  const at = `http://127.0.0.1:${port}`;
  const ask = async (path: string) => {
    const answer = await fetch(at + path);
    const { message } = (await answer.json()) as { message?: string };
    return { status: answer.status, message, retryAfter: answer.headers.get('retry-after') };
  };
  const building = await eventually('a page of the log', async () => {
    const said = await ask('/readyz').catch(() => undefined);
    return /\((?!0 )/.test(said?.message ?? '') ? said : undefined;
  });
  t.match(building, {
    status: 503,
    message: /^Not ready: the read models are being built \([1-9]\d %\)\.$/,
    retryAfter: /^\d+$/,
  });
  for (const path of ['/healthz', '/', '/api/v1/account/', '/tlog/checkpoint']) {
    t.match(await ask(path), { status: 503, message: /is starting/, retryAfter: /^\d+$/ }, path);
  }
  await eventually('a line in the log', () =>
    lines.some((line) => /"the read models are being built \(\d+ %\)"/.test(line))
      ? true
      : undefined,
  );

  gate.resolve();
  const service = await starting;
  await service.ready;
  t.match(await ask('/readyz'), { status: 200 });
  t.match(await ask('/healthz'), { status: 200 });
  t.equal((await fetch(`${at}/api/v1/account/`)).status, 401, 'the API answers');
  await service.stop();
});
