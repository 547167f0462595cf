import { ServiceError } from '../../errors.ts';
import type { HttpMiddleware } from '../context.ts';
import { type CredentialDependencies, findCaller } from './credential.ts';
import { type RateLimitDependencies, showStanding } from './rate-limit.ts';

interface Routes {
  match(path: string, method: string): { readonly path: readonly { readonly methods: string[] }[] };
}

/** Behind the router: what comes here has no route, or none for its method. Counts no request. */
export function notFound(
  deps: CredentialDependencies & RateLimitDependencies,
  routes: Routes,
): HttpMiddleware {
  return async (ctx) => {
    const methodsAt = (path: string) => [
      ...new Set(routes.match(path, ctx.method).path.flatMap((at) => at.methods)),
    ];
    const caller = await findCaller(ctx, deps);
    if (caller !== undefined) ctx.state.caller = caller;
    await showStanding(deps, ctx);
    const allowed = methodsAt(ctx.path);
    if (allowed.length > 0) {
      ctx.set('Allow', allowed.join(', '));
      throw new ServiceError('method_not_allowed');
    }
    const hint = methodsAt(`${ctx.path}/`).length > 0 ? ` Did you mean ${ctx.path}/?` : '';
    throw new ServiceError('not_found', `There is no such resource.${hint}`);
  };
}
