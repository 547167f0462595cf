/** The HTTP API of what a core holds. */
import { logOrigin } from '../use-cases/log-origin.ts';
import type { Core, Running } from '../core.ts';
import type { HttpDependencies } from '../http/dependencies.ts';
import { deriveKey } from '../keyring/master-key.ts';

export interface RunningApi extends Running {
  /** An origin. */
  readonly publicUrl: string;
  readonly port: number;
}

/** @throws {Error} one line that names the address and the remedy, where it cannot listen there */
export async function startApi(
  core: Core,
  readiness: HttpDependencies['readiness'],
): Promise<RunningApi> {
  const [{ createApp }, rateLimits, { listen }, { createFileTokens, createTokens }] =
    await Promise.all([
      import('../http/app.ts'),
      import('../http/middleware/rate-limit.ts'),
      import('../http/server.ts'),
      import('../http/tokens.ts'),
    ]);
  const { config, clock, masterKey } = core;
  const rateLimiter = await core.openRateLimiter(clock);
  const origin = await logOrigin(core);
  const server = await listen({
    host: config.host,
    port: config.port,
    rateLimitHeaders: rateLimits.rateLimitHeadersOf({ rateLimiter, clock, config }),
    connections: core.budgets.get('maxConnections'),
  });
  const publicUrl = config.publicUrl ?? `http://localhost:${server.port}`;
  server.serve(
    createApp({
      ...core,
      streams: core.store,
      publicUrl,
      rateLimiter,
      tokens: createTokens(deriveKey(masterKey, 'access tokens', 32), origin, clock),
      fileTokens: createFileTokens(deriveKey(masterKey, 'file links', 32), origin, clock),
      idempotencySecret: deriveKey(masterKey, 'idempotency keys', 32),
      readiness,
    }),
  );
  return { publicUrl, port: server.port, stop: (hurry) => server.close(hurry) };
}
