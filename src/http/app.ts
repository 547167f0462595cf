/** The HTTP application: which route asks for what, in which order. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import Router from '@koa/router';
import Koa from 'koa';
import type { ActorSystem } from '../actors/system.ts';
import type { BlobStore } from '../blob-store/port.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { EventStore } from '../event-store/port.ts';
import type { Vault } from '../keyring/vault.ts';
import type { Logger } from '../log.ts';
import type { RateLimiter } from '../rate-limiter/port.ts';
import type { ReadModel } from '../read-model/read-model.ts';
import type { ProjectionRunner } from '../read-model/runner.ts';
import { getAccount, listLedger } from './account.ts';
import { deleteApiKey, listApiKeys, postApiKey } from './api-keys.ts';
import { createTokenPair, refreshAccess, signOut } from './auth.ts';
import type { RequestState } from './context.ts';
import { getConversion, listConversions } from './conversions.ts';
import { createConversion } from './create-conversion.ts';
import type { FileTokens } from './file-tokens.ts';
import { getFile } from './files.ts';
import { healthz, type Readiness, readyz } from './health.ts';
import { authenticate, countAnonymous } from './middleware/authenticate.ts';
import { clientAddress } from './middleware/client-address.ts';
import { errors } from './middleware/errors.ts';
import { notFound } from './middleware/not-found.ts';
import { requestId } from './middleware/request-id.ts';
import { securityHeaders } from './middleware/security-headers.ts';
import type { Tokens } from './tokens.ts';

export const BASE_PATH = '/api/v1';

/** What the HTTP API is made of; `compose.ts` chooses. */
export interface HttpDependencies {
  readonly config: Config;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly actors: ActorSystem;
  readonly store: Pick<EventStore, 'head'>;
  readonly readModel: ReadModel;
  readonly runner: ProjectionRunner;
  readonly blobs: BlobStore;
  readonly vault: Vault;
  readonly rateLimiter: RateLimiter;
  readonly fileTokens: FileTokens;
  readonly tokens: Tokens;
  /** Keys the hash under which a sign-in address is found. */
  readonly addressKey: Buffer;
  /** Keys the hashes of idempotency keys: `deriveKey(master, 'idempotency keys', 32)`. */
  readonly idempotencySecret: Buffer;
  /** The origin under which clients reach the service. */
  readonly publicUrl: string;
  readonly readiness: () => Readiness | Promise<Readiness>;
}

export interface HttpApp {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Answers at once whoever waits for something to happen. */
  readonly endWaiting: () => void;
}

function apiRoutes(deps: HttpDependencies, closing: AbortSignal): Router<RequestState> {
  const router = new Router<RequestState>({ prefix: BASE_PATH, strict: true, sensitive: true });
  const known = authenticate(deps);
  const counted = countAnonymous(deps);
  const reading = { ...deps, closing };
  router.post('/pdf/', known, createConversion(deps));
  router.get('/conversions/', known, listConversions(reading));
  router.get('/conversions/:id/', known, getConversion(reading));
  router.get('/account/', known, getAccount(deps));
  router.get('/account/ledger/', known, listLedger(deps));
  router.get('/api-keys/', known, listApiKeys(deps));
  router.post('/api-keys/', known, postApiKey(deps));
  router.delete('/api-keys/:id/', known, deleteApiKey(deps));
  router.post('/auth/jwt/create/', counted, createTokenPair(deps));
  router.post('/auth/jwt/refresh/', counted, refreshAccess(deps));
  router.post('/auth/jwt/revoke/', counted, signOut(deps));
  return router;
}

function otherRoutes(deps: HttpDependencies): Router<RequestState> {
  const router = new Router<RequestState>({ strict: true, sensitive: true });
  router.get('/healthz', healthz);
  router.get('/readyz', readyz(deps.readiness));
  router.get('/files/:id.pdf', getFile(deps));
  return router;
}

export function createApp(deps: HttpDependencies): HttpApp {
  const closing = new AbortController();
  const app = new Koa<RequestState>();
  // Every failure is answered and logged by `errors`; what is left is a client that went away.
  app.on('error', (err: unknown) => deps.logger.debug({ err }, 'An answer was cut off.'));
  app.use(requestId(deps.logger));
  app.use(securityHeaders);
  app.use(clientAddress(deps.config));
  app.use(errors);
  const routers = [otherRoutes(deps), apiRoutes(deps, closing.signal)];
  for (const router of routers) app.use(router.routes());
  app.use(notFound(deps, routers));
  const callback = app.callback();
  return {
    handle: (request, response) => void callback(request, response),
    endWaiting: () => closing.abort(),
  };
}
