/** The service as its operators see it: from this node, beside what `pressledger status` shows. */
import { createStatus } from '../../observe/service-status.ts';
import type { HttpMiddleware } from '../context.ts';
import type { RouteDependencies } from '../dependencies.ts';

export function getStatus(deps: RouteDependencies): HttpMiddleware {
  const { version, renderers } = deps.operations;
  const look = createStatus({ ...deps, renderers });
  return async (ctx) => {
    const [status, { ready, missing, leads = false }] = await Promise.all([
      look(),
      deps.readiness(),
    ]);
    const node = { version, uptime_seconds: Math.floor(process.uptime()) };
    const memory = { rss_bytes: process.memoryUsage.rss() };
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { ...node, memory, ready, missing, leads, ...status };
  };
}
