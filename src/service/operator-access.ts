/** How commands reach the API: at the service that runs on their store, or inside their own process. */
import { createServer, type IncomingMessage, request } from 'node:http';
import { type Duplex, duplexPair, Readable } from 'node:stream';
import type { Config } from '../config/config.ts';
import type { Logger } from '../observe/log.ts';
import type { Core } from './core.ts';
import { connectToService } from './operator-socket.ts';

export interface OperatorAccess {
  /** Sends requests with an operator's rights, whatever host their address names. */
  readonly fetch: typeof fetch;
  /** @param hurry aborted when nothing under way is to be waited for */
  close(hurry?: AbortSignal): Promise<void>;
}

export interface AccessOptions {
  /** Makes an empty store where there is none, instead of refusing. */
  readonly create: boolean;
  /** Renders in this process what no service renders. */
  readonly renders?: boolean;
  /** Opens an empty store that is deleted afterwards, whatever runs here. */
  readonly temporary?: boolean;
}

/** @throws {Error} one line: no service runs there, and the store cannot be opened */
export async function openOperatorAccess(
  config: Config,
  logger: Logger,
  options: AccessOptions,
): Promise<OperatorAccess> {
  let inside: Promise<Inside> | undefined;
  const open = (): Promise<Inside> => (inside ??= openInside(config, logger, options));
  const service = options.temporary === true ? undefined : await connectToService(config.dataDir);
  // What keeps the command from its store is told as it is, not as a failed request.
  if (service === undefined || !(await answers(service))) await open();
  // A service may end before the command does, which then goes on by itself.
  const connect = async (): Promise<Duplex> => {
    const socket = inside === undefined ? await connectToService(config.dataDir) : undefined;
    return socket ?? (await open()).connect();
  };
  return {
    fetch: fetchOver(connect),
    close: async (hurry) => await (await inside)?.close(hurry),
  };
}

/** One that hangs must not keep its operator from the store. */
const ANSWER_MS = 5_000;

const answers = (service: Duplex): Promise<boolean> =>
  fetchOver(async () => service)('http://localhost/healthz', {
    signal: AbortSignal.timeout(ANSWER_MS),
  }).then(
    ({ ok }) => ok,
    () => false,
  );

interface Inside {
  readonly connect: () => Duplex;
  close(hurry?: AbortSignal): Promise<void>;
}

/** The application of the service without a port: nothing but this process reaches it. */
async function openInside(
  config: Config,
  logger: Logger,
  { create, renders = false, temporary = false }: AccessOptions,
): Promise<Inside> {
  // Loaded where no service runs: what it takes to open a store takes longer than to ask.
  const { openCore, openTemporaryCore } = await import('./core.ts');
  const core = temporary
    ? await openTemporaryCore(config, logger)
    : await openCore(config, logger, { create });
  try {
    const { openLog } = await import('../log/log-origin.ts');
    const { openApi } = await import('./api.ts');
    const { origin } = await openLog(core);
    const { app, stop } = await openApi(core, {
      origin,
      publicUrl: config.publicUrl ?? `http://localhost:${config.port}`,
      readiness: () => ({ ready: true, missing: [] }),
      rateLimiter: await core.openRateLimiter(core.clock),
    });
    const server = createServer(app.handleOperator);
    const rendering = renders ? await (await import('./roles.ts')).startRendering(core) : undefined;
    return {
      connect: () => {
        const [here, there] = duplexPair();
        server.emit('connection', there);
        return here;
      },
      close: async (hurry) => {
        if (rendering) await refundsGiven(core, hurry);
        await rendering?.stop(hurry);
        await stop();
        await core.close();
      },
    };
  } catch (error) {
    await core.close();
    throw error;
  }
}

/** Resolves when all credits of failed conversions are back, or nobody would see it. */
async function refundsGiven({ readModel, runner }: Core, hurry?: AbortSignal): Promise<void> {
  const { refundsDueQueries } = await import('../../projections/refunds-due.ts');
  const { promise, resolve } = Promise.withResolvers<void>();
  const look = (): void => {
    if (readModel.query(refundsDueQueries).next(1).length === 0) resolve();
  };
  const unsubscribe = runner.onCommit(look, ['CreditRefunded', 'AccountErased']);
  hurry?.addEventListener('abort', () => resolve());
  runner.ended.catch(() => resolve());
  if (hurry?.aborted !== true) look();
  else resolve();
  await promise;
  unsubscribe();
}

/** Statuses whose answers have no body. */
const WITHOUT_BODY = [204, 205, 304];

/** `fetch` over connections that are made for it, one for each request. */
export function fetchOver(connect: () => Promise<Duplex>): typeof fetch {
  return async (input, init) => {
    const { url, method, headers, body } = new Request(input, init);
    // The caller's own: that of a `Request` aborts no longer once the `Request` is collected as garbage (tried on Node 24).
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    const content = body === null ? undefined : Buffer.from(await new Response(body).arrayBuffer());
    const connection = await connect();
    const { pathname, search } = new URL(url);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const sent = request({
      createConnection: () => connection,
      method,
      path: pathname + search,
      headers: { ...Object.fromEntries(headers), Host: 'localhost' },
      signal,
    });
    sent.on('response', resolve).on('error', reject).end(content);
    const answer = await promise;
    const { statusCode: status = 500, headers: answered } = answer;
    const fields = Object.entries(answered).flatMap(([name, value]) =>
      [value ?? []].flat().map((each): [string, string] => [name, each]),
    );
    const isEmpty = WITHOUT_BODY.includes(status);
    if (isEmpty) answer.resume();
    const stream = isEmpty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>);
    return new Response(stream, { status, headers: fields });
  };
}
