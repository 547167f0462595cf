/**
 * The HTTP API over real HTTP, without a renderer: a test ends conversions itself. On the embedded parts,
 * or, where API_EVENT_STORE is `server`, with the log on the server that EVENTSTORE_TEST_URL names.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { duplexPair } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import type { Test } from 'tap';
import { allProjections } from '../../projections/all.ts';
import { openAccount } from '../../src/accounts/accounts.ts';
import { createApiKey } from '../../src/accounts/api-keys.ts';
import { Passwords } from '../../src/accounts/passwords.ts';
import { operatorContext } from '../../src/actors/command-context.ts';
import { ActorSystem, type CommandContext } from '../../src/actors/system.ts';
import { readConfig } from '../../src/config/config.ts';
import { EmbeddedBlobStore } from '../../src/documents/embedded.ts';
import { UnencryptedText } from '../../src/documents/encryption.ts';
import { FileBlobStore } from '../../src/documents/files.ts';
import { fileKeyring } from '../../src/documents/keys/file-records.ts';
import { deriveKey } from '../../src/documents/keys/master-key.ts';
import { createVault } from '../../src/documents/keys/vault.ts';
import type { ConversionFailureCode } from '../../src/domain/choices.ts';
import { conversionAggregate } from '../../src/domain/conversion.ts';
import type { PdfFacts, Plan } from '../../src/domain/event-fields.ts';
import type { EventStore } from '../../src/event-store/port.ts';
import { SqliteEventStore } from '../../src/event-store/sqlite/store.ts';
import { createApp } from '../../src/http/app.ts';
import type { HttpDependencies } from '../../src/http/dependencies.ts';
import { rateLimitHeadersOf } from '../../src/http/middleware/rate-limit.ts';
import { buildDocument } from '../../src/http/openapi/document.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { createSealedTokens } from '../../src/http/sealed-tokens.ts';
import { listen, type Timeouts } from '../../src/http/server.ts';
import { createFileTokens, createTokens } from '../../src/http/tokens.ts';
import { Bounds } from '../../src/limits/bounds.ts';
import { Budgets } from '../../src/limits/budgets.ts';
import { MemoryRateLimiter } from '../../src/limits/rate-limiter/memory.ts';
import { CheckpointSigner } from '../../src/log/checkpoint-signer.ts';
import { LogGuard } from '../../src/log/log-guard.ts';
import { openIdentityProvider } from '../../src/oidc/provider.ts';
import { ReadModel } from '../../src/read-model/database.ts';
import { ProjectionRunner } from '../../src/read-model/runner.ts';
import { openLastCheckpoint } from '../../src/service/log.ts';
import { fetchOver } from '../../src/service/operator-access.ts';
import { createRebuilds } from '../../src/service/rebuilds.ts';
import { openEmbeddedDatabase } from '../../src/sqlite/database.ts';
import { noSnapshots } from './actors.ts';
import { documentCheck, type Seen } from './documented.ts';
import { emptyLogUrl, openEventStoreServer, readServerLog } from './event-store-server.ts';
import { readLog } from './invariants.ts';
import { MANIFEST, ORIGIN, TIMINGS } from './samples.ts';
import { signingKey } from './signer.ts';
import { storePdf } from './stored-pdf.ts';

export const MASTER_KEY = Buffer.alloc(32, 7);
export const BASE = '/api/v1';
export const PASSWORD = 'a long enough password';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // The tests say what they expect of it.
  readonly body: Readonly<Record<string, unknown>>;
}

export interface CallOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON unless it is text or bytes. */
  readonly body?: unknown;
  readonly key?: string;
}

export interface ApiOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What is put in the place of a part, to make it fail. */
  readonly replace?: (deps: HttpDependencies) => Partial<HttpDependencies>;
  /** With slow clients; the product's own unless given. */
  readonly timeouts?: Partial<Timeouts>;
}

export type Api = Awaited<ReturnType<typeof startApi>>;

/** Starts it on a temporary directory and ends both with the test. */
export async function startApi(
  t: Pick<Test, 'teardown'>,
  { env = {}, replace, timeouts }: ApiOptions = {},
) {
  const root = mkdtempSync(join(tmpdir(), 'pressledger-api-'));
  const clock = {
    time: Date.now(),
    now() {
      return this.time;
    },
  };
  const logged: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
  const config = readConfig({
    RATE_LIMIT_PRO: '100000',
    RATE_LIMIT_ANONYMOUS: '100000',
    PUBLIC_VERIFY: 'true',
    // Nobody answers there: tests of signing in with a provider start a real one.
    OIDC_ISSUER: 'http://127.0.0.1:9',
    OIDC_CLIENT_ID: 'pressledger',
    // No test sends there.
    SMTP_URL: 'smtp://127.0.0.1:1',
    MAIL_FROM: 'pdf@example.com',
    ...env,
  });
  const database = openEmbeddedDatabase(join(root, 'pressledger.db'));
  const serverUrl = process.env['API_EVENT_STORE'] === 'server' ? emptyLogUrl() : undefined;
  const store: EventStore =
    serverUrl === undefined
      ? new SqliteEventStore(database)
      : await openEventStoreServer(serverUrl);
  const blobs = new EmbeddedBlobStore(database, await FileBlobStore.open(join(root, 'blobs')));
  const keyring = fileKeyring(join(root, 'keyring'), MASTER_KEY);
  const vault = createVault(keyring);
  const actors = new ActorSystem({ store, snapshots: noSnapshots });
  const readModel = new ReadModel({
    directory: join(root, 'read-model'),
    projections: allProjections,
  });
  const runner = new ProjectionRunner({ store, readModel, logger });
  runner.start();
  const guard = new LogGuard(openLastCheckpoint(root));
  const signer = new CheckpointSigner({
    actors,
    store,
    readModel,
    runner,
    clock,
    guard,
    logName: config.logOrigin,
    signingKey,
    pauseMs: 0,
  });
  const rateLimiter = new MemoryRateLimiter(clock);
  const rateLimitHeaders = rateLimitHeadersOf({ rateLimiter, clock, config });
  const budgets = new Budgets(config);
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    rateLimitHeaders,
    connections: budgets.get('maxConnections'),
    ...(timeouts && { timeouts }),
  });
  const origin = `http://127.0.0.1:${server.port}`;
  const rebuilds = createRebuilds({
    config: { ...config, dataDir: root, eventStoreUrl: serverUrl },
    clock,
    guard,
    logger,
  });
  const deps: HttpDependencies = {
    config,
    bounds: new Bounds([], logger),
    budgets,
    passwords: new Passwords(budgets),
    clock,
    logger,
    actors,
    store,
    streams: store,
    readModel,
    runner,
    blobs,
    vault,
    signer,
    rateLimiter,
    fileTokens: createFileTokens(deriveKey(MASTER_KEY, 'file links', 32), ORIGIN, clock),
    tokens: createTokens(deriveKey(MASTER_KEY, 'access tokens', 32), ORIGIN, clock),
    sealedTokens: createSealedTokens(deriveKey(MASTER_KEY, 'sealed tokens', 32), ORIGIN, clock),
    identityProvider: openIdentityProvider(config),
    addressKey: deriveKey(MASTER_KEY, 'sign-in address', 32),
    idempotencySecret: deriveKey(MASTER_KEY, 'idempotency keys', 32),
    publicUrl: origin,
    builtFolder: fileURLToPath(new URL('../../dashboard/dist/', import.meta.url)),
    operations: {
      version: '1.2.3',
      rebuilds,
      renderers: {
        look: async () => ({ isLed: true, renderers: [{ id: 'here', slots: 2 }] }),
        close: () => {},
      },
    },
    readiness: () => ({ ready: true, missing: [], leads: true }),
  };
  const app = createApp({ ...deps, ...replace?.(deps) });
  server.serve(app);
  const commands = createServer(app.handleOperator);
  t.teardown(async () => {
    await server.close();
    await rebuilds.stop();
    await actors.close();
    await runner.stop();
    readModel.close();
    await store.close();
    database.close();
    rmSync(root, { recursive: true, force: true });
  });

  const openApi = buildDocument(ROUTES, deps);
  const checkDocumented = documentCheck(openApi);
  /** Which of the document's answers were given so far, with their JSON bodies. */
  const seen = new Map<string, unknown[]>();
  const observe = (answer: Seen): void => {
    const name = checkDocumented(answer);
    const bodies = seen.get(name) ?? [];
    seen.set(name, bodies);
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false;
    if (isJson && answer.text !== '') bodies.push(JSON.parse(answer.text));
  };

  let accounts = 0;
  const context = (): CommandContext => operatorContext(clock);

  async function newAccount({
    plan = 'pro',
    credits = 100,
  }: {
    plan?: Plan;
    credits?: number;
  } = {}) {
    accounts += 1;
    const request = { email: `user${accounts}@example.com`, plan, credits, password: PASSWORD };
    const account = await openAccount(deps, request, context());
    const key = await createApiKey(deps, account.id, 'test', context());
    return { ...account, keyId: key.id, key: key.key };
  }

  async function call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
    const { body, key, headers } = options;
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(path.startsWith('http') ? path : origin + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(key === undefined ? {} : { 'X-API-Key': key }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: raw ? (body as string | Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
    });
    const text = await response.text();
    const { status, headers: answered, url } = response;
    observe({ method, path: new URL(url).pathname, status, headers: answered, text });
    const json = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return {
      status,
      headers: answered,
      text,
      body: json && text !== '' ? (JSON.parse(text) as Answer['body']) : {},
    };
  }

  const outcome = (accountId: string, conversionId: string) => ({
    accountId,
    conversionId,
    renderer: 'test',
    attempt: 1,
    at: clock.now(),
  });

  /** Does what a renderer would: stores the PDF and records it. */
  async function complete(
    accountId: string,
    conversionId: string,
    pdf: Buffer,
    warnings?: readonly string[],
    title?: string,
    findings: PdfFacts = {},
  ): Promise<void> {
    const contentKey = await vault.contentKey(accountId, conversionId);
    const owner = { conversionId, contentKey };
    const stored = await storePdf(blobs, owner, pdf, join(root, 'tmp'));
    const manifest = new UnencryptedText(JSON.stringify(MANIFEST)).stage(blobs, owner, 'manifest');
    const command = {
      type: 'CompleteConversion',
      ...stored,
      manifest: manifest.ref,
      pages: 1,
      timings: TIMINGS,
      chrome: 'test',
      ...(warnings && { warnings: await vault.seal(accountId, JSON.stringify(warnings)) }),
      ...(title && { title: await vault.seal(accountId, title) }),
      ...findings,
      ...outcome(accountId, conversionId),
    } as const;
    await actors.send(conversionAggregate, conversionId, command, {
      ...context(),
      blobs: [manifest],
    });
  }

  async function fail(
    accountId: string,
    conversionId: string,
    message: string,
    code: ConversionFailureCode = 'timeout',
    picture?: Buffer,
  ): Promise<void> {
    const contentKey = await vault.contentKey(accountId, conversionId);
    const owner = { conversionId, contentKey };
    const staged = picture && new UnencryptedText(picture).stage(blobs, owner, 'picture');
    await staged?.store();
    const command = {
      type: 'FailConversion',
      code,
      message: await vault.seal(accountId, message),
      retryable: false,
      ...(staged && { picture: staged.ref }),
      ...outcome(accountId, conversionId),
    } as const;
    await actors.send(conversionAggregate, conversionId, command, context());
  }

  return {
    ...deps,
    keyring,
    signer,
    root,
    /** Every event, read past the parts under test. */
    log: async () => (serverUrl === undefined ? readLog(root) : await readServerLog(serverUrl)),
    rateLimitHeaders,
    clock,
    store,
    logged,
    origin,
    /** Of all routes: the service serves that of the public ones. */
    document: openApi,
    seen,
    observe,
    context,
    newAccount,
    call,
    complete,
    fail,
    /** Sends a request as the operator's socket passes it on. */
    fetchAsOperator: fetchOver(async () => {
      const [here, there] = duplexPair();
      commands.emit('connection', there);
      return here;
    }),
    /** Ends what waits, as a server that closes does. */
    endWaiting: app.endWaiting,
  };
}

/** A refusal as the interface shapes it: exact status and code, and the fields that it names. */
export function refusal(answer: Answer): object {
  const { error, details } = answer.body;
  return {
    status: answer.status,
    error,
    ...(details === undefined ? {} : { details: Object.keys(details as object).toSorted() }),
  };
}
