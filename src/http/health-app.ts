/** The HTTP side of a process that serves nothing but its health: it loads nothing of the API. */
import { randomBytes } from 'node:crypto';
import Koa from 'koa';
import { ServiceError } from '../errors/errors.ts';
import type { HttpMiddleware, RequestState } from './context.ts';
import type { HttpApp, HttpDependencies } from './dependencies.ts';
import { errors } from './middleware/errors.ts';
import { requestId, securityHeaders } from './middleware/request.ts';

const RETRY_SECONDS = 2;

export const healthz: HttpMiddleware = (ctx) => {
  ctx.body = { status: 'ok' };
};

export function readyz(deps: Pick<HttpDependencies, 'readiness'>): HttpMiddleware {
  return async (ctx) => {
    const { ready, missing, leads } = await deps.readiness();
    if (!ready) {
      throw new ServiceError('service_unavailable', `Not ready: ${missing.join('; ')}.`, {
        details: { missing },
        retryAfter: RETRY_SECONDS,
      });
    }
    ctx.body = { status: 'ready', ...(leads !== undefined && { leads }) };
  };
}

interface HealthDependencies extends Pick<HttpDependencies, 'logger' | 'readiness'> {
  /** Makes the answer to everything else; 404 by default. */
  readonly otherwise?: () => ServiceError;
  /** Gives that answer to GET /healthz as well: a load balancer that asks there sends nobody here yet. */
  readonly isStarting?: boolean;
}

const onlyHealth = () => new ServiceError('not_found', 'Only its health is served here.');

/** Answers GET /healthz and GET /readyz as the API does, and 404 or 405 to everything else. */
export function createHealthApp(deps: HealthDependencies): HttpApp {
  const { otherwise = onlyHealth, isStarting = false } = deps;
  const app = new Koa<RequestState>();
  app.on('error', (err: unknown) => deps.logger.debug({ err }, 'An answer was cut off.'));
  const paths = ['/healthz', '/readyz'];
  app.use(requestId({ logger: deps.logger, key: randomBytes(32), paths, isTraced: false }));
  app.use(securityHeaders);
  app.use(errors);
  const handlers = new Map([
    ...(isStarting ? [] : ([['/healthz', healthz]] as const)),
    ['/readyz', readyz(deps)],
  ]);
  app.use(async (ctx, next) => {
    const handler = handlers.get(ctx.path);
    if (handler === undefined) throw otherwise();
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      ctx.set('Allow', 'HEAD, GET');
      throw new ServiceError('method_not_allowed');
    }
    await handler(ctx, next);
  });
  const callback = app.callback();
  return {
    handle: (request, response) => void callback(request, response),
    rateLimitHeaders: async () => ({}),
    endWaiting: () => {},
  };
}
