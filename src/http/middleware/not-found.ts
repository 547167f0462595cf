import { ServiceError } from '../../errors.ts';
import type { HttpMiddleware } from '../context.ts';
import { identify } from './authenticate.ts';
import { type CredentialDependencies, presentsCredential } from './credential.ts';
import { countRequest, type RateLimitDependencies, showStanding } from './rate-limit.ts';

interface Routes {
  match(path: string, method: string): { readonly path: readonly { readonly methods: string[] }[] };
}

/** Behind the router: what comes here has no route, or none for its method. Counts every credential, good or bad. */
export function notFound(
  deps: CredentialDependencies & RateLimitDependencies,
  routes: Routes,
): HttpMiddleware {
  return async (ctx) => {
    const methodsAt = (path: string) => [
      ...new Set(routes.match(path, ctx.method).path.flatMap((at) => at.methods)),
    ];
    await identify(ctx, deps);
    // Where there is nothing to ask for, a credential can still be tried, and its lookup costs as much.
    if (presentsCredential(ctx)) await countRequest(deps, ctx);
    else await showStanding(deps, ctx);
    const allowed = methodsAt(ctx.path);
    if (allowed.length > 0) {
      ctx.set('Allow', allowed.join(', '));
      throw new ServiceError('method_not_allowed');
    }
    const hint = methodsAt(`${ctx.path}/`).length > 0 ? ` Did you mean ${ctx.path}/?` : '';
    throw new ServiceError('not_found', `There is no such resource.${hint}`);
  };
}
