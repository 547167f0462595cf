import type { Tracing } from '../../observe/tracing/port.ts';
import { type HttpContext, type HttpMiddleware, releaseAtEnd } from '../context.ts';
import { PROBES } from './request.ts';

/** A request that has ended. Every field but the time has few values. */
export interface RequestEnd {
  readonly method: string;
  /** The pattern of its path; `other` where no route matched. */
  readonly route: string;
  /** `aborted`: the client went away before the end of the answer. */
  readonly status: string;
  readonly seconds: number;
}

export interface ObserveOptions {
  /** Maps the router's pattern of a path to the documented one. */
  readonly routes: ReadonlyMap<string, string>;
  readonly onEnd?: ((end: RequestEnd) => void) | undefined;
  readonly tracing?: Tracing | undefined;
}

const METHODS: ReadonlySet<string> = new Set([
  'GET',
  'HEAD',
  'POST',
  'DELETE',
  'OPTIONS',
  'PUT',
  'PATCH',
]);

/** The pattern that the router found; its types do not have it. */
function matched(ctx: HttpContext): string {
  const found: unknown = ctx['_matchedRoute'];
  return typeof found === 'string' ? found : '';
}

/** Tells of each request that has ended, and traces it from here on. */
export function observe({ routes, onEnd, tracing }: ObserveOptions): HttpMiddleware {
  return (ctx, next) => {
    const begun = performance.now();
    const method = METHODS.has(ctx.method) ? ctx.method : 'other';
    // Probes come every few seconds, and nobody looks for one of them.
    const span = PROBES.has(ctx.path)
      ? undefined
      : tracing?.begin(method, {
          kind: 'server',
          parent: tracing.remoteParent(ctx.req.headers),
          attributes: { 'http.request.method': method },
        });
    releaseAtEnd(ctx, () => {
      const route = routes.get(matched(ctx)) ?? 'other';
      const { statusCode, writableFinished } = ctx.res;
      const status = writableFinished ? String(statusCode) : 'aborted';
      onEnd?.({ method, route, status, seconds: (performance.now() - begun) / 1000 });
      if (span === undefined) return;
      span.rename(`${method} ${route}`);
      span.set({ 'http.route': route, 'http.response.status_code': statusCode });
      if (statusCode >= 500) span.fail(String(statusCode));
      span.end();
    });
    return span === undefined ? next() : span.within(next);
  };
}
