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

const LOOPBACK = /^(localhost|127\.[\d.]+|::1)$/;

/** The origin where a program on this machine reaches the API. */
function ownOrigin(host: string, port: number): string {
  if (['127.0.0.1', '::1', '0.0.0.0', '::'].includes(host)) return `http://localhost:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
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
    standing: rateLimits.rateLimitHeadersOf({ rateLimiter, clock, config }),
    connections: core.budgets.get('maxConnections'),
  });
  const publicUrl = config.publicUrl ?? ownOrigin(config.host, server.port);
  if (config.publicUrl === undefined && !LOOPBACK.test(config.host)) {
    core.logger.warn(
      `PUBLIC_URL is not set, so links to PDFs begin with ${publicUrl}: set it to the origin that clients ` +
        'use, such as https://pdf.example.com',
    );
  }
  server.serve(
    createApp({
      ...core,
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
