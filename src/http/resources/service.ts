import { ServiceError } from '../../errors.ts';
import type { HttpMiddleware } from '../context.ts';
import type { HttpDependencies, RouteDependencies } from '../dependencies.ts';
import { PAGE_POLICY, renderPage } from '../openapi/page/page.ts';

const RETRY_SECONDS = 2;

export const healthz: HttpMiddleware = (ctx) => {
  ctx.body = { status: 'ok' };
};

export function readyz(deps: Pick<HttpDependencies, 'readiness'>): HttpMiddleware {
  return async (ctx) => {
    const { ready, missing } = await deps.readiness();
    if (!ready) {
      throw new ServiceError('service_unavailable', `Not ready: ${missing.join('; ')}.`, {
        details: { missing },
        retryAfter: RETRY_SECONDS,
      });
    }
    ctx.body = { status: 'ready' };
  };
}

export function getOpenApi({ document }: RouteDependencies): HttpMiddleware {
  const text = Buffer.from(JSON.stringify(document));
  return (ctx) => {
    ctx.type = 'application/json';
    ctx.body = text;
  };
}

export function getReferencePage({ document }: RouteDependencies): HttpMiddleware {
  const page = Buffer.from(renderPage(document));
  return (ctx) => {
    ctx.set('Content-Security-Policy', PAGE_POLICY);
    ctx.type = 'text/html';
    ctx.body = page;
  };
}
