import { ServiceError } from '../errors.ts';
import type { HttpMiddleware } from './context.ts';

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
