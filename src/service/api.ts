/** The HTTP application: at its port and the operator's socket, or inside a command. */
import { fileURLToPath } from 'node:url';
import type { Stoppable } from '../async/stoppable.ts';
import type { Config } from '../config/config.ts';
import { readVersion } from '../config/version.ts';
import { deriveKey } from '../documents/keys/master-key.ts';
import { ServiceError } from '../errors/errors.ts';
import type { ApiApp } from '../http/app.ts';
import type { HttpApp, HttpDependencies } from '../http/dependencies.ts';
import { createHealthApp } from '../http/health-app.ts';
import type { FileTokens } from '../http/tokens.ts';
import type { RateLimiter } from '../limits/rate-limiter/port.ts';
import type { Logger } from '../observe/log.ts';
import { openIdentityProvider } from '../oidc/provider.ts';
import type { Core } from './core.ts';
import { requestCounter } from './metrics.ts';
import { listenForCommands } from './operator-socket.ts';
import { createRebuilds } from './rebuilds.ts';
import type { ServiceLinks } from './rendering.ts';

export type Readiness = HttpDependencies['readiness'];

export interface RunningApi extends Stoppable {
  /** An origin. */
  readonly publicUrl: string;
  readonly port: number;
  /** From now on, answers nothing but its health, and why to its operator. */
  refuse(reason: string): void;
}

const STARTING_RETRY_SECONDS = 2;
const LOOPBACK = /^(localhost|127\.[\d.]+|::1)$/;

/** The origin where a program on this machine reaches the API. */
export function ownOrigin(host: string, port: number): string {
  if (['127.0.0.1', '::1', '0.0.0.0', '::'].includes(host)) return `http://localhost:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Listens at once. Until `opening` has ended, only GET /readyz is answered, and everything else gets 503.
 * @param origin the name of this deployment in tokens and links
 * @throws {Error} one line that names the address and the remedy, where it cannot listen there; what `opening` throws
 */
export async function startApi(
  core: Core,
  origin: string,
  readiness: Readiness,
  opening: () => Promise<void>,
): Promise<RunningApi> {
  const [rateLimits, { listen, STARTING }] = await Promise.all([
    import('../http/middleware/rate-limit.ts'),
    import('../http/server.ts'),
  ]);
  const { config, clock, logger } = core;
  const rateLimiter = await core.openRateLimiter(clock);
  const server = await listen({
    host: config.host,
    port: config.port,
    rateLimitHeaders: rateLimits.rateLimitHeadersOf({ rateLimiter, clock, config }),
    connections: core.budgets.get('maxConnections'),
  });
  const publicUrl = config.publicUrl ?? ownOrigin(config.host, server.port);
  if (config.publicUrl === undefined && !LOOPBACK.test(config.host)) {
    logger.warn(
      `PUBLIC_URL is not set, so links to PDFs begin with ${publicUrl}: set it to the origin that clients ` +
        'use, such as https://pdf.example.com',
    );
  }
  try {
    server.serve(
      createHealthApp({
        logger,
        readiness,
        isStarting: true,
        otherwise: () =>
          new ServiceError('service_unavailable', STARTING, { retryAfter: STARTING_RETRY_SECONDS }),
      }),
    );
    await opening();
    const { app, stop } = await openApi(core, { origin, publicUrl, readiness, rateLimiter });
    server.serve(app);
    let handleOperator = app.handleOperator;
    const socket = await listenForCommands(
      config.dataDir,
      (request, response) => handleOperator(request, response),
      logger,
    );
    return {
      publicUrl,
      port: server.port,
      refuse: (reason) => {
        const refusal = refusalFor(logger, reason);
        server.serve(refusal.clients);
        app.endWaiting();
        handleOperator = refusal.operator.handle;
      },
      stop: async (hurry) => {
        await Promise.all([server.close(hurry), socket.stop(hurry)]);
        await stop();
      },
    };
  } catch (error) {
    // A start that failed must end: a server that still listens would keep the process.
    await server.close();
    throw error;
  }
}

/**
 * Answers in the place of an API that may tell nothing of its log.
 * @throws {Error} one line that names the address and the remedy, where it cannot listen there
 */
export async function startRefusal(
  { host, port, dataDir }: Pick<Config, 'host' | 'port' | 'dataDir'>,
  logger: Logger,
  reason: string,
): Promise<Stoppable & Pick<RunningApi, 'port'>> {
  const { listen } = await import('../http/server.ts');
  const { clients, operator } = refusalFor(logger, reason);
  const server = await listen({ host, port, rateLimitHeaders: clients.rateLimitHeaders });
  server.serve(clients);
  const socket = await listenForCommands(dataDir, operator.handle, logger);
  return {
    port: server.port,
    stop: async (hurry) => void (await Promise.all([server.close(hurry), socket.stop(hurry)])),
  };
}

const REFUSED = 'The service is stopped until its operator has looked at its log.';
const REFUSED_RETRY_SECONDS = 60;

function refusalFor(
  logger: Logger,
  reason: string,
): { readonly clients: HttpApp; readonly operator: HttpApp } {
  const readiness = () => ({ ready: false, missing: [reason.replace(/\.$/, '')] });
  const saying = (message: string): HttpApp =>
    createHealthApp({
      logger,
      readiness,
      otherwise: () =>
        new ServiceError('service_unavailable', message, { retryAfter: REFUSED_RETRY_SECONDS }),
    });
  return { clients: saying(REFUSED), operator: saying(reason) };
}

const fileTokensOf = async ({ masterKey, clock }: Core, origin: string): Promise<FileTokens> => {
  const { createFileTokens } = await import('../http/tokens.ts');
  return createFileTokens(deriveKey(masterKey, 'file links', 32), origin, clock);
};

/**
 * Makes links, as the API does, for what webhooks and mails tell.
 * @param origin the name of this deployment in links
 * @param publicUrl known once the API listens
 */
export async function linksOf(
  core: Core,
  origin: string,
  publicUrl: () => string,
): Promise<ServiceLinks> {
  const [{ fileLinks }, { pageLinks }] = await Promise.all([
    import('../http/tokens.ts'),
    import('../http/page-links.ts'),
  ]);
  const { fileUrlTtlSeconds } = core.config;
  return {
    fileUrl: fileLinks(await fileTokensOf(core, origin), fileUrlTtlSeconds, publicUrl),
    pages: pageLinks(publicUrl),
  };
}

/** The application on a core, before anything reaches it. */
export async function openApi(
  core: Core,
  given: Pick<HttpDependencies, 'publicUrl' | 'readiness'> & {
    readonly origin: string;
    readonly rateLimiter: RateLimiter;
  },
): Promise<{ readonly app: ApiApp; readonly stop: () => Promise<void> }> {
  const [{ createApp }, { createTokens }, { createSealedTokens }] = await Promise.all([
    import('../http/app.ts'),
    import('../http/tokens.ts'),
    import('../http/sealed-tokens.ts'),
  ]);
  const { clock, masterKey } = core;
  const { origin, ...parts } = given;
  const renderers = await core.queues.watch();
  const rebuilds = createRebuilds(core);
  const app = createApp({
    ...core,
    ...parts,
    streams: core.store,
    builtFolder: fileURLToPath(new URL('../../dashboard/dist/', import.meta.url)),
    tokens: createTokens(deriveKey(masterKey, 'access tokens', 32), origin, clock),
    fileTokens: await fileTokensOf(core, origin),
    sealedTokens: createSealedTokens(deriveKey(masterKey, 'sealed tokens', 32), origin, clock),
    identityProvider: openIdentityProvider(core.config),
    operations: { version: readVersion(), renderers, rebuilds },
    onRequestEnd: requestCounter(core),
  });
  const stop = async (): Promise<void> => {
    renderers.close();
    await rebuilds.stop();
  };
  return { app, stop };
}
