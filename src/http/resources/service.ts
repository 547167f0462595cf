import { ServiceError } from '../../errors.ts';
import type { HttpMiddleware } from '../context.ts';
import { PAGE_POLICY, renderPage } from '../openapi/page/page.ts';
import type { OpenApiDocument } from '../openapi/types.ts';

export interface Readiness {
  readonly ready: boolean;
  /** What keeps the node from accepting or rendering, for its operator. */
  readonly missing: readonly string[];
}

const RETRY_SECONDS = 2;

export const healthz: HttpMiddleware = (ctx) => {
  ctx.body = { status: 'ok' };
};

export function readyz(deps: {
  readonly readiness: () => Readiness | Promise<Readiness>;
}): HttpMiddleware {
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

interface DocumentDependencies {
  readonly document: OpenApiDocument;
}

export function getOpenApi({ document }: DocumentDependencies): HttpMiddleware {
  const text = Buffer.from(JSON.stringify(document));
  return (ctx) => {
    ctx.type = 'application/json';
    ctx.body = text;
  };
}

export function getReferencePage({ document }: DocumentDependencies): HttpMiddleware {
  const page = Buffer.from(renderPage(document));
  return (ctx) => {
    ctx.set('Content-Security-Policy', PAGE_POLICY);
    ctx.type = 'text/html';
    ctx.body = page;
  };
}
